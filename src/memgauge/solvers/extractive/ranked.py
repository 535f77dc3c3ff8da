"""One question's view of a context: its sentences by score, the newest first where the present is asked."""

from dataclasses import dataclass
from datetime import date

from memgauge.solvers.extractive import evidence
from memgauge.solvers.extractive.context import Sentence
from memgauge.solvers.extractive.kinds import Expected
from memgauge.solvers.extractive.lexicon import content_stems
from memgauge.solvers.extractive.ranking import Index, Scores, Weights, strong


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

    def best(self, count: int, margin: float) -> list[Sentence]:
        """The best sentences, best first."""
        positions = strong(self.index.sentences, self.scores, count, margin)
        lead = self._latest() if self.expected.order == "newest" else positions[0]
        return [self.index.sentences[p] for p in (lead, *(p for p in positions if p != lead))]

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
                and not self.index.about_another(p)
                and not self.index.sentences[p].text.endswith("?")
                and evidence.carries(self.expected, self.index.sentences[p]) >= held
            )
        )
