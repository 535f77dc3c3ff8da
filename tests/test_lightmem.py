"""LightMem: compression, topics, buffers, one extraction a flush, and the sleep that consolidates."""

from collections.abc import Callable, Sequence
from dataclasses import fields
from hashlib import sha256
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.errors import InputError
from memgauge.memory.base import Query, Tools
from memgauge.memory.lightmem import Lightmem
from memgauge.memory.lightmem_buffers import SensoryBuffer, WordStatistics, gather, topic_cuts
from memgauge.memory.lightmem_queues import newer_lookalikes
from memgauge.protocol.conditions import write_store
from memgauge.records import History, Result, Session, Store, Turn, Usage
from memgauge.solvers.extractive.fact_lists import decide_updates, list_facts
from memgauge.solvers.extractive.ranking import Vectors, Weights
from memgauge.solvers.language_model import LanguageModelSolver
from memgauge.tasks.base import ParseFailure, Task
from memgauge.tasks.decide_update import DecideUpdate, Update
from memgauge.tasks.list_facts import ListFacts, SourcedFact
from memgauge.text.render import entry_tokens
from memgauge.text.tokens import count_tokens
from memgauge.text.words import words

from .scripted_writers import Parrot

NEEDLE = "The locker code is 4417 and Zoe keeps the spare key."
SAYINGS = ["I moved to Lisbon in March.", "That is so great to hear!", "We adopted a cat called Mo.", "No cake for me."]


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
    """Every message is a fact as it stands, unless a call is to fail; updates by a function of the task."""

    def __init__(self, decide: Callable[[DecideUpdate], Update | None] | None = None, failing: Sequence[int] = ()):
        self.decide = decide or (lambda task: Update("ignore"))
        self.failing = failing
        self.calls: list[list[Any]] = []

    def solve(self, tasks: Sequence[Any]) -> list[Any]:
        self.calls.append(list(tasks))
        outputs = [self._output(at, task) for at, task in enumerate(tasks)]
        return [Result(each, "ok" if each is not None else "parse_error", Usage(9, 3, 1)) for each in outputs]

    def _output(self, at: int, task: Any) -> Any:
        if isinstance(task, DecideUpdate):
            return self.decide(task)
        if at in self.failing:
            return None
        return tuple(SourcedFact(turn, f"{who}: {text}") for turn, (_, who, text) in enumerate(task.turns))


def tools(solver: Any = None) -> Tools:
    return Tools(solver or Scripted(), HashEncoder())


def history(*sessions: tuple[str | None, Sequence[str]], speakers: Sequence[str] = ("Ann",)) -> History:
    return History(
        "h",
        "g",
        "test",
        tuple(
            Session(
                f"s{s}",
                date,
                tuple(Turn(f"t{s}.{t}", speakers[t % len(speakers)], text) for t, text in enumerate(texts)),
            )
            for s, (date, texts) in enumerate(sessions)
        ),
    )


def stored(of: History, budget: int = 10**6, solver: Any = None, **options: Any) -> Store:
    return write_store(Lightmem(**options), of, budget, tools(solver))


def texts(store: Store) -> list[str]:
    return [entry.text for entry in store.entries]


# --- compression


def test_the_words_that_tell_least_go_first_and_order_stays() -> None:
    statistics = WordStatistics(["the red car", "the blue car", "the green boat"])  # the 3, car 2, others 1 of 9
    assert statistics.information("the") == pytest.approx(np.log2(3))
    assert statistics.information("Boat!") == pytest.approx(np.log2(9))
    assert statistics.compress("the red car and the boat", 0.5, 512) == "red and boat"
    assert statistics.compress("the red car", 1.0, 512) == "the red car"


def test_negations_digits_and_ends_of_sentences_stay() -> None:
    statistics = WordStatistics(["not 7 never can't"] * 9 + ["zebra quagga okapi"])
    assert statistics.compress("zebra not quagga 7 okapi never", 0.1, 512) == "not 7 never"
    assert statistics.compress("zebra okapi not. quagga not!", 0.4, 512) == "not. not!"
    assert WordStatistics(["so it is"] * 9).compress("Lisbon it is. Porto", 0.5, 512) == "Lisbon. Porto"


def test_a_long_message_is_compressed_again_until_it_is_under_the_limit() -> None:
    text = " ".join(chr(97 + at % 26) + chr(97 + at % 25) + "ox" for at in range(900))
    statistics = WordStatistics([text])
    once = statistics.compress(text, 0.8, 10**6)
    assert len(once.split()) == 720
    assert count_tokens(statistics.compress(text, 0.8, 512)) < 512
    assert statistics.compress("北京" * 2000, 0.5, 512) == "北京" * 2000  # one word as written: kept


@given(st.text(alphabet="ab c.!\n字7", min_size=1, max_size=120).filter(str.strip), st.floats(0.05, 1))
def test_compression_keeps_words_in_order_and_never_leaves_nothing(text: str, rate: float) -> None:
    shorter = WordStatistics([text]).compress(text, rate, 512)
    assert shorter.strip()
    kept = iter(text.split())
    assert all(any(word.rstrip(".!") == one.rstrip(".!") for one in kept) for word in shorter.split())


# --- topics and buffers


def unit(*rows: Sequence[float]) -> Any:
    vectors = np.array(rows, dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_the_threshold_rises_until_a_cut_exists_and_then_stops() -> None:
    vectors = unit([1, 0], [1, 0], [0.45, 0.893], [0.45, 0.893], [0.9, 0.436])  # 1, .45, 1, .794
    assert topic_cuts(vectors, [0.2, 0.3, 0.4]) == []
    assert topic_cuts(vectors, [0.2, 0.5, 0.8]) == [2]
    assert topic_cuts(vectors, [0.2, 0.8]) == [2, 4]
    assert topic_cuts(vectors[:1], [0.5]) == []


def test_thresholds_are_those_of_the_release() -> None:
    assert Lightmem()._thresholds() == (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)


def test_an_overflow_cuts_topics_and_the_last_one_waits_on() -> None:
    vectors = unit([1, 0], [1, 0], [0, 1], [0, 1], [1, 0])
    buffer = SensoryBuffer(40, (0.2, 0.5))
    # The fifth does not fit beside four of ten: two leave as a topic, two wait on with it and are cut at the end.
    assert buffer.topics([10, 10, 10, 10, 10], vectors) == [range(0, 2), range(2, 4), range(4, 5)]
    # Without a cut all leave together.
    assert buffer.topics([10] * 5, unit(*[[1, 0]] * 5)) == [range(0, 4), range(4, 5)]
    assert buffer.topics([], vectors[:0]) == []


def test_an_oversize_message_is_a_topic_of_its_own() -> None:
    assert SensoryBuffer(40, (0.5,)).topics([10, 99, 10], unit(*[[1, 0]] * 3)) == [
        range(0, 1),
        range(1, 2),
        range(2, 3),
    ]


@given(st.lists(st.integers(0, 60), max_size=30), st.integers(1, 80), st.integers(0, 99))
def test_topics_and_batches_hold_everything_once_in_order(tokens: list[int], limit: int, seed: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(len(tokens), 4)).astype(np.float32)
    vectors = unit(*vectors) if tokens else vectors
    topics = SensoryBuffer(limit, (0.2, 0.5)).topics(tokens, vectors)
    assert [at for topic in topics for at in topic] == list(range(len(tokens)))
    assert all(sum(tokens[at] for at in topic) <= limit or len(topic) == 1 for topic in topics)
    sums = [sum(tokens[at] for at in topic) for topic in topics]
    batches = list(gather(sums, limit))
    assert [at for batch in batches for at in batch] == list(range(len(topics)))


def test_one_extraction_a_flush_of_the_short_term_buffer_all_in_one_call() -> None:
    solver = Scripted()
    of = history(
        *((f"2023-01-{day:02}", [f"{text} {'and so on ' * 10}{day}." for text in SAYINGS]) for day in range(1, 9))
    )
    stored(of, solver=solver, update="none", rate=1.0, sensory_tokens=100, short_term_tokens=200)
    (call,) = solver.calls
    assert len(call) > 2
    sizes = [sum(count_tokens(text) for _, _, text in task.turns) for task in call]
    assert all(size <= 200 for size in sizes)
    assert [turn for task in call for turn in task.turns] == [
        (session.date, "Ann", turn.text) for session, turn in of.turns()
    ]


def test_an_assistants_messages_join_the_users_and_are_read_only_on_demand() -> None:
    of = history(
        ("2023-01-01", ["I moved to Lisbon.", "How nice of you.", "I like it."]), speakers=("user", "assistant")
    )
    store = stored(of, rate=1.0)
    assert texts(store) == ["user: I moved to Lisbon.", "user: I like it."]
    assert store.counts["turns_not_shown"] == 1
    assert len(texts(stored(of, rate=1.0, assistant=True))) == 3


# --- entries


def test_a_fact_has_the_turn_and_date_of_its_message() -> None:
    of = history(("2023-01-01", ["I moved to Lisbon."]), (None, ["I like tea."]))
    store = stored(of, rate=1.0)
    assert [(entry.text, entry.sources, entry.date) for entry in store.entries] == [
        ("Ann: I moved to Lisbon.", ("t0.0",), "2023-01-01"),
        ("Ann: I like tea.", ("t1.0",), None),
    ]
    assert len({entry.id for entry in store.entries}) == 2


@pytest.mark.parametrize("place", [0, 10, 20])
def test_injected_evidence_survives_an_unlimited_budget(place: int) -> None:
    sayings = SAYINGS * 5
    sayings.insert(place, NEEDLE)
    whole = stored(history(("2023-01-01", sayings)), rate=1.0)
    assert any(NEEDLE in text for text in texts(whole))
    assert whole.counts["turns_covered"] == whole.counts["turns_total"]
    shorter = stored(history(("2023-01-01", sayings)))
    assert any({"locker", "4417", "Zoe", "spare"} <= set(text.replace(".", "").split()) for text in texts(shorter))


def test_the_budget_keeps_the_newest_and_counts_the_rest() -> None:
    of = history(*((f"2023-01-{day:02}", SAYINGS) for day in range(1, 20)))
    everything = stored(of)
    for budget in (1, 15, 40, 100, 333):
        store = stored(of, budget)
        assert store.tokens <= budget
        kept = len(store.entries)
        assert store.entries == everything.entries[len(everything.entries) - kept :]
        counts = store.counts
        assert counts["facts_evicted"] + counts["facts_too_long"] + kept == counts["facts"] == 76
        assert counts["dropped_over_budget"] == 0


def test_a_fact_longer_than_the_budget_does_not_empty_the_store() -> None:
    store = stored(history(("2023-01-01", ["I moved to Lisbon.", "So " * 200])), 60, rate=1.0)
    assert (texts(store), store.counts["facts_too_long"]) == (["Ann: I moved to Lisbon."], 1)


def test_a_failed_extraction_loses_its_messages_and_says_so() -> None:
    of = history(("2023-01-01", [f"{text} {'and so on ' * 10}" for text in SAYINGS * 3]))
    store = stored(of, solver=Scripted(failing=[0]), sensory_tokens=100, short_term_tokens=100)
    assert store.counts["extractions_failed"] == store.counts["status_parse_error"] == 1
    assert store.counts["turns_lost"] + store.counts["facts"] == 12


# --- sleep


def test_only_newer_entries_that_are_alike_enough_count_against_an_older_one() -> None:
    vectors = unit([1, 0, 0], [0, 1, 0], [1, 0.3, 0], [1, 0.05, 0])  # 0-2 .958, 0-3 .999, 2-3 .970, 1-2 .287
    assert newer_lookalikes(vectors, 20, 10, 0.9) == {0: [3, 2], 2: [3]}
    assert newer_lookalikes(vectors, 20, 10, 0.98) == {0: [3]}
    assert newer_lookalikes(vectors, 20, 1, 0.9) == {0: [3, 2]}  # the queue of 3 has room for 0 alone
    assert newer_lookalikes(vectors, 1, 10, 0.9) == {0: [3, 2]}
    assert newer_lookalikes(vectors[:0], 20, 10, 0.9) == {}


def alike() -> History:
    """Three sessions say nearly the same, one does not."""
    said = [
        "Zoe rows on the lake in June.",
        "I bake plum cake.",
        "Zoe rows on the lake in June!",
        "Zoe rows on the lake in June!!",
    ]
    return history(*((f"2023-0{month}-01", [text]) for month, text in enumerate(said, 1)))


def test_decisions_are_asked_in_one_call_of_older_entries_only() -> None:
    solver = Scripted()
    stored(alike(), solver=solver, rate=1.0)
    asked = solver.calls[1]
    assert [(task.entry[0], [date for date, _ in task.newer]) for task in asked] == [
        ("2023-01-01", ["2023-03-01", "2023-04-01"]),
        ("2023-03-01", ["2023-04-01"]),
    ]


def test_updated_and_deleted_entries() -> None:
    reword = {"2023-01-01": Update("update", "Zoe rows every June."), "2023-03-01": Update("delete")}
    store = stored(alike(), solver=Scripted(lambda task: reword[task.entry[0]]), rate=1.0)
    assert [(entry.text, entry.sources, entry.date) for entry in store.entries] == [
        ("Zoe rows every June.", ("t0.0", "t2.0", "t3.0"), None),
        ("Ann: I bake plum cake.", ("t1.0",), "2023-02-01"),
        ("Ann: Zoe rows on the lake in June!!", ("t3.0",), "2023-04-01"),
    ]
    assert (store.counts["entries_updated"], store.counts["entries_deleted"], store.counts["updates_asked"]) == (
        1,
        1,
        2,
    )


def test_an_update_within_one_session_keeps_its_date() -> None:
    of = history(("2023-01-01", ["Zoe rows on the lake in June.", "Zoe rows on the lake in June!"]))
    store = stored(of, solver=Scripted(lambda task: Update("update", "Zoe rows.")), rate=1.0)
    assert (store.entries[0].text, store.entries[0].date) == ("Zoe rows.", "2023-01-01")


def test_a_failed_decision_leaves_the_entry_alone_and_is_counted() -> None:
    store = stored(alike(), solver=Scripted(lambda task: None), rate=1.0)
    assert len(store.entries) == 4
    assert store.counts["updates_failed"] == 2


def test_ways_to_update() -> None:
    solver = Scripted()
    assert len(stored(alike(), solver=solver, update="none", rate=1.0).entries) == 4
    assert len(solver.calls) == 1
    online = stored(alike(), update="online", rate=1.0)  # as released: nothing is written
    assert (online.entries, online.counts["facts_not_written"]) == ((), 4)


def test_ranking_is_by_cosine_over_the_whole_store() -> None:
    store = stored(alike(), rate=1.0)
    (ranking,) = Lightmem().retrieve(store, [Query("Who can bake a plum cake?")], tools())
    assert ranking.hits[0].position == 1
    assert sorted(hit.position for hit in ranking.hits) == [0, 1, 2, 3]


# --- tasks


def failed(parsed: Any) -> bool:
    return isinstance(parsed, ParseFailure)


def test_tasks_keep_the_contract_and_show_their_inputs() -> None:
    task = ListFacts((("2023-05-08", "Ann", "I {moved}."), (None, "Bo", "Oh.")))
    update = DecideUpdate(("2023-05-08", "Ann has a cat."), ((None, "Her cat is Mo."),))
    assert isinstance(task, Task)
    assert isinstance(update, Task)
    shown = task.messages()[1]["content"]
    assert "[8 May 2023]\n1. Ann: I {moved}.\n[undated]\n2. Bo: Oh." in shown
    assert "[8 May 2023] Ann has a cat." in update.messages()[1]["content"]
    assert "- [undated] Her cat is Mo." in update.messages()[1]["content"]


@pytest.mark.parametrize(
    "reply",
    [
        "", "Ann moved.", "[]", "{}", '{"facts": "none"}', '{"facts": [{"message": 0, "fact": "x"}]}',
        '{"facts": [{"message": 3, "fact": "x"}]}', '{"facts": [{"message": true, "fact": "x"}]}',
        '{"facts": [{"message": "1", "fact": "x"}]}', '{"facts": [{"message": 1, "fact": "..."}]}',
        '{"facts": [{"message": 1}]}', '{"facts": ["x"]}', '{"facts": [{"message": 1, "fact": "' + "x" * 401 + '"}]}',
        '{"facts": [{"message": 1, "fact": "x"',
    ],
)  # fmt: skip
def test_a_list_of_facts_is_read_strictly(reply: str) -> None:
    task = ListFacts(((None, "Ann", "a"), (None, "Bo", "b")))
    assert failed(task.parse(reply))
    assert task.parse('{"facts": []}') == ()
    fenced = '```json\n{"facts": [{"message": 2, "fact": " Bo  stays. "}]}\n```'
    assert task.parse(fenced) == (SourcedFact(1, "Bo stays."),)


@pytest.mark.parametrize(
    "reply",
    [
        "", "delete", '{"action": "drop", "text": ""}', '{"action": "update", "text": ""}', '{"action": "update"}',
        '{"action": "delete", "text": "gone"}', '{"action": ["delete"], "text": ""}', '{"action": "ignore", "text": 3}',
    ],
)  # fmt: skip
def test_a_decision_is_read_strictly(reply: str) -> None:
    task = DecideUpdate((None, "a"), ((None, "b"),))
    assert failed(task.parse(reply))
    assert task.parse('{"action": "IGNORE"}') == Update("ignore")


@pytest.mark.parametrize("reply", ["", "Sure!", '{"facts": [{"message": 99, "fact": "x"}]}', "とても", "{" * 10_000])
def test_garbage_of_a_language_model_never_crashes_and_shows_in_counts(reply: str) -> None:
    store = stored(alike(), solver=LanguageModelSolver(Parrot(reply)))
    assert store.entries == ()
    assert (store.counts["extractions_failed"], store.counts["turns_lost"]) == (1, 4)


# --- without a language model


def vectors() -> Vectors:
    return Vectors(HashEncoder())


def test_statements_are_facts_with_days_written_out_and_questions_are_not() -> None:
    turns = (
        ("2023-05-08", "Ann", "Hi Bo! I moved to Lisbon yesterday. How are you?"),
        ("2023-05-08", "Bo", "Wow!"),
        (None, "Bo", "My sister keeps bees."),
    )
    (facts,) = list_facts([ListFacts(turns)], vectors(), Weights())
    assert facts == (
        SourcedFact(0, "Ann: I moved to Lisbon yesterday (7 May 2023)."),
        SourcedFact(2, "Bo: My sister keeps bees."),
    )


@pytest.mark.parametrize(
    ("text", "newer", "expected"),
    [
        ("Ann: I keep two cats.", "Ann: I keep three cats.", Update("delete")),
        ("Ann: I eat meat.", "Ann: I never eat meat.", Update("delete")),
        ("Ann: I keep bees.", "Ann: I keep bees near Porto.", Update("update", "Ann: I keep bees near Porto.")),
        ("Ann: I keep bees near Porto.", "Ann: I keep bees.", Update("ignore")),
        ("Ann: I keep two cats.", "Bo: I keep three cats.", Update("ignore")),
        ("Ann: I keep two cats.", "Ann: I ran three marathons.", Update("ignore")),
    ],
)
def test_what_a_newer_note_does(text: str, newer: str, expected: Update) -> None:
    task = DecideUpdate(("2023-01-01", text), (("2023-02-01", newer),))
    assert decide_updates([task], vectors(), Weights()) == [expected]


# --- bad values


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rate": 0.0}, "rate must be above 0"),
        ({"rate": 1.5}, "at most 1"),
        ({"update": "later"}, "choose from sleep, none, online"),
        ({"cut_step": 0.0}, "cut_step must be above 0"),
        ({"lowest_cut": 0.6}, "lowest_cut at most highest_cut"),
    ],
)
def test_values_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        stored(alike(), **options)


def test_every_hyperparameter_has_its_source_on_the_card() -> None:
    assert list(Lightmem.card) == [field.name for field in fields(Lightmem)]


def test_entries_cost_what_the_harness_counts() -> None:
    store = stored(alike(), 60)
    assert sum(map(entry_tokens, store.entries)) == store.tokens <= 60
