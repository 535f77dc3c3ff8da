"""What a student learns from: canonical replies of train histories, split by history, nothing of what is evaluated."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from memgauge.datasets.locomo import read as read_locomo
from memgauge.datasets.synthetic.generate import generate, generate_with_facts
from memgauge.datasets.synthetic.options import SyntheticOptions
from memgauge.errors import InputError
from memgauge.memory.memorycpt import MemoryCpt
from memgauge.records import Benchmark, History, Question, Result, Session, Turn
from memgauge.solvers.extractive.solver import ExtractiveSolver
from memgauge.tasks.answer_question import AnswerQuestion
from memgauge.tasks.extract_facts import ExtractFacts
from memgauge.tasks.merge_episodes import Merge, MergeEpisodes
from memgauge.tasks.summarise_for_question import SummariseForQuestion
from memgauge.tasks.write_episode import Episode, WriteEpisode
from memgauge.text.words import words
from memgauge.training.annotations import (
    annotation_traces,
    locomo_notes,
    read_locomo_notes,
    synthetic_notes,
)
from memgauge.training.sharegpt import read_sharegpt, to_sharegpt
from memgauge.training.traces import (
    Collected,
    Marks,
    RecordingSolver,
    Trace,
    check_leaks,
    collect_traces,
    read_traces,
    split_traces,
    without_marks,
    write_traces,
)

NOTE = Episode("A move", "Ann moved.", None)
FACTS = ExtractFacts(None, (("Ann", "I moved."),), NOTE, ())
OPTIONS = SyntheticOptions(histories=6, sessions_per_history=4, turns_per_session=6, questions_per_history=3)
SEED = 5


class HashEncoder:
    """Unit vectors of hashed words: deterministic, and alike where words are shared."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.zeros((len(texts), 64), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in words(text):
                vectors[row, sha256(word.encode()).digest()[0] % 64] += 1
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.divide(vectors, lengths, out=vectors, where=lengths > 0)


class Gives:
    """A teacher with one result for everything."""

    def __init__(self, result: Result[Any]) -> None:
        self.result = result

    def solve(self, tasks: Sequence[Any]) -> list[Any]:
        return [self.result for _ in tasks]


@pytest.fixture(scope="module")
def pairs() -> list[tuple[History, tuple[Question, ...]]]:
    return list(generate(OPTIONS, SEED))


@pytest.fixture(scope="module")
def collected(pairs: list[tuple[History, tuple[Question, ...]]]) -> Collected:
    train = [history for history, _ in pairs if history.split == "train"]
    encoder = HashEncoder()
    return collect_traces(train, MemoryCpt(similarity=0.7), ExtractiveSolver(encoder), encoder, 1000, "extractive")


@pytest.fixture(scope="module")
def benchmark_of(pairs: list[tuple[History, tuple[Question, ...]]]) -> Benchmark:
    questions = tuple(question for _, asked in pairs for question in asked)
    return Benchmark("synthetic", tuple(history for history, _ in pairs), questions)


# --- recording


def test_every_operation_of_a_teacher_leaves_a_trace_that_its_task_reads_back(collected: Collected) -> None:
    assert collected.unusable == {}
    kinds = Counter(trace.task for trace in collected.traces)
    assert {"segment_batch", "write_episode", "extract_facts", "merge_episodes"} == set(kinds)
    for trace in collected.traces:
        assert trace.made_by == "extractive"
        assert trace.reply == f"<think>{trace.rationale}</think>{trace.output}"
        assert trace.rationale
        assert [message["role"] for message in trace.messages] == ["system", "user"]


def test_the_replys_wrapping_is_not_learned_but_its_reason_is() -> None:
    reply = '<think>A  new\nhome.</think> Sure:\n```json\n{ "facts": ["Ann moved."] }\n```'
    recorder = RecordingSolver(Gives(Result(("Ann moved.",), "ok", reply=reply)), "model x", "h")
    recorder.solve([FACTS])
    (trace,) = recorder.traces
    assert trace.reply == '<think>A new home.</think>{"facts":["Ann moved."]}'
    assert (trace.rationale, trace.output, trace.made_by) == ("A new home.", '{"facts":["Ann moved."]}', "model x")


def test_a_merge_is_one_trace_of_decision_and_content() -> None:
    task = MergeEpisodes(NOTE, (NOTE,))
    recorder = RecordingSolver(Gives(Result(Merge(0, NOTE), "ok")), "x", "h")
    recorder.solve([task])
    (trace,) = recorder.traces
    assert trace.output == '{"target":1,"title":"A move","content":"Ann moved.","date":null}'


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (Result(None, "parse_error", reply="no"), "extract_facts_parse_error"),
        (Result(None, "truncated", reply="<think>"), "extract_facts_truncated"),
        (Result(("",), "ok"), "extract_facts_not_readable"),
    ],
)
def test_what_a_teacher_failed_at_leaves_no_trace_and_is_counted(result: Result[Any], reason: str) -> None:
    recorder = RecordingSolver(Gives(result), "x", "h")
    assert recorder.solve([FACTS]) == [result]
    assert (recorder.traces, recorder.unusable) == ([], {reason: 1})


def test_other_tasks_pass_without_a_trace() -> None:
    recorder = RecordingSolver(Gives(Result("Oslo", "ok")), "x", "h")
    recorder.solve([AnswerQuestion("Where?", "")])
    recorder.solve([SummariseForQuestion("Where?", "Ann: I moved to Oslo.", None, 30)])
    assert [trace.reply for trace in recorder.traces] == ["Oslo"]
    assert recorder.unusable == {}


def test_traces_of_a_test_history_are_refused(pairs: list[tuple[History, tuple[Question, ...]]]) -> None:
    tested = next(history for history, _ in pairs if history.split == "test")
    with pytest.raises(InputError, match="traces come from train"):
        collect_traces([tested], MemoryCpt(), Gives(Result(None, "empty")), HashEncoder(), 1000, "x")
    with pytest.raises(InputError, match="traces come from train"):
        annotation_traces(tested, [], "x")


def test_traces_come_back_from_a_file(tmp_path: Path, collected: Collected) -> None:
    write_traces(tmp_path / "traces.jsonl", collected.traces)
    assert read_traces(tmp_path / "traces.jsonl") == list(collected.traces)
    (tmp_path / "bad.jsonl").write_text('{"task": 1}\n')
    with pytest.raises(InputError, match="line 1"):
        read_traces(tmp_path / "bad.jsonl")


# --- splits


def trace(history: str = "h", text: str = "x", reply: str = "y") -> Trace:
    return Trace("extract_facts", history, ({"role": "user", "content": text},), reply, "", reply, "x")


def test_a_history_is_on_one_side_and_both_sides_are_filled() -> None:
    traces = [trace(f"h{at % 5}") for at in range(50)]
    learned, held = split_traces(traces, 0.2, 17)
    assert len(learned) + len(held) == 50
    assert {one.history for one in learned}.isdisjoint({one.history for one in held})
    assert len({one.history for one in held}) == 1
    assert split_traces(traces[::-1], 0.2, 17)[1][0].history == held[0].history
    assert len({split_traces(traces, 0.2, seed)[1][0].history for seed in range(20)}) > 1
    assert [len(side) for side in split_traces([trace(), trace("b")], 0.9, 1)] == [1, 1]
    assert [len(side) for side in split_traces([trace()], 0.5, 1)] == [1, 0]


@pytest.mark.parametrize("share", [0, 1, -0.1, 2.0])
def test_a_share_that_is_none_is_refused(share: float) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        split_traces([trace()], share, 1)


# --- leaks

SECRET = "The locker code is 4417 and Zoe keeps the spare key."
LONG = " ".join(f"and then we saw number {at}" for at in range(5))
TESTED = Benchmark(
    "b",
    (
        History(
            "t",
            "g",
            "test",
            (Session("s", None, (Turn("1", "Ann", SECRET), Turn("2", "Bob", "Ok, great!"), Turn("3", "Bob", LONG))),),
        ),
        History(
            "r", "g", "train", (Session("s", None, (Turn("1", "Ann", "This is a turn that may be learned from."),)),)
        ),
    ),
    (
        Question(
            "q", "t", "Who keeps the key?", "x", ("Zoe", "the one who lives in the house by the old mill"), None, ("1",)
        ),
        Question("p", "r", "What may be learned from?", "x", ("this",)),
    ),
)


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        (f"1. Ann: {SECRET}\n2. Bob: Hm.", "y"),
        ("x", '{"content":"Ann: THE LOCKER CODE is 4417,\\nand Zoe keeps the spare key."}'),
        (f"1. Bob: {LONG}", "y"),
        ("Question: who keeps the key", "y"),
        ("x", "It is the one who lives in the house by the old mill."),
    ],
)
def test_a_canary_of_a_test_history_is_found(text: str, reply: str) -> None:
    marks = Marks.of(TESTED)
    leak = trace(text=text, reply=reply)
    with pytest.raises(InputError, match="which b evaluates; make traces of other histories"):
        check_leaks([trace(), leak], marks)
    assert without_marks([trace(), leak], marks) == ([trace()], 1)


@pytest.mark.parametrize(
    "text",
    [
        "Ok, great!",
        "Zoe",
        "This is a turn that may be learned from.",
        "What may be learned from?",
        "The locker code is 44",
    ],
)
def test_train_histories_and_what_occurs_anywhere_are_no_leak(text: str) -> None:
    check_leaks([trace(text=text)], Marks.of(TESTED))


def test_traces_of_generated_train_histories_are_clear_of_the_test_ones(
    collected: Collected, benchmark_of: Benchmark
) -> None:
    marks = Marks.of(benchmark_of)
    kept, left_out = without_marks(collected.traces, marks)
    check_leaks(kept, marks)
    assert left_out <= len(collected.traces) // 10
    tested = next(history for history in benchmark_of.histories if history.split == "test")
    turn = max((turn for _, turn in tested.turns()), key=lambda turn: len(turn.text))
    canary = replace(kept[0], messages=({"role": "user", "content": f"1. {turn.speaker}: {turn.text}"},))
    with pytest.raises(InputError, match=r"the (?:turn|evidence) '"):
        check_leaks([*kept, canary], marks)


# --- ShareGPT


def test_a_trace_is_a_chat_and_comes_back(collected: Collected) -> None:
    rows = [to_sharegpt(one) for one in collected.traces]
    assert [turn["from"] for turn in rows[0]["conversations"]] == ["system", "human", "gpt"]
    counts: Counter[str] = Counter()
    chats = list(read_sharegpt(rows, counts))
    assert counts == {}
    assert [(chat.messages, chat.reply) for chat in chats] == [(one.messages, one.reply) for one in collected.traces]


def test_roles_come_from_labels_and_bad_rows_are_counted() -> None:
    gpt, human = {"from": "gpt", "value": "Hello."}, {"from": "human", "value": "Hi."}
    rows: list[object] = [
        {"conversations": [gpt, human, human, gpt]},
        {
            "system": "Be kind.",
            "messages": [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Yo."}],
        },
        {"conversations": [human, {"from": "gpt", "value": ""}]},
        {"conversations": [human, {"from": "robot", "value": "x"}]},
        {"conversations": [human, "x"]},
        {"conversations": "x"},
        {"conversations": [gpt]},
        {},
        "x",
    ]
    counts: Counter[str] = Counter()
    first, second = read_sharegpt(rows, counts)
    assert [(message["role"], message["content"]) for message in first.messages] == [
        ("assistant", "Hello."),
        ("user", "Hi.\nHi."),
    ]
    assert (second.messages[0], second.reply) == ({"role": "system", "content": "Be kind."}, "Yo.")
    assert counts == {
        "rows_without_reply": 1,
        "rows_with_unreadable_turn": 2,
        "rows_without_conversation": 2,
        "rows_without_question": 1,
        "rows_no_object": 1,
    }


# --- annotations


def test_the_generators_facts_teach_notes_in_the_speakers_words() -> None:
    for history, questions, facts in generate_with_facts(OPTIONS, SEED):
        if history.split != "train":
            continue
        traces = annotation_traces(history, synthetic_notes(history, facts), "synthetic facts")
        assert traces
        assert {one.task for one in traces} <= {"write_episode", "extract_facts"}
        replies = "\n".join(one.reply for one in traces)
        plain = [fact for fact in facts if fact.kind not in ("habit", "appointment", "event", "two_events")]
        assert sum(fact.value in replies for fact in plain) >= 0.9 * len(plain)
        shown = "\n".join(message["content"] for one in traces for message in one.messages)
        assert not any(question.text in shown + replies for question in questions)


def test_locomos_annotations_teach_third_person_notes(real_data: Path) -> None:
    if not (real_data / "locomo10.json").is_file():
        pytest.skip("the raw file of LoCoMo is not there")
    quirks: Counter[str] = Counter()
    annotations = read_locomo_notes(real_data / "locomo10.json", quirks)
    history, questions = next(iter(read_locomo(real_data, Counter())))
    notes = locomo_notes(history, annotations[history.id], quirks)
    traces = annotation_traces(history, notes, "locomo")
    kinds = Counter(one.task for one in traces)
    assert kinds["write_episode"] == 19
    assert kinds["extract_facts"] > 19
    first = next(one for one in traces if one.task == "write_episode")
    assert "Caroline" in first.output
    assert '"date":"2023-05-08T13:56"' in first.output
    shown = "\n".join(one.reply for one in traces)
    assert not any(question.text in shown for question in questions)
    assert WriteEpisode.name in kinds
