"""How fast retrieval is, beside the libraries one would use instead. Run with `--benchmark-enable`."""

import numpy as np
import pytest

from memgauge.retrieval.bm25 import Bm25Index
from memgauge.retrieval.dense import SentenceEncoder

VOCABULARY = [f"word{number}" for number in range(3000)]


def texts(count: int, longest: int = 40) -> list[str]:
    """Texts of 5 to `longest` words with a skewed vocabulary, the same every time."""
    generator = np.random.default_rng(5)
    ranks = (generator.pareto(1.0, size=(count, longest)) * 3).astype(int) % len(VOCABULARY)
    lengths = generator.integers(5, longest, size=count)
    return [" ".join(VOCABULARY[rank] for rank in row[:length]) for row, length in zip(ranks, lengths, strict=True)]


@pytest.fixture
def encoder(models):
    if not (models / "minilm" / "model.safetensors").is_file():
        pytest.skip("the sentence encoder is not in models/minilm")
    encoder = SentenceEncoder(models / "minilm")
    encoder.encode(["warm up"])
    return encoder


def test_bm25_builds_an_index_of_5000_texts(benchmark):
    benchmark(Bm25Index, texts(5000))


def test_bm25s_builds_an_index_of_5000_texts(benchmark):
    bm25s = pytest.importorskip("bm25s")

    def build():
        index = bm25s.BM25(method="lucene")
        index.index([text.split() for text in texts(5000)], show_progress=False)

    benchmark(build)


def test_bm25_ranks_5000_texts(benchmark):
    index = Bm25Index(texts(5000))
    benchmark(index.search, "word1 word20 word300 word7 word44", 10)


def test_bm25s_ranks_5000_texts(benchmark):
    bm25s = pytest.importorskip("bm25s")
    index = bm25s.BM25(method="lucene")
    index.index([text.split() for text in texts(5000)], show_progress=False)
    query = [["word1", "word20", "word300", "word7", "word44"]]
    benchmark(index.retrieve, query, k=10, show_progress=False)


@pytest.mark.models
def test_our_encoder_encodes_200_texts(benchmark, encoder):
    def fresh():
        twin = SentenceEncoder(encoder.folder)
        twin.__dict__.update(_session=encoder._session, _tokenizer=encoder._tokenizer)
        return (twin,), {}

    benchmark.pedantic(lambda twin: twin.encode(texts(200)), setup=fresh, rounds=2)


@pytest.mark.models
def test_the_plain_library_encodes_200_texts(benchmark, encoder):
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(encoder.folder), device="cpu", local_files_only=True)
    benchmark.pedantic(model.encode, (texts(200),), {"show_progress_bar": False}, rounds=2)
