"""An in-memory BM25 index over short texts."""

from array import array
from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from memgauge.retrieval.ranking import Ranked, rank
from memgauge.text.words import words


class Bm25Index:
    """BM25 with a never negative idf, over texts that are known by their position.

    A term weighs idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / mean length)) in a document, with
    idf = ln(1 + (N - n + 0.5) / (n + 0.5)) with N documents, n of them holding the term (Lucene's idf).

    >>> [each.position for each in Bm25Index(["a red car", "the sea", "red, red sea"]).search("Red?")]
    [2, 0]
    """

    def __init__(
        self,
        texts: Sequence[str],
        k1: float = 1.5,
        b: float = 0.75,
        stop_words: Collection[str] = frozenset(),
    ) -> None:
        self._stop_words = frozenset(stop_words)
        self._size = len(texts)
        self._vocabulary: dict[str, int] = {}
        # Flat arrays of machine numbers: a table of words per text would take ten times the memory of a long history.
        numbers, repeats, sizes, totals = array("q"), array("q"), array("q"), array("q")
        for text in texts:
            count = Counter(self._terms(text))
            numbers.extend(self._number(term) for term in count)
            repeats.extend(count.values())
            sizes.append(len(count))
            totals.append(count.total())
        terms = np.array(numbers, dtype=np.intp)
        frequencies = np.array(repeats, dtype=np.float64)
        documents = np.repeat(np.arange(self._size), np.array(sizes, dtype=np.intp))
        lengths = np.array(totals, dtype=np.float64)
        holding = np.bincount(terms, minlength=len(self._vocabulary))
        idf = np.log1p((self._size - holding + 0.5) / (holding + 0.5))
        mean_length = lengths.mean() if lengths.any() else 1.0
        norm = k1 * (1 - b + b * lengths / mean_length)
        weights = idf[terms] * frequencies * (k1 + 1) / (frequencies + norm[documents])
        order = np.argsort(terms, kind="stable")
        self._documents = documents[order]
        self._weights = weights[order]
        self._starts = np.concatenate([[0], np.cumsum(holding)])

    def _terms(self, text: str) -> list[str]:
        return [word for word in words(text) if word not in self._stop_words]

    def _number(self, term: str) -> int:
        return self._vocabulary.setdefault(term, len(self._vocabulary))

    def scores(self, query: str) -> NDArray[np.float64]:
        """The score of every document, shape (documents,); 0 where no query term occurs."""
        scores = np.zeros(self._size)
        # Sorted terms: the order of words in a query must not move a sum by its last bit.
        for term, repeats in sorted(Counter(self._terms(query)).items()):
            number = self._vocabulary.get(term)
            if number is not None:
                postings = slice(self._starts[number], self._starts[number + 1])
                scores[self._documents[postings]] += repeats * self._weights[postings]
        return scores

    def search(self, query: str, k: int | None = None) -> list[Ranked]:
        """The best `k` (all when None) documents that hold a query term, ties by position; possibly none."""
        scores = self.scores(query)
        return rank(scores, np.flatnonzero(scores), k)
