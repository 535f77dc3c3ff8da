"""Sentences of one context ranked for many questions: embeddings, BM25, who speaks, what kind of thing is asked."""

import math
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memgauge.solvers.extractive.context import Parsed, Sentence
from memgauge.solvers.extractive.evidence import another, carries
from memgauge.solvers.extractive.kinds import Expected
from memgauge.solvers.extractive.lexicon import content_stems

Scores = NDArray[np.float32]
CACHE_LIMIT = 200_000


class Encoder(Protocol):
    """A sentence encoder: unit vectors, shape (texts, dimensions)."""

    def encode(self, texts: Sequence[str]) -> Scores:
        """Encode each text; an empty one gives a zero vector."""
        ...


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each signal counts.

    `line` and `previous` weigh the similarity of the whole message, and of the message before it when that asks;
    `news` what the question does not say yet; `kind`, `speaker`, `picture` and `question` are bonuses and maluses,
    `other` the malus of a third person's affairs where the asker's are meant; `recency` prefers the newest of
    equals; `bridge` is the bonus of what is said of a person whom the question names only by a role.
    What is said: sentences within `lead` of the best may come first, where the latest counts; those within `second`
    join a phrase, the best one's own message ahead by `beside`; within `items` they join a list. A phrase sentence
    has at most `phrase` words, an item of a list at most `item`.
    What is refused: `floor`, `growth` and `unnamed`, see `least` and `Ranked.answerable`.
    """

    # Origin of the numbers: synthetic train histories and the hand-written set of tests/test_extractive_dev.py,
    # judged by contains match, then F1. Half or twice a ranking weight moves one answer in fifty at most; without
    # `recency` three in fifty are lost.
    lexical: float = 0.45
    line: float = 0.25
    previous: float = 0.1
    news: float = 0.1
    kind: float = 0.12
    speaker: float = 0.1
    picture: float = -0.06
    question: float = -0.15
    recency: float = 0.03
    bridge: float = 1.0
    other: float = 0.6
    lead: float = 0.15
    beside: float = 0.1
    second: float = 0.4
    items: float = 0.2
    phrase: int = 20
    item: int = 14
    # The highest refusal of unanswerable questions that leaves nine of ten answerable ones answered, also where a
    # hand-written history is hidden among 800 synthetic sentences.
    floor: float = 0.45
    growth: float = 0.1
    unnamed: float = 0.3

    def least(self, sentences: int) -> float:
        """The score that an answer needs among so many sentences: `floor` among 100, `growth` more among 1,000.

        The best of many unrelated sentences is closer to a question than the best of a few.
        """
        return self.floor + self.growth * (math.log10(max(sentences, 1)) - 2)


@dataclass(slots=True)
class Vectors:
    """Embeddings by text, so that every distinct text is encoded once in the life of a solver."""

    encoder: Encoder
    _known: dict[str, Scores] = field(default_factory=dict)

    def prepare(self, texts: Sequence[str]) -> None:
        """Encode, in one batch, the texts not met before."""
        if len(self._known) > CACHE_LIMIT:
            self._known.clear()
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known.update(zip(new, self.encoder.encode(new), strict=True))

    def matrix(self, texts: Sequence[str]) -> Scores:
        """Vectors of prepared texts, shape (texts, dimensions)."""
        return np.stack([self._known[text] for text in texts])


class TermIndex:
    """BM25 (k1 1.2, b 0.75; idf ln(1 + (N - n + .5) / (n + .5))) over short texts, scaled to the best possible."""

    def __init__(self, texts: Sequence[tuple[str, ...]]) -> None:
        self._size = len(texts)
        lengths = np.array([len(text) for text in texts], dtype=np.float32)
        self._norm = 1.2 * (0.25 + 0.75 * lengths / max(float(lengths.mean()) if len(texts) else 1.0, 1e-9))
        postings: dict[str, list[tuple[int, int]]] = {}
        for position, text in enumerate(texts):
            for term, count in Counter(text).items():
                postings.setdefault(term, []).append((position, count))
        self._postings = {
            term: (np.array([p for p, _ in rows]), np.array([c for _, c in rows], dtype=np.float32))
            for term, rows in postings.items()
        }

    def idf(self, term: str) -> float:
        """Rarity of a term; an unknown one is the rarest."""
        count = len(self._postings[term][0]) if term in self._postings else 0
        return math.log(1 + (self._size - count + 0.5) / (count + 0.5))

    def shared(self, terms: Sequence[str]) -> Scores:
        """For each text, how many of the terms it has. Shape (texts,)."""
        total = np.zeros(self._size, dtype=np.float32)
        for term in dict.fromkeys(terms):
            if term in self._postings:
                total[self._postings[term][0]] += 1
        return total

    def scores(self, terms: Sequence[str]) -> Scores:
        """For each text, a value in [0, 1]: 0 without a shared term. Shape (texts,)."""
        total = np.zeros(self._size, dtype=np.float32)
        best = 0.0
        for term in dict.fromkeys(terms):
            weight = self.idf(term)
            best += 2.2 * weight
            if term in self._postings:
                rows, counts = self._postings[term]
                total[rows] += weight * counts * 2.2 / (counts + self._norm[rows])
        return total / best if best else total


class Index:
    """Everything about one context that does not depend on a question."""

    def __init__(self, parsed: Parsed, vectors: Vectors) -> None:
        self.parsed = parsed
        self.sentences = parsed.sentences
        self._rows = np.array([sentence.line for sentence in self.sentences], dtype=np.int64)
        self._vectors = vectors.matrix([sentence.core for sentence in self.sentences])
        self._lines = _line_vectors(self._vectors, self._rows, len(parsed.lines))
        self._asks = np.array([line.text.rstrip().endswith("?") for line in parsed.lines])
        self._speakers = np.array([sentence.speaker for sentence in self.sentences])
        self.voices = frozenset(self._speakers.tolist())
        self._pictures = np.array([sentence.picture for sentence in self.sentences])
        self._others = {
            position: ties for position, one in enumerate(self.sentences) if (ties := another(one)) is not None
        }
        self._questions = np.array([sentence.text.rstrip().endswith("?") for sentence in self.sentences])
        stems = [content_stems(one.core) for one in self.sentences]
        self._lengths = np.array([len(set(some)) for some in stems], dtype=np.float32)
        self.terms = TermIndex(stems)
        self.line_terms = TermIndex([content_stems(line.text) for line in parsed.lines])

    def rank(self, expected: Expected, query: Scores, weights: Weights) -> Scores:
        """One score a sentence. Shape (sentences,)."""
        lines = self._lines @ query
        previous = np.concatenate([[0.0], np.where(self._asks[:-1], lines[:-1], 0.0)]).astype(np.float32)
        spoken = [term for term in expected.terms if term not in expected.names]
        scores = self._vectors @ query
        scores = scores + weights.line * (lines + self.line_terms.scores(spoken))[self._rows]
        scores = scores + weights.previous * previous[self._rows] + weights.lexical * self.terms.scores(spoken)
        scores = scores + weights.speaker * self._voices(expected, weights)
        shown = -5.0 if "pictur" in expected.terms else 1.0  # a picture's caption answers what is in the picture
        scores = scores + shown * weights.picture * self._pictures + weights.question * self._questions
        scores = scores + weights.recency * self._recency(expected)
        scores = scores + weights.news * self._news(expected)
        near = np.flatnonzero(scores >= scores.max() - 2 * weights.kind - 0.2)
        for position in near:
            scores[position] += weights.kind * carries(expected, self.sentences[position])
        ranked: Scores = scores.astype(np.float32)
        return ranked

    def mentions(self, names: set[str], role: set[str]) -> Scores:
        """1 for a sentence with one of the names, unless it is one that says who holds the role (stems)."""
        flags = [
            bool(names & set(re.findall(r"\w+", one.core))) and not role <= set(content_stems(one.core))
            for one in self.sentences
        ]
        return np.array(flags, dtype=np.float32)

    def _news(self, expected: Expected) -> Scores:
        """0 to 1: how many content words, up to four, a sentence has that the question lacks."""
        news: Scores = np.minimum(self._lengths - self.terms.shared(expected.terms), 4) / np.float32(4)
        return news

    def about_another(self, position: int, terms: Collection[str] = ()) -> bool:
        """Whether the sentence's subject is a third person, other than one tied to the user by one of the terms."""
        return position in self._others and self._others[position].isdisjoint(terms)

    def _voices(self, expected: Expected, weights: Weights) -> Scores:
        """1 where the question's person speaks, less where the user speaks of somebody else, else 0."""
        if expected.voice:
            voices: Scores = (self._speakers == expected.voice).astype(np.float32)
            if expected.voice == "user" and not expected.names:
                # "my" asks about the user, not about the friend the user talks about
                foreign = [p for p, ties in self._others.items() if not ties & set(expected.terms)]
                voices[foreign] -= np.float32(weights.other / max(weights.speaker, 1e-9))
            return voices
        named = [name for name in expected.names if name in self.voices]
        return np.isin(self._speakers, named).astype(np.float32)

    def _recency(self, expected: Expected) -> Scores:
        """0 to 1 from the oldest to the newest sentence; reversed, when the question asks for the first."""
        size = len(self.sentences)
        ramp = np.linspace(0, 1, size, dtype=np.float32) if size > 1 else np.zeros(size, dtype=np.float32)
        scale = {"newest": 2.0, "oldest": -1.0, "": 1.0}[expected.order]
        return ramp * np.float32(scale)


def best_positions(scores: Scores, count: int) -> list[int]:
    """Positions of the highest scores, ties by position."""
    return [int(position) for position in np.argsort(-scores, kind="stable")[:count]]


def texts_of(parsed: Parsed) -> list[str]:
    """Every text of a context that the index needs encoded."""
    return [sentence.core for sentence in parsed.sentences]


def _line_vectors(vectors: Scores, rows: NDArray[np.int64], size: int) -> Scores:
    """A message's vector is the direction of the sum of its sentences': no second encoding. Shape (lines, dim)."""
    lines = np.zeros((size, vectors.shape[1]), dtype=np.float32)
    np.add.at(lines, rows, vectors)
    units: Scores = lines / np.maximum(np.linalg.norm(lines, axis=1, keepdims=True), 1e-9)
    return units


def strong(sentences: Sequence[Sentence], scores: Scores, count: int, margin: float) -> list[int]:
    """The best positions within `margin` of the best one."""
    chosen = best_positions(scores, min(count, len(sentences)))
    return [position for position in chosen if scores[position] >= scores[chosen[0]] - margin]
