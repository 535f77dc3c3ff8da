"""MemoryBank: forgetting in dialogue time, recall, importance, and the summaries that lead."""

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from hashlib import sha256
from math import exp
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.errors import InputError
from memgauge.llm.chat import ChatReply
from memgauge.memory.base import Query, Tools
from memgauge.memory.decay import Strength, dialogue_days, strengths
from memgauge.memory.memorybank import GLOBAL, Memorybank
from memgauge.protocol.conditions import complete, write_store
from memgauge.records import History, Question, Result, Session, Store, Turn, Usage
from memgauge.solvers.language_model import LanguageModelSolver
from memgauge.tasks.rate_importance import RateImportance
from memgauge.tasks.summarise_session import SummaryLine
from memgauge.text.render import entry_tokens
from memgauge.text.tokens import count_tokens
from memgauge.text.words import words

QUERY = Query("Where is the harbour?")
BARE = {"day_share": 0.0, "global_share": 0.0}  # exchanges only


class HashEncoder:
    """Unit vectors of hashed words: alike where words are shared."""

    def encode(self, texts: Sequence[str]) -> Any:
        vectors = np.zeros((len(texts), 512), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in words(text):
                vectors[row, int.from_bytes(sha256(word.encode()).digest()[:2], "big") % 512] += 1
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.divide(vectors, lengths, out=vectors, where=lengths > 0)


class Scripted:
    """Rates by a function of the text and keeps the first words of every turn."""

    def __init__(self, rate: Callable[[str], int | None] = lambda text: 5) -> None:
        self.rate = rate
        self.calls: list[list[Any]] = []

    def solve(self, tasks: Sequence[Any]) -> list[Any]:
        self.calls.append(list(tasks))
        if not isinstance(tasks[0], RateImportance):
            return [Result(self._lines(task), "ok", Usage(9, 3, 1)) for task in tasks]
        ratings = [self.rate(" ".join(text for _, text in task.turns)) for task in tasks]
        return [Result(each, "ok" if each is not None else "parse_error", Usage(9, 1, 1)) for each in ratings]

    def _lines(self, task: Any) -> tuple[SummaryLine, ...]:
        return tuple(
            SummaryLine(f"{speaker}: {' '.join(text.split()[:4])}", (at,))
            for at, (speaker, text) in enumerate(task.turns)
        )


def tools(solver: Any = None) -> Tools:
    return Tools(solver or Scripted(), HashEncoder())


def history(*sessions: tuple[str | None, Sequence[str]]) -> History:
    """Sessions of Ann's turns."""
    return History(
        "h",
        "g",
        "test",
        tuple(
            Session(f"s{s}", date, tuple(Turn(f"t{s}.{t}", "Ann", text) for t, text in enumerate(texts)))
            for s, (date, texts) in enumerate(sessions)
        ),
    )


def stored(of: History, budget: int = 10**5, solver: Any = None, **options: Any) -> Store:
    return write_store(Memorybank(**options), of, budget, tools(solver))


def texts(store: Store) -> list[str]:
    return [entry.text for entry in store.entries]


# --- forgetting


def retention(recalls: int, days: float, decay_days: float, as_released: bool = False) -> float:
    return exp(Strength(recalls, 0.0).log_retention(days, decay_days, as_released))


def test_retention_by_hand() -> None:
    assert retention(0, 0, 5) == 1
    assert retention(0, 5, 5) == pytest.approx(exp(-1))
    assert retention(1, 5, 5) == pytest.approx(exp(-0.5))
    assert retention(3, 10, 1) == pytest.approx(exp(-2.5))
    assert Strength(0, 7.0).log_retention(3.0, 5) == 0  # nothing is forgotten before it is said


@given(st.integers(0, 50), st.floats(0.01, 5000), st.floats(0.1, 100))
def test_retention_falls_with_days_and_rises_with_recalls(recalls: int, days: float, decay_days: float) -> None:
    held = Strength(recalls, 0.0)
    assert held.log_retention(days, decay_days) > held.log_retention(days * 2, decay_days)
    assert Strength(recalls + 1, 0.0).log_retention(days, decay_days) > held.log_retention(days, decay_days)
    assert Strength(recalls, days / 2).log_retention(days, decay_days) > held.log_retention(days, decay_days)


def test_as_released_what_is_recalled_more_fades_faster() -> None:
    assert retention(0, 5, 5, as_released=True) == retention(0, 5, 5)
    assert retention(1, 5, 5, as_released=True) == pytest.approx(exp(-2))
    assert retention(1, 5, 5, as_released=True) < retention(0, 5, 5, as_released=True)


def test_days_come_from_the_dialogue_and_undated_sessions_from_their_neighbours() -> None:
    days = dialogue_days([None, "2023-05-08", None, "2023-05-09T12:00", "2023-05-01"])
    assert [day - days[1] for day in days] == [0, 0, 0, 1.5, -7]
    assert dialogue_days([None, None]) == [0, 0]
    assert dialogue_days([]) == []


def test_a_later_session_recalls_the_likest_earlier_unit_and_its_own_session_does_not() -> None:
    vectors = HashEncoder().encode(["harbour boat", "harbour boat", "cake tea", "harbour boat", "cake tea run swim"])
    held = strengths(vectors, [0, 0, 1, 2, 2], [0.0, 3.0, 9.0], 0.7)
    assert held == [Strength(1, 9.0), Strength(0, 0.0), Strength(1, 9.0), Strength(0, 9.0), Strength(0, 9.0)]
    assert all(not each.recalls for each in strengths(vectors, [0, 0, 1, 2, 2], [0.0, 3.0, 9.0], 1.1))
    assert strengths(vectors[:0], [], [], 0.7) == []


SAID = ["The harbour is cold today.", "Zoe bakes plum cake weekly.", "My bicycle needs new brakes."]


def spread(*more: tuple[str | None, Sequence[str]]) -> History:
    return history(*((f"2023-01-{day:02}", [text]) for day, text in zip((1, 11, 21), SAID, strict=True)), *more)


def test_under_the_budget_the_oldest_goes_first() -> None:
    one = entry_tokens(stored(spread()).entries[0])
    assert texts(stored(spread(), 2 * one + 6, **BARE)) == [f"Ann: {text}" for text in SAID[1:]]
    assert stored(spread(), 2 * one + 6, **BARE).counts["exchanges_forgotten"] == 1


def test_what_later_talk_returns_to_is_kept() -> None:
    of = spread(("2023-01-22", ["The harbour is cold again today."]))
    budget = 4 + sum(entry_tokens(entry) for entry in stored(of, **BARE).entries if "cake" not in entry.text)
    store = stored(of, budget, **BARE)
    assert texts(store) == [f"Ann: {text}" for text in (SAID[0], SAID[2], "The harbour is cold again today.")]
    assert store.counts["recalls"] == 1
    forgetful = stored(of, budget, recall_threshold=1.5, **BARE)
    assert texts(forgetful) == [f"Ann: {text}" for text in (*SAID[1:], "The harbour is cold again today.")]


def test_importance_outweighs_days_by_its_logarithm() -> None:
    # ten days at c = 5 cost e^-2: only more than 7.4 times the importance makes up for them
    for rating, kept in ((7, SAID[1]), (8, SAID[0])):
        solver = Scripted(lambda text, rating=rating: rating if "harbour" in text else 1)
        store = stored(history(("2023-01-01", SAID[:1]), ("2023-01-11", SAID[1:2])), 17, solver, **BARE)
        assert texts(store) == [f"Ann: {kept}"]
    assert 7 < exp(2) < 8


def test_only_the_dialogue_tells_the_time() -> None:
    def moved(year: int) -> History:
        of = spread()
        return replace(of, sessions=tuple(replace(each, date=f"{year}{each.date[4:]}") for each in of.sessions))

    assert texts(stored(moved(1999), 30)) == texts(stored(moved(2023), 30))


def test_decades_do_not_make_all_equal() -> None:
    of = history(("1950-01-01", SAID[:1]), ("1960-01-01", SAID[1:2]), ("2023-01-01", ["Ok then, see you."]))
    assert texts(stored(of, 34, **BARE))[0] == f"Ann: {SAID[1]}"


# --- what is kept


def test_an_exchange_is_a_turn_and_the_one_after_it_and_its_rating_is_in_the_id() -> None:
    of = history(("2023-05-08T13:56", ["One fine day.", "Two fine days.", " ", "Three fine days."]))
    store = stored(of, solver=Scripted(lambda text: 9 if "Three" in text else 2), **BARE)
    assert [(entry.id, entry.text, entry.sources, entry.date) for entry in store.entries] == [
        ("0:2", "Ann: One fine day.\nAnn: Two fine days.", ("t0.0", "t0.1"), "2023-05-08T13:56"),
        ("1:9", "Ann: Three fine days.", ("t0.3",), "2023-05-08T13:56"),
    ]


def test_a_long_turn_is_cut_in_pieces_that_repeat_its_speaker() -> None:
    store = stored(history(("2023-05-08", ["I like tea. " * 60, "Ok."])), exchange_tokens=20, **BARE)
    assert len(store.entries) > 5
    assert all(entry.text.startswith("Ann: ") and count_tokens(entry.text) < 26 for entry in store.entries)
    assert {entry.sources for entry in store.entries} == {("t0.0",), ("t0.1",)}


def test_days_and_all_days_are_summed_up_within_their_parts_of_the_budget() -> None:
    of = history(
        ("2023-05-08T09:00", ["Day one begins here.", "b c", "d e"]),
        ("2023-05-08T18:00", ["Evening of day one.", "f g", "h i"]),
        ("2023-05-09", ["Alone."]),
        (None, ["No date here now.", "j k", "l m"]),
    )
    store = stored(of, 2000, day_share=0.25, global_share=0.1)
    days = [entry for entry in store.entries if entry.id.startswith("day ")]
    assert [(day.id, day.date) for day in days] == [("day 1", "2023-05-08"), ("day 2", None)]
    assert days[0].sources == tuple(f"t{s}.{t}" for s in (0, 1) for t in range(3))
    assert sum(map(entry_tokens, days)) <= 500
    assert (store.entries[0].id, store.entries[0].date) == (GLOBAL, None)
    assert store.entries[0].sources == (*days[0].sources, *days[1].sources)
    assert entry_tokens(store.entries[0]) <= 200
    assert "Ann: Alone." in texts(store)


def test_entries_stand_in_history_order_with_summaries_first() -> None:
    of = history(*((f"2023-01-{day:02}", [f"{text} {day}" for text in SAID]) for day in range(1, 9)))
    store = stored(of, 600)
    order = {turn.id: at for at, (_, turn) in enumerate(of.turns())}
    firsts = [order[entry.sources[0]] for entry in store.entries]
    assert firsts == sorted(firsts)
    assert store.entries[0].id == GLOBAL


@pytest.mark.parametrize("budget", [1, 15, 40, 100, 333, 2000])
def test_the_budget_holds(budget: int) -> None:
    of = history(*((f"2023-01-{day:02}", [f"{text} {day}" for text in SAID * 3]) for day in range(1, 20)))
    written = Memorybank().write(of, budget, tools())
    assert sum(map(entry_tokens, written.entries)) <= budget
    store = stored(of, budget)
    assert store.counts["dropped_over_budget"] == 0
    assert complete(Question("q", "h", "?", "t"), store).tokens <= budget


def test_failed_ratings_are_counted_and_weigh_as_unrated() -> None:
    store = stored(spread(), solver=Scripted(lambda text: None if "cake" in text else 9), unrated=3, **BARE)
    assert [entry.id for entry in store.entries] == ["0:9", "1:3", "2:9"]
    assert (store.counts["ratings_failed"], store.counts["status_parse_error"]) == (1, 1)
    assert (store.counts["writer_tasks"], store.counts["writer_output_tokens"]) == (3, 3)


def test_all_ratings_are_asked_for_in_one_call() -> None:
    solver = Scripted()
    stored(spread(), solver=solver, **BARE)
    assert [len(call) for call in solver.calls] == [3]


# --- ranking


def test_scores_are_cosine_times_the_importance_mix() -> None:
    store = stored(spread(), solver=Scripted(lambda text: 10 if "harbour" in text else 2), **BARE)
    plain, mixed = (Memorybank(importance_weight=weight).retrieve(store, [QUERY], tools())[0] for weight in (0.0, 0.6))
    cosine = {hit.position: hit.score for hit in plain.hits}
    assert {hit.position: hit.score for hit in mixed.hits} == {
        0: cosine[0],
        1: pytest.approx(cosine[1] * (0.4 + 0.6 * 0.2), abs=2e-6),
        2: pytest.approx(cosine[2] * (0.4 + 0.6 * 0.2), abs=2e-6),
    }
    assert list(mixed.hits) == sorted(mixed.hits, key=lambda hit: (-hit.score, hit.position))


def test_importance_can_turn_a_ranking_round() -> None:
    of = history(("2023-01-01", ["The harbour, the harbour."]), ("2023-01-02", ["The harbour froze over."]))
    store = stored(of, solver=Scripted(lambda text: 10 if "froze" in text else 1), **BARE)
    firsts = [Memorybank(importance_weight=w).retrieve(store, [QUERY], tools())[0].hits[0].position for w in (0.0, 1.0)]
    assert firsts == [0, 1]


def test_the_summary_of_all_days_leads_every_ranking() -> None:
    of = history(*((f"2023-01-{day:02}", [f"{text} {day}" for text in SAID]) for day in range(1, 9)))
    store = stored(of, 600)
    for ranking in Memorybank().retrieve(store, [QUERY, Query("")], tools()):
        assert store.entries[ranking.hits[0].position].id == GLOBAL
        assert sorted(hit.position for hit in ranking.hits) == list(range(len(store.entries)))
        assert list(ranking.hits) == sorted(ranking.hits, key=lambda hit: (-hit.score, hit.position))


# --- bad values, bad replies


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"day_share": 0.7, "global_share": 0.3}, "must leave a part"),
        ({"decay_days": 0.0}, "decay_days must be above 0"),
        ({"importance_weight": 1.5}, "at most 1"),
        ({"unrated": 11}, "unrated from 1 to 10"),
    ],
)
def test_values_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        stored(spread(), **options)


def test_every_hyperparameter_has_its_source_on_the_card() -> None:
    assert list(Memorybank.card) == [field.name for field in fields(Memorybank)]


@pytest.mark.parametrize("reply", ["", "Very important indeed.", "99", "とても", "7 " * 10_000])
def test_garbage_of_a_language_model_never_crashes_and_shows_in_counts(reply: str) -> None:
    class Model:
        def payload(self, request: Any) -> dict[str, Any]:
            return {}

        def generate(self, requests: Sequence[Any], on_reply: Any = None) -> list[ChatReply]:
            return [ChatReply(reply, "stop", 10, 5) for _ in requests]

    store = stored(spread(), 300, LanguageModelSolver(Model()))
    assert store.counts["ratings_failed"] == 3
    assert store.tokens <= 300
    assert [entry.id for entry in store.entries if ":" in entry.id] == ["0:5", "1:5", "2:5"]
