"""Sentence vectors depend on their text alone; cosine rankings never hold a NaN or an undecided tie."""

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from memgauge.errors import AssetError, InputError
from memgauge.retrieval.dense import SentenceEncoder, rank_dense
from memgauge.retrieval.passages import documents_of, split_passages
from memgauge.retrieval.vector_cache import VectorCache, text_key

SENTENCES = [
    "I adopted a puppy.",
    "She moved to Lisbon in March.",
    "No.",
    "The quarterly budget was approved after a long discussion about travel costs and hiring plans.",
    "Мой кот спит",
    "We hiked up the ridge and saw three eagles, then drove home through heavy rain and had soup for dinner.",
    "ok",
    "Remember that I am allergic to peanuts and that my sister is not.",
]


@pytest.fixture(scope="module")
def encoder(models: Path) -> SentenceEncoder:
    if not (models / "minilm" / "model.safetensors").is_file():
        pytest.skip("the sentence encoder is not in models/minilm")
    return SentenceEncoder(models / "minilm")


def fresh(encoder: SentenceEncoder, cache: Path | None = None) -> SentenceEncoder:
    """The same weights without any known vectors."""
    twin = SentenceEncoder(encoder.folder, cache)
    twin.__dict__["_session"] = encoder._session
    return twin


def test_cosines_of_the_hand_made_vectors():
    documents = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 0.0]])
    (hits,) = rank_dense(documents, np.array([[1.0, 0.0]]))
    assert [(each.position, each.score) for each in hits] == [(0, 1.0), (1, 0.707107), (2, 0.0)]
    assert [each.position for each in rank_dense(documents, np.array([[1.0, 0.0]]), k=2)[0]] == [0, 1]


def test_a_zero_query_scores_everything_zero_in_corpus_order():
    (hits,) = rank_dense(np.eye(3), np.zeros((1, 3)))
    assert [(each.position, each.score) for each in hits] == [(0, 0.0), (1, 0.0), (2, 0.0)]


def test_no_documents_and_no_queries_give_empty_rankings():
    assert rank_dense(np.zeros((0, 4)), np.ones((2, 4))) == [[], []]
    assert rank_dense(np.ones((2, 4)), np.zeros((0, 4))) == []


def test_differences_below_the_sixth_decimal_are_ties():
    documents = np.array([[1.0, 1e-9], [1.0, 0.0]])
    assert [each.position for each in rank_dense(documents, np.array([[1.0, 0.0]]))[0]] == [0, 1]


@pytest.mark.models
def test_vectors_are_unit_length_and_agree_with_the_plain_library(encoder):
    from sentence_transformers import SentenceTransformer

    vectors = encoder.encode(SENTENCES)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(SENTENCES), 384)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-6)
    plain = SentenceTransformer(str(encoder.folder), device="cpu", local_files_only=True)
    assert vectors == pytest.approx(plain.encode(SENTENCES, show_progress_bar=False), abs=1e-6)


@pytest.mark.models
def test_empty_texts_give_zero_vectors_and_none_give_an_empty_matrix(encoder):
    assert not encoder.encode(["", " \n", "\u200b"]).any()
    assert encoder.encode([]).shape == (0, 384)


@pytest.mark.models
def test_a_lone_surrogate_neither_stops_nor_spoils_a_vector(encoder):
    assert np.linalg.norm(encoder.encode(["a broken \ud83d smile"])) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.models
def test_a_vector_is_bitwise_the_same_whatever_is_encoded_with_it(encoder):
    texts = [f"{text} {number}" for number in range(6) for text in SENTENCES]
    together = fresh(encoder).encode(texts)
    order = np.random.default_rng(3).permutation(len(texts))
    shuffled = fresh(encoder).encode([texts[position] for position in order])
    assert np.array_equal(shuffled, together[order])
    assert np.array_equal(fresh(encoder).encode(texts[7:20]), together[7:20])
    assert np.array_equal(fresh(encoder).encode([texts[11]])[0], together[11])


@pytest.mark.models
def test_a_long_text_is_the_mean_of_its_windows_so_its_tail_counts(encoder):
    first, second = (
        "river " * 254,
        "guitar " * 100,
    )  # one word piece a word: exactly one full window, then a rest
    parts = encoder.encode([first, second]).sum(axis=0)
    (whole,) = encoder.encode([first + second])
    assert whole == pytest.approx(parts / np.linalg.norm(parts), abs=1e-6)
    assert not np.array_equal(whole, encoder.encode([first])[0])


@pytest.mark.models
def test_a_fact_at_the_end_of_an_enormous_message_is_found_once(encoder):
    filler = "we talked about the weather and the garden. " * 200
    messages = ["hello there", filler + "The safe opens with the code 4417.", "see you tomorrow"]
    passages = [each for number, text in enumerate(messages) for each in split_passages(text, 800, 100, number)]
    vectors = encoder.encode([each.text for each in passages])
    (hits,) = rank_dense(vectors, encoder.encode(["What is the code of the safe?"]), k=1)
    assert documents_of(passages, [hits[0].position]) == [1]
    assert hits[0].position == len(passages) - 2


@pytest.mark.models
def test_a_cache_file_gives_the_same_bits_without_loading_the_model(encoder, tmp_path):
    file = tmp_path / "deep" / "vectors.sqlite"
    vectors = fresh(encoder, file).encode(SENTENCES)
    reader = SentenceEncoder(encoder.folder, file)
    assert np.array_equal(reader.encode(SENTENCES[::-1]), vectors[::-1])
    assert "_session" not in reader.__dict__


def test_vectors_of_another_model_are_not_found(tmp_path):
    key = text_key("a")
    VectorCache("one", tmp_path / "v").add({key: np.ones(3, dtype=np.float32)})
    assert key in VectorCache("one", tmp_path / "v").find([key])
    assert key not in VectorCache("two", tmp_path / "v").find([key])


def test_a_broken_cache_file_is_named_with_its_cure(tmp_path):
    file = tmp_path / "vectors.sqlite"
    file.write_text("not a database, " * 100)
    with pytest.raises(InputError, match=r"vectors\.sqlite cannot be used: .*; delete it"):
        VectorCache("m", file).find([text_key("a")])


def test_the_cache_file_keeps_the_first_of_two_writers(tmp_path):
    key = text_key("a")
    for value in (1.0, 2.0):
        VectorCache("m", tmp_path / "v").add({key: np.full(2, value, dtype=np.float32)})
    assert VectorCache("m", tmp_path / "v").find([key])[key].tolist() == [1.0, 1.0]
    assert sqlite3.connect(tmp_path / "v").execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_missing_model_names_the_stage_that_brings_it(tmp_path):
    with pytest.raises(AssetError, match=r"dvc repro assets@minilm"):
        SentenceEncoder(tmp_path).encode(["a"])


@pytest.mark.models
def test_the_number_of_threads_changes_no_bit_and_is_put_back(encoder):
    import torch

    before = torch.get_num_threads()
    vectors = {}
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            vectors[threads] = fresh(encoder).encode(SENTENCES)
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    assert np.array_equal(vectors[1], vectors[2])
    assert np.array_equal(vectors[1], vectors[3])
