"""Operations are checked whole and applied or skipped; episodes and facts are found by fused ranks, each apart."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from memgauge.errors import InputError
from memgauge.llm.chat import ChatReply, ChatRequest
from memgauge.memory.base import Query, Tools
from memgauge.memory.batches import read_batches
from memgauge.memory.memorycpt import MemoryCpt
from memgauge.memory.operations import Draft, checked, cut_episode, episode_text
from memgauge.protocol.conditions import write_store
from memgauge.records import Entry, History, Result, Session, Store, Turn, Usage
from memgauge.retrieval.fusion import fuse
from memgauge.solvers.extractive.solver import ExtractiveSolver
from memgauge.solvers.language_model import LanguageModelSolver
from memgauge.tasks.extract_facts import ExtractFacts
from memgauge.tasks.merge_episodes import Merge, MergeEpisodes
from memgauge.tasks.segment_batch import Segment, SegmentBatch
from memgauge.tasks.write_episode import Episode, WriteEpisode
from memgauge.text.render import entry_tokens
from memgauge.text.tokens import count_tokens
from memgauge.text.words import words

SAYINGS = ("I moved to Lisbon on 3 March.", "That is great!", "I am allergic to peanuts.", "My cat is called Mo.")


class HashEncoder:
    """Unit vectors of hashed words: deterministic, and alike where words are shared."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.zeros((len(texts), 256), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in words(text):
                vectors[row, sha256(word.encode()).digest()[0]] += 1
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.divide(vectors, lengths, out=vectors, where=lengths > 0)


def grouped(task: SegmentBatch) -> Any:
    """Pairs of turns."""
    size = len(task.turns)
    return tuple(Segment(tuple(range(at, min(at + 2, size))), f"part {at}") for at in range(0, size, 2))


def told(task: WriteEpisode) -> Any:
    return Episode(task.topic or "talk", "\n".join(f"{who}: {text}" for who, text in task.turns), task.date)


ALONE: dict[str, Callable[[Any], Any]] = {
    "segment_batch": grouped,
    "write_episode": told,
    "merge_episodes": lambda task: Merge(None, None),
    "extract_facts": lambda task: (f"Fact of {task.turns[0][1]}",),
}


class Writer:
    """Solves each task by a function of its name; notes what it was asked."""

    def __init__(self, **solved: Callable[[Any], Any]) -> None:
        self.solved = {**ALONE, **solved}
        self.asked: list[Any] = []
        self.calls: list[str] = []

    def solve(self, tasks: Sequence[Any]) -> list[Any]:
        self.asked += tasks
        self.calls.append(tasks[0].name)
        return [
            one if isinstance(one := self.solved[task.name](task), Result) else Result(one, "ok", Usage(10, 5, 1))
            for task in tasks
        ]


FAILED: Result[Any] = Result(None, "parse_error", Usage(10, 5, 1), "no JSON")


def history(sessions: int = 3, turns: int = 4) -> History:
    return History(
        "h",
        "g",
        "train",
        tuple(
            Session(
                f"s{s}",
                f"2023-05-{s + 1:02d}T10:00",
                tuple(Turn(f"t{s}.{t}", "Bob" if t % 2 else "Ann", f"{SAYINGS[t % 4]} {s}{t}") for t in range(turns)),
            )
            for s in range(sessions)
        ),
    )


def write(writer: Any, budget: int = 5000, of: History | None = None, **options: Any) -> Store:
    return write_store(MemoryCpt(**options), of or history(), budget, Tools(writer, HashEncoder()))


# --- writing


def test_episodes_and_facts_stand_in_history_order_with_their_turns_and_dates() -> None:
    store = write(Writer(), similarity=1.0)
    assert [entry.id for entry in store.entries][:4] == ["episode-1", "fact-1", "episode-2", "fact-2"]
    assert store.entries[0].sources == ("t0.0", "t0.1")
    assert store.entries[1].sources == ("t0.0", "t0.1")
    assert {entry.date for entry in store.entries if entry.sources[0].startswith("t1")} == {"2023-05-02T10:00"}
    assert store.entries[0].text == "part 0\nAnn: I moved to Lisbon on 3 March. 00\nBob: That is great! 01"
    assert store.warnings == ()
    counts = store.counts
    assert (counts["operations"], counts["segments"], counts.get("operations_invalid", 0)) == (3 + 6 + 6, 6, 0)
    assert (counts["writer_tasks"], counts["writer_input_tokens"]) == (15, 150)


def test_calls_are_few_episodes_at_once_and_facts_by_rounds() -> None:
    writer = Writer()
    write(writer, of=history(5), round_sessions=2, similarity=1.0)
    assert writer.calls == ["segment_batch", "write_episode", *["extract_facts"] * 3]
    known = [task.known for task in writer.asked if task.name == "extract_facts"]
    assert [len(some) for some in known] == [0] * 4 + [4] * 4 + [8] * 2


def test_nothing_of_the_future_or_of_another_session_is_in_a_batch() -> None:
    writer = Writer()
    write(writer)
    for task in writer.asked:
        if task.name == "segment_batch":
            assert len({text[-2] for _, text in task.turns}) == 1


BROKEN: dict[str, list[Any]] = {
    "segment_batch": [
        FAILED,
        Result(None, "truncated"),
        (),
        (Segment((0, 1, 2, 3, 4), "x"),),
        (Segment((-1,), "x"),),
        (Segment((0, 1), "x"), Segment((1, 2, 3), "y")),
        (Segment((0, 0), "x"),),
        (Segment((), "x"),),
        (Segment((1, 0), "x"),),
        (Segment((0,), ""),),
        tuple(Segment((0,), "x") for _ in range(10_000)),
    ],
    "write_episode": [
        FAILED,
        Episode("", "Ann moved.", None),
        Episode("x", " ", None),
        Episode("x", "Ann moved.", "8 May"),
        Episode("x", "y" * 9_000, None),
    ],
    "extract_facts": [FAILED, ("",), ("Ann moved.", " "), ("a b",) * 10_000, ["Ann moved."], ("x" * 500,)],
}


@pytest.mark.parametrize(("name", "output"), [(name, one) for name, some in BROKEN.items() for one in some])
def test_an_operation_that_does_not_hold_is_counted_and_changes_nothing(name: str, output: Any) -> None:
    store = write(Writer(**{name: lambda task: output}))
    counts = store.counts
    asked = {"segment_batch": 3, "write_episode": 6, "extract_facts": 6}[name]
    assert counts[f"{name}_invalid"] == counts["operations_invalid"] == asked
    kinds = Counter(entry.id.partition("-")[0] for entry in store.entries)
    if name == "segment_batch":  # a batch that is not grouped is one segment
        assert (counts["batches_ungrouped"], kinds) == (3, {"episode": 3, "fact": 3})
    elif name == "write_episode":
        assert (counts["operations"], kinds) == (9, {})
    else:
        assert kinds == {"episode": 6}


def test_turns_that_a_grouping_leaves_out_are_counted_and_not_invented() -> None:
    store = write(Writer(segment_batch=lambda task: (Segment((0, 3), "x"),)))
    assert store.counts["pieces_left_out"] == 6
    assert store.counts["turns_covered"] == 6
    assert store.entries[0].sources == ("t0.0", "t0.3")


def twice() -> History:
    """The same talk on two days, and another one between them."""
    days = history(3, 2).sessions
    return replace(
        history(), sessions=(days[0], replace(days[1], turns=(Turn("x", "Ann", "Roses are red."),)), days[2])
    )


def test_a_merge_replaces_the_older_episode_and_comes_from_the_turns_of_both() -> None:
    merged = Episode("moves", "Ann moved to Lisbon on 3 March.", "2023-05-01")
    writer = Writer(merge_episodes=lambda task: Merge(0, merged))
    store = write(writer, of=twice(), similarity=0.6)
    (task,) = [task for task in writer.asked if task.name == "merge_episodes"]
    assert [one.title for one in task.candidates] == ["part 0"]
    episodes = [entry for entry in store.entries if entry.id.startswith("episode")]
    assert [entry.sources for entry in episodes] == [("t0.0", "t0.1", "t2.0", "t2.1"), ("x",)]
    assert (episodes[0].date, episodes[0].text) == (
        None,
        "moves (1 May 2023 to 3 May 2023)\nAnn moved to Lisbon on 3 March.",
    )
    assert store.counts["episodes_merged"] == 1


@pytest.mark.parametrize(
    "merge",
    [
        FAILED,
        Merge(1, Episode("x", "Ann moved.", None)),
        Merge(-1, Episode("x", "Ann moved.", None)),
        Merge(0, None),
        Merge(None, Episode("x", "Ann moved.", None)),
        Merge(0, Episode("x", "", None)),
    ],
)
def test_a_merge_that_does_not_hold_leaves_both_episodes_as_they_were(merge: Any) -> None:
    sound = write(Writer(), of=twice(), similarity=0.6)
    store = write(Writer(merge_episodes=lambda task: merge), of=twice(), similarity=0.6)
    assert store.entries == sound.entries
    assert store.counts["merge_episodes_invalid"] == 1
    assert sound.counts.get("merge_episodes_invalid", 0) == store.counts.get("episodes_merged", 0) == 0


def test_only_close_enough_neighbours_are_merge_candidates() -> None:
    asked = {}
    for similarity in (0.5, 0.85, 1.0):
        writer = Writer()
        write(writer, of=twice(), similarity=similarity)
        asked[similarity] = sum(task.name == "merge_episodes" for task in writer.asked)
    assert asked[1.0] == 0
    assert asked[0.5] >= asked[0.85] >= asked[1.0]
    writer = Writer()
    write(writer, of=history(12, 2), similarity=0.3, neighbours=2)
    assert max(len(task.candidates) for task in writer.asked if task.name == "merge_episodes") == 2


def test_a_fact_said_twice_in_the_same_words_is_held_once() -> None:
    store = write(Writer(extract_facts=lambda task: ("Ann has a cat.", "ann has a CAT")))
    assert [entry.text for entry in store.entries if entry.id.startswith("fact")] == ["Ann has a cat."]
    assert store.counts["facts_repeated"] == 11


class Replies:
    """A chat model with one reply to everything."""

    def __init__(self, text: str) -> None:
        self.text = text

    def generate(self, requests: Sequence[ChatRequest], on_reply: Any = None) -> list[ChatReply]:
        return [ChatReply(self.text, "stop", 10, 5) for _ in requests]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Sure! Here is the summary you asked for.",
        "アンは引っ越しました。",
        "<think>",
        '{"episodes":[{"turns":"1-99","topic":"x"}]}',
        '{"facts":[' + ",".join(['"a b"'] * 10_000) + "]}",
        '{"target":7,"title":"x","content":"y z","date":null}',
    ],
)
def test_a_model_that_replies_garbage_leaves_a_counted_and_empty_store(text: str) -> None:
    store = write(LanguageModelSolver(Replies(text)))  # type: ignore[arg-type]
    assert store.entries == ()
    assert store.counts["operations"] == store.counts["operations_invalid"] == 3 + 3
    assert store.warnings == ("empty store",)


@given(st.lists(st.sampled_from(["ok", "bad", "fail"]), min_size=16, max_size=16), st.integers(1, 400))
def test_whatever_fails_the_counts_add_up_and_the_budget_holds(fates: list[str], budget: int) -> None:
    left = list(fates)

    def fated(sound: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def solve(task: Any) -> Any:
            fate = left.pop() if left else "ok"
            bad = ("?",) if task.name == "extract_facts" else Episode("x", "", None)
            return {"ok": lambda: sound(task), "bad": lambda: bad, "fail": lambda: FAILED}[fate]()

        return solve

    writer = Writer(
        **{name: fated(sound) for name, sound in ALONE.items() if name in ("write_episode", "extract_facts")}
    )
    store = write(writer, budget)
    assert store.tokens <= budget
    assert store.counts["operations"] == len(writer.asked)
    invalid = sum(count for name, count in store.counts.items() if name in {f"{kind}_invalid" for kind in ALONE})
    assert store.counts.get("operations_invalid", 0) == invalid
    assert store.counts["dropped_over_budget"] == 0


def test_the_budget_is_shared_among_episodes_and_what_says_more_is_cut() -> None:
    writer = Writer(write_episode=lambda task: Episode("x", ("Ann moved to Porto. " * 200).strip(), task.date))
    store = write(writer, 600)
    asked = [task.budget_tokens for task in writer.asked if task.name == "write_episode"]
    assert sum(asked) <= 600 * 0.95
    assert store.counts["episodes_cut"] == 6
    assert 300 < store.tokens <= 600


def test_a_long_turn_is_read_in_pieces_and_a_long_session_in_batches() -> None:
    turns = tuple(Turn(f"t{at}", "Ann", "I like tea. " * (400 if at == 1 else 1)) for at in range(5))
    of = History("h", "g", "train", (Session("s", None, (*turns, Turn("blank", "Bob", "  "))),))
    batches = read_batches(of, 3, 10_000, 200)
    assert all(len(batch.pieces) <= 3 for batch in batches)
    assert all(count_tokens(piece.text) <= 200 for batch in batches for piece in batch.pieces)
    assert {source for batch in batches for source in batch.sources} == {turn.id for turn in turns}
    assert sum(piece.text.count("tea") for batch in batches for piece in batch.pieces) == 404
    assert all(batch.tokens <= 420 for batch in read_batches(of, 99, 400, 200))


@pytest.mark.parametrize("budget", [1, 5, 20, 60])
def test_a_cut_episode_keeps_its_budget_and_a_word(budget: int) -> None:
    episode = Episode("A rather long title about many things", "Ann moved. Bob stayed at home. " * 20, None)
    cut = cut_episode(episode, budget)
    assert words(cut.content)
    assert words(cut.title)
    assert count_tokens(cut.text) <= max(budget + 2, 5)


def test_times_that_no_heading_tells_are_written_out() -> None:
    episode = Episode("trip", "Ann flew.", "2023-05-07")
    assert episode_text(episode, ["2023-05-07T10:00"]) == "trip\nAnn flew."
    assert episode_text(episode, [None]) == "trip (7 May 2023)\nAnn flew."
    assert episode_text(episode, [None, "2023-05-08"]) == "trip (8 May 2023)\nAnn flew."


def test_an_output_that_the_task_would_not_read_is_refused() -> None:
    counts: Counter[str] = Counter()
    task = ExtractFacts(None, (("Ann", "Hi"),), Episode("a", "b", None), ())
    assert checked(task, Result(("Ann moved.",), "ok"), counts) == ("Ann moved.",)
    assert checked(task, Result(("Ann  moved.",), "ok"), counts) is None
    assert (counts["operations"], counts["operations_invalid"]) == (2, 1)


def test_a_draft_finds_the_closest_first_and_ties_by_age() -> None:
    draft = Draft(HashEncoder())
    texts = ["red roses", "red red roses", "red roses", "blue sea"]
    for text, vector in zip(texts, HashEncoder().encode(texts), strict=True):
        draft.create(Episode("x", text, None), ("t",), vector)
    (vector,) = HashEncoder().encode(["red roses"])
    assert draft.near(vector, 3, 0.5) == [0, 2, 1]
    assert draft.near(vector, 3, 0.97) == [0, 2]
    assert draft.near(vector, 1, 0.5) == [0]


# --- retrieving


def stored(episodes: Sequence[str], facts: Sequence[str]) -> Store:
    entries = [Entry(f"episode-{at}", text, (f"t{at}",)) for at, text in enumerate(episodes)]
    entries += [Entry(f"fact-{at}", text, (f"t{at}",)) for at, text in enumerate(facts)]
    mixed = tuple(sorted(entries, key=lambda entry: int(entry.sources[0][1:])))
    return Store("h", "memorycpt", mixed, 0, 10**6)


EPISODES = [f"episode about tea and {word}" for word in ("rain", "sea", "Oslo", "peanuts")]
FACTS = [f"Ann likes {word}" for word in ("rain", "tea", "Oslo")]
BOTH = stored(EPISODES, FACTS)


def ranked(text: str, **options: Any) -> list[str]:
    (ranking,) = MemoryCpt(**options).retrieve(BOTH, [Query(text)], Tools(Writer(), HashEncoder()))
    hits = ranking.hits
    assert list(hits) == sorted(hits, key=lambda hit: (-hit.score, hit.position))
    return [BOTH.entries[hit.position].text for hit in hits]


def test_episodes_come_first_then_facts_each_best_first() -> None:
    found = ranked("Oslo")
    assert found[0] == "episode about tea and Oslo"
    assert found[4] == "Ann likes Oslo"
    assert set(found[:4]) == set(EPISODES)
    assert set(found[4:]) == set(FACTS)


def test_depth_bounds_what_is_retrieved_after_fusion_or_each_list_before() -> None:
    assert ranked("Oslo", episodes=1, facts=2) == ["episode about tea and Oslo", *ranked("Oslo")[4:6]]
    before = ranked("Oslo", episodes=1, facts=1, depth_bounds="before")
    assert before == ["episode about tea and Oslo", "Ann likes Oslo"]
    # the lists disagree: dense sees the short text, BM25 the rare word, and both get in
    assert len(ranked("tea rain rain", episodes=2, facts=1, depth_bounds="before")) >= 3


def test_scores_are_reciprocal_ranks_with_k_60() -> None:
    (ranking,) = MemoryCpt().retrieve(BOTH, [Query("Oslo")], Tools(Writer(), HashEncoder()))
    assert ranking.hits[0].score == pytest.approx(1 + 2 / 61)
    facts = [hit.score for hit in ranking.hits if hit.score < 1]
    assert facts == pytest.approx([each.score for each in fuse([[2, 0, 1], [2]])])


def test_an_index_without_entries_and_a_query_without_words_are_no_error() -> None:
    tools = Tools(Writer(), HashEncoder())
    (only_facts,) = MemoryCpt().retrieve(stored([], FACTS), [Query("Oslo")], tools)
    assert len(only_facts.hits) == 3
    assert len(ranked("")) == len(BOTH.entries)
    assert MemoryCpt().retrieve(BOTH, [], tools) == []


@pytest.mark.parametrize("options", [{"depth_bounds": "both"}, {"similarity": 1.5}, {"episode_share": 2.0}])
def test_impossible_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"(?i)memorycpt"):
        write(Writer(), **options)


# --- with the extractive writer


def test_the_extractive_writer_keeps_what_was_said_and_every_operation_holds() -> None:
    store = write(ExtractiveSolver(HashEncoder()), 400)
    text = "\n".join(entry.text for entry in store.entries)
    assert "Lisbon" in text
    assert "peanuts" in text
    assert store.counts.get("operations_invalid", 0) == 0
    assert sum(map(entry_tokens, store.entries)) <= 400
    assert store.warnings == ()


def test_questions_never_reach_the_writer() -> None:
    fields = {name for task in (SegmentBatch, WriteEpisode, MergeEpisodes, ExtractFacts) for name in task.__slots__}
    assert fields.isdisjoint({"question", "questions", "golds", "evidence", "type"})
