"""Sentence vectors from MiniLM, each independent of the texts encoded with it, and ranking by cosine."""

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from hashlib import file_digest, sha256
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from memgauge.errors import AssetError
from memgauge.retrieval.export import GRAPH, INPUTS, OUTPUT
from memgauge.retrieval.ranking import Ranked, rank
from memgauge.retrieval.vector_cache import Vector, VectorCache, text_key

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

DIMENSIONS = 384
WINDOW = 254  # word pieces; two more make 256, the length the model was trained for
_STEP = 16  # window lengths are padded to a multiple of this
_BATCH_PIECES = 256  # word pieces of one forward pass, padding included: more is not faster
_SCHEME = "windows of 254, mean of windows, unit length, 2"  # change it when vectors of equal texts change
_BLOCK = 2048  # texts tokenised and saved together
_DECIMALS = 6  # cosines closer than this are ties; the last bits of a dot product are not meaning

Window = tuple[int, list[int]]  # number of the text, word pieces with both marks


class SentenceEncoder:
    """all-MiniLM-L6-v2 from a local folder (`retrieval.export`), loaded at the first text that no cache knows.

    A text longer than one window is cut into windows of at most 254 word pieces; its vector is the mean of
    theirs, scaled to unit length, so no part of it goes unseen. A vector depends on its text alone: windows
    are padded to fixed lengths and run in batches of one fixed shape per length, filled up with blank rows.
    """

    def __init__(self, folder: Path, cache: Path | None = None) -> None:
        self.folder = folder
        self.cache = cache

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, shape (texts, 384); a text without word pieces gives a zero vector."""
        keys = [text_key(text) for text in texts]
        known = self._vectors.find(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        todo = list(missing.items())
        for start in range(0, len(todo), _BLOCK):
            block = todo[start : start + _BLOCK]
            vectors = self._encode([text for _, text in block])
            self._vectors.add({key: vector for (key, _), vector in zip(block, vectors, strict=True)})
        return np.array([known[key] for key in keys], dtype=np.float32).reshape(len(texts), DIMENSIONS)

    @cached_property
    def _vectors(self) -> VectorCache:
        """Keyed by all that decides a vector: weights, tokenizer, onnxruntime, the scheme above."""
        digest = sha256(f"{_SCHEME} onnxruntime {version('onnxruntime')}".encode())
        for name in (GRAPH, "tokenizer.json"):
            try:
                with (self.folder / name).open("rb") as stream:
                    digest.update(file_digest(stream, "sha256").digest())
            except OSError as error:
                raise AssetError(
                    f"the sentence encoder lacks {self.folder / name}; run `dvc repro assets@minilm`"
                ) from error
        return VectorCache(digest.hexdigest(), self.cache)

    @cached_property
    def _session(self) -> "InferenceSession":
        from onnxruntime import InferenceSession, SessionOptions

        options = SessionOptions()
        options.intra_op_num_threads = 1  # batches run beside each other instead: see `_threads`
        return InferenceSession(self.folder / GRAPH, options, providers=["CPUExecutionProvider"])

    @cached_property
    def _tokenizer(self) -> "Tokenizer":
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self.folder / "tokenizer.json"))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        sums = np.zeros((len(texts), DIMENSIONS), dtype=np.float64)
        batches = list(_batches(self._windows(texts)))
        with ThreadPoolExecutor(_threads()) as workers:
            for batch, vectors in zip(batches, workers.map(self._pool, batches), strict=True):
                for (number, _), vector in zip(batch.windows, vectors, strict=True):
                    sums[number] += vector
        return unit_rows(sums).astype(np.float32)

    def _windows(self, texts: Sequence[str]) -> list[Window]:
        """Every text's windows in order, none for a text without word pieces."""
        known = [text.encode("utf-8", "replace").decode() for text in texts]  # lone surrogates have no pieces
        pieces = [found.ids for found in self._tokenizer.encode_batch(known, add_special_tokens=False)]
        first, last = self._tokenizer.encode("").ids  # the marks around every text
        return [
            (number, [first, *ids[start : start + WINDOW], last])
            for number, ids in enumerate(pieces)
            for start in range(0, len(ids), WINDOW)
        ]

    def _pool(self, batch: "_Batch") -> Vector:
        """Mean-pooled unit vectors of a batch, shape (its windows, 384)."""
        ids = np.zeros((batch.rows, batch.length), dtype=np.int64)
        mask = np.zeros((batch.rows, batch.length), dtype=np.int64)
        mask[len(batch.windows) :, 0] = 1  # a blank row attends to one piece: attending to none gives NaN
        for row, (_, pieces) in enumerate(batch.windows):
            ids[row, : len(pieces)] = pieces
            mask[row, : len(pieces)] = 1
        vectors: Vector = self._session.run([OUTPUT], dict(zip(INPUTS, (ids, mask), strict=True)))[0]
        return vectors[: len(batch.windows)]


@dataclass(frozen=True, slots=True)
class _Batch:
    """Windows to run as `rows` rows of `length` word pieces, whatever their number."""

    windows: Sequence[Window]
    rows: int
    length: int


def _batches(windows: Sequence[Window]) -> Iterator[_Batch]:
    """Windows by padded length, short ones first, otherwise in order."""
    buckets: dict[int, list[Window]] = defaultdict(list)
    for window in windows:
        buckets[-(-len(window[1]) // _STEP) * _STEP].append(window)
    for length, members in sorted(buckets.items()):
        rows = max(_BATCH_PIECES // length, 1)
        for start in range(0, len(members), rows):
            yield _Batch(members[start : start + rows], rows, length)


def _threads() -> int:
    """As many workers as OMP_NUM_THREADS or the machine allows, each running its own batch on one thread.

    Threads inside one small batch wait for each other at every operation: on a busy machine that is ten times
    slower.
    """
    said = os.environ.get("OMP_NUM_THREADS", "")
    return int(said) if said.isdigit() and int(said) else len(os.sched_getaffinity(0))


def unit_rows(vectors: NDArray[Any]) -> NDArray[np.float64]:
    """Rows scaled to length 1; a zero row stays zero.

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    exact = vectors.astype(np.float64)
    lengths = np.linalg.norm(exact, axis=1, keepdims=True)
    units: NDArray[np.float64] = np.divide(exact, lengths, out=np.zeros_like(exact), where=lengths > 0)
    return units


def rank_dense(documents: NDArray[Any], queries: NDArray[Any], k: int | None = None) -> list[list[Ranked]]:
    """For each query row the best `k` (all when None) document rows by cosine, ties by position.

    Shapes (documents, dimensions) and (queries, dimensions). Zero vectors score 0. Cosines are rounded to six
    decimals before they are compared.

    >>> documents = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 0.0]])
    >>> [(each.position, each.score) for each in rank_dense(documents, np.array([[1.0, 0.0]]), k=2)[0]]
    [(0, 1.0), (1, 0.707107)]
    """
    if not len(documents):
        return [[] for _ in queries]
    cosines = np.round(unit_rows(queries) @ unit_rows(documents).T, _DECIMALS) + 0.0  # + 0.0: no negative zero
    everyone = np.arange(len(documents))
    return [rank(row, everyone, k) for row in cosines]
