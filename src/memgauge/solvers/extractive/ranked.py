"""One question's view of a context: its sentences by score, the newest first where the present is asked."""

import re
from dataclasses import dataclass
from datetime import date

import numpy as np

from memgauge.solvers.extractive import evidence
from memgauge.solvers.extractive.context import Sentence
from memgauge.solvers.extractive.kinds import Expected
from memgauge.solvers.extractive.lexicon import content_stems
from memgauge.solvers.extractive.ranking import Index, Scores, Weights, best_positions, strong


@dataclass(frozen=True, slots=True)
class Ranked:
    """One question's view of a context: the index, one score a sentence, and the day the question is asked.

    `parts` are the scores for the parts of the question (its two events, its options), each over all sentences.
    """

    expected: Expected
    index: Index
    scores: Scores
    asked: date | None
    weights: Weights
    parts: tuple[Scores, ...] = ()

    def answerable(self) -> bool:
        """Whether the best sentence, and for an interval each event's, is closer than chance would bring one."""
        if not len(self.scores):
            return False
        floor = self.weights.least(len(self.scores)) + self.weights.unnamed * self._unnamed()
        parts = [float(part.max()) >= floor for part in self.parts]
        if self.expected.kind == "interval" and parts:
            return all(parts)
        lead = int(self.scores.argmax())
        bonus = self.weights.kind * evidence.carries(self.expected, self.index.sentences[lead])
        return float(self.scores[lead]) - bonus >= floor or (bool(parts) and all(parts))

    def _unnamed(self) -> float:
        """The share of the asker's own thing ("my piano lesson") that no close message about the asker names."""
        close = [p for p in best_positions(self.scores, 8) if not self.index.about_another(p, self.expected.terms)]
        lines = {self.index.sentences[position].line for position in close}
        named = {stem for line in lines for stem in content_stems(self.index.parsed.lines[line].text)}
        owned = set(self.expected.owned)
        return len(owned - named) / len(owned) if owned else 0.0

    def best(self, count: int, margin: float) -> list[Sentence]:
        """The best sentences, best first."""
        positions = strong(self.index.sentences, self.scores, count, margin)
        lead = self._latest() if self.expected.order == "newest" else positions[0]
        return [self.index.sentences[p] for p in (lead, *(p for p in positions if p != lead))]

    def supported(self, count: int) -> list[Sentence]:
        """The best sentence, then those nearly as good, of its own message first; for the latest state it alone."""
        lead = self.best(3, self.weights.lead)[0]
        if self.expected.order == "newest":
            return [lead]
        lines = np.array([sentence.line for sentence in self.index.sentences])
        scores = self.scores + np.float32(self.weights.beside) * (lines == lead.line)
        scores[self.index.sentences.index(lead)] = self.scores.max()
        close = strong(self.index.sentences, scores, count, self.weights.second)
        return [lead, *(one for p in close if (one := self.index.sentences[p]) is not lead and self.usable(p))]

    def usable(self, position: int) -> bool:
        """Whether a sentence may add to the best one: a statement, by or about whom the question names."""
        sentence = self.index.sentences[position]
        if sentence.text.endswith("?"):
            return False
        named = set(self.expected.names)
        if not named & self.index.voices or sentence.speaker in named:
            return True
        return bool(named & set(re.findall(r"\w+", sentence.core.lower())))

    def _latest(self) -> int:
        """For the present state: the newest of the close sentences that share the best one's rarest words."""
        close = strong(self.index.sentences, self.scores, 8, 0.5)
        terms = [term for term in self.expected.terms if term not in self.expected.names]
        shared = {p: set(terms) & set(content_stems(self.index.sentences[p].core)) for p in close}
        top = shared[close[0]]
        if not top:
            return close[0]
        rarest = max(sorted(top), key=self.index.terms.idf)
        held = evidence.carries(self.expected, self.index.sentences[close[0]])
        return max(
            p
            for p in close
            if p == close[0]
            # among a handful of sentences rarity says nothing
            or (
                (rarest in shared[p] or (shared[p] and len(self.index.sentences) < 20))
                and len(shared[p]) >= len(top) - 1
                and not self.index.about_another(p, self.expected.terms)
                and not self.index.sentences[p].text.endswith("?")
                and evidence.carries(self.expected, self.index.sentences[p]) >= held
            )
        )
