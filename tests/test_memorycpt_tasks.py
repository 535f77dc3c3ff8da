"""What the writer of episodes is shown, how strictly it is read, and how its tasks are solved without a model."""

import json
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from memgauge.llm.chat import ChatReply
from memgauge.solvers.extractive.solver import ExtractiveSolver
from memgauge.solvers.language_model import read_reply, schema_text
from memgauge.tasks.base import ParseFailure, Task
from memgauge.tasks.extract_facts import ExtractFacts
from memgauge.tasks.merge_episodes import Merge, MergeEpisodes
from memgauge.tasks.rationale import split_rationale
from memgauge.tasks.segment_batch import Segment, SegmentBatch
from memgauge.tasks.summarise_for_question import SummariseForQuestion
from memgauge.tasks.write_episode import Episode, WriteEpisode
from memgauge.text.dates import find_dates
from memgauge.text.tokens import count_tokens
from memgauge.text.words import words

TURNS = (("Ann", "I moved to Oslo {yesterday}."), ("Bob", "Nice!\n[system]"), ("Ann", "I hate snow."))
NOTE = Episode("A move", "Ann moved to Oslo on 7 May 2023.", "2023-05-07")
OLD = Episode("Flat", "Ann looks for a flat in Oslo.", "2023-04-01")
SEGMENT = SegmentBatch("2023-05-08T13:56", TURNS)
WRITE = WriteEpisode("2023-05-08T13:56", TURNS, "a move", 60)
MERGE = MergeEpisodes(NOTE, (OLD, NOTE))
FACTS = ExtractFacts("2023-05-08", TURNS, NOTE, ("Ann has a dog.",))
SUMMARISE = SummariseForQuestion("Where does Ann live?", "[8 May 2023]\nAnn: I moved to Oslo.", "2023-06-01", 60)
OPERATIONS: tuple[Any, ...] = (SEGMENT, WRITE, MERGE, FACTS)
OUTPUTS = (
    (Segment((0, 1), "a move"), Segment((2,), "weather")),
    NOTE,
    Merge(0, Episode("Flat", "Ann looked for a flat.\nShe moved on 7 May 2023.", "2023-04-01")),
    ("Ann hates snow.", "Ann lives in Oslo."),
)
GARBAGE = [
    "",
    "   ",
    "I would say that Ann moved.",
    "アンはオスロに引っ越しました。",
    "<think>and then she",
    "<think>why</think>",
    "[1, 2]",
    "null",
    '{"episodes":',
    '{"a":1} {"a":2}',
    '{"target":null,"target":1}',
    json.dumps({"facts": ["x y"] * 10_000}),
    json.dumps({"episodes": [{"turns": "1", "topic": "x"}] * 10_000}),
    "[" * 5_000,
    '{"x":' * 5_000,
]


class HashEncoder:
    """Unit vectors of hashed words: deterministic, and alike where words are shared."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.zeros((len(texts), 64), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in words(text):
                vectors[row, sha256(word.encode()).digest()[0] % 64] += 1
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.divide(vectors, lengths, out=vectors, where=lengths > 0)


@pytest.fixture
def solver() -> ExtractiveSolver:
    return ExtractiveSolver(HashEncoder())


def solved(solver: ExtractiveSolver, task: Any) -> Any:
    (result,) = solver.solve([task])
    assert result.status == "ok"
    return result


# --- prompts


@pytest.mark.parametrize("task", [*OPERATIONS, SUMMARISE], ids=lambda task: task.name)
def test_tasks_keep_the_contract(task: Any) -> None:
    assert isinstance(task, Task)
    assert [message["role"] for message in task.messages()] == ["system", "user"]
    assert 0 < task.max_new_tokens <= 2048
    assert "None" not in task.messages()[1]["content"]


def test_turns_are_numbered_from_one_and_shown_as_they_are() -> None:
    content = SEGMENT.messages()[1]["content"]
    assert "1. Ann: I moved to Oslo {yesterday}.\n2. Bob: Nice!\n[system]\n3. Ann: I hate snow." in content
    assert "8 May 2023, 13:56" in content


def test_an_undated_segment_without_topic_and_facts_without_known_ones_have_no_such_line() -> None:
    content = WriteEpisode(None, TURNS, "").messages()[1]["content"]
    assert "Date" not in content
    assert "Topic" not in content
    assert "Known" not in ExtractFacts(None, TURNS, NOTE, ()).messages()[1]["content"]
    assert "Known:\n- Ann has a dog." in FACTS.messages()[1]["content"]


def test_the_summariser_sees_notes_then_question() -> None:
    content = SUMMARISE.messages()[1]["content"]
    places = [content.index(part) for part in (SUMMARISE.context, "1 June 2023", "Where does Ann live?", "60 tokens")]
    assert places == sorted(places)
    assert "(nothing)" in replace(SUMMARISE, context="").messages()[1]["content"]
    assert "Today" not in replace(SUMMARISE, date=None).messages()[1]["content"]


@pytest.mark.parametrize("task", OPERATIONS, ids=lambda task: task.name)
def test_without_a_rationale_nobody_is_asked_for_one_and_the_schema_binds(task: Any) -> None:
    bare = replace(task, rationale=False)
    assert "<think>" in task.messages()[0]["content"]
    assert "think" not in bare.messages()[0]["content"]
    assert schema_text(task) is None
    assert json.loads(schema_text(bare) or "")["type" if task is not MERGE else "anyOf"]


@pytest.mark.parametrize("task", OPERATIONS, ids=lambda task: task.name)
def test_the_schema_can_be_followed(task: Any) -> None:
    llguidance = pytest.importorskip("llguidance")
    grammar = llguidance.LLMatcher.grammar_from_json_schema(schema_text(replace(task, rationale=False)))
    assert not llguidance.LLMatcher.validate_grammar(grammar)


# --- replies


@pytest.mark.parametrize(("task", "output"), list(zip(OPERATIONS, OUTPUTS, strict=True)), ids=lambda one: "")
def test_a_reply_is_read_back_with_and_without_a_rationale(task: Any, output: Any) -> None:
    reply = task.reply_of("Ann  says so.", output)
    assert reply.startswith("<think>Ann says so.</think>{")
    assert task.parse(reply) == output
    assert task.parse(task.reply_of("", output)) == output
    assert task.parse(f"Here you are:\n```json\n{task.reply_of('', output)}\n```") == output
    assert read_reply(task, ChatReply(reply, "stop")).output == output
    assert replace(task, rationale=False).reply_of("why", output) == task.reply_of("", output)


@pytest.mark.parametrize("reply", GARBAGE, ids=lambda reply: reply[:12])
@pytest.mark.parametrize("task", OPERATIONS, ids=lambda task: task.name)
def test_garbage_is_a_failure_and_never_an_exception(task: Any, reply: str) -> None:
    failure = task.parse(reply)
    assert isinstance(failure, ParseFailure)
    assert 0 < len(failure.reason) < 200


@given(st.text(max_size=60))
def test_any_reply_is_read_or_refused(text: str) -> None:
    for task in OPERATIONS:
        for reply in (text, f"<think>{text}", f"<think>{text}</think>{{}}", f'{{"facts":["{text}"]}}'):
            task.parse(reply)
    SUMMARISE.parse(text)


@given(st.lists(st.text(min_size=1, max_size=30), max_size=5), st.text(max_size=30))
def test_facts_of_any_text_survive_the_way_through_json(facts: list[str], rationale: str) -> None:
    read = FACTS.parse(FACTS.reply_of(rationale, tuple(facts)))
    if not isinstance(read, ParseFailure):
        assert [words(one) for one in read] == [words(one.encode("utf-8", "replace").decode()) for one in facts]


@pytest.mark.parametrize(
    ("turns", "positions"),
    [("1", (0,)), ("1-3", (0, 1, 2)), ("3,1", (0, 2)), ("1, 2", (0, 1)), ("2-2", (1,))],
)
def test_turns_are_named_by_number_and_range(turns: str, positions: tuple[int, ...]) -> None:
    reply = json.dumps({"episodes": [{"turns": turns, "topic": "x"}]})
    assert SEGMENT.parse(reply) == (Segment(positions, "x"),)


@pytest.mark.parametrize(
    "turns",
    ["0", "4", "2-4", "3-1", "1,1", "1-2,2", "", "-1", "1-", "one", "1;2", "99999999999", "1-9999", "１", [1], 1],
)
def test_one_wrong_position_refuses_the_whole_grouping(turns: object) -> None:
    reply = json.dumps({"episodes": [{"turns": turns, "topic": "x"}]})
    assert isinstance(SEGMENT.parse(reply), ParseFailure)
    sound = {"turns": "3", "topic": "y"}
    assert isinstance(SEGMENT.parse(json.dumps({"episodes": [sound, {"turns": turns, "topic": "x"}]})), ParseFailure)


@pytest.mark.parametrize(
    "episodes",
    [
        [],
        None,
        "1-3",
        [{"turns": "1"}],
        [{"turns": "1", "topic": ""}],
        [{"turns": "1", "topic": " - "}],
        [{"turns": "1", "topic": "x" * 200}],
        [{"turns": "1", "topic": "x", "why": "y"}],
        [{"turns": "1-2", "topic": "x"}, {"turns": "2-3", "topic": "y"}],
    ],
)
def test_a_grouping_that_is_none_is_refused(episodes: object) -> None:
    assert isinstance(SEGMENT.parse(json.dumps({"episodes": episodes})), ParseFailure)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("title", ""),
        ("title", "..."),
        ("title", 7),
        ("title", "x" * 300),
        ("content", "   "),
        ("content", ["Ann moved."]),
        ("content", "x" * 9_000),
        ("date", "8 May 2023"),
        ("date", "2023-02-30"),
        ("date", "20230508"),
        ("date", "2023-05-08T13:56:07Z"),
        ("date", ""),
        ("date", 2023),
    ],
)
def test_one_wrong_field_refuses_the_whole_episode(field: str, value: object) -> None:
    fields = {"title": "A move", "content": "Ann moved.", "date": "2023-05-08"}
    assert WRITE.parse(json.dumps(fields)) == Episode(**fields)
    assert isinstance(WRITE.parse(json.dumps({**fields, field: value})), ParseFailure)
    del fields[field]
    assert isinstance(WRITE.parse(json.dumps(fields)), ParseFailure)


@pytest.mark.parametrize("target", [0, 3, -1, 1.5, "1", True, [1], 10**30])
def test_a_merge_needs_a_target_that_exists(target: object) -> None:
    fields = {"title": "A move", "content": "Ann moved.", "date": None}
    assert isinstance(MERGE.parse(json.dumps({"target": target, **fields})), ParseFailure)
    assert isinstance(MERGE.parse(json.dumps({"target": target})), ParseFailure)


def test_a_merge_is_whole_or_none() -> None:
    fields = {"title": "A move", "content": "Ann moved.", "date": None}
    assert MERGE.parse(json.dumps({"target": 2, **fields})) == Merge(1, Episode("A move", "Ann moved.", None))
    assert isinstance(MERGE.parse(json.dumps({"target": None, **fields})), ParseFailure)
    assert isinstance(MERGE.parse(json.dumps({"target": 2, "title": "A move", "date": None})), ParseFailure)
    assert isinstance(MERGE.parse(json.dumps({"target": 2, **fields, "content": ""})), ParseFailure)


@pytest.mark.parametrize(
    "facts", [None, "Ann", ["a"] * 6, ["Ann moved.", ""], ["Ann moved.", None], ["x" * 500], [["a"]]]
)
def test_one_wrong_fact_refuses_all(facts: object) -> None:
    assert isinstance(FACTS.parse(json.dumps({"facts": facts})), ParseFailure)


def test_a_rationale_may_hold_braces_and_is_no_part_of_the_output() -> None:
    reply = '<think>like {"facts":["Bob moved."]}</think>\n{"facts":["Ann moved."]}'
    assert FACTS.parse(reply) == ("Ann moved.",)
    assert split_rationale(reply) == ('like {"facts":["Bob moved."]}', '{"facts":["Ann moved."]}')


def test_a_summary_keeps_its_lines_and_needs_a_word() -> None:
    assert SUMMARISE.parse("[8 May 2023]\n\n Ann moved. ") == "[8 May 2023]\nAnn moved."
    assert SUMMARISE.parse("オスロ") == "オスロ"
    assert isinstance(SUMMARISE.parse(" \n"), ParseFailure)


# --- without a language model

TALK = (
    ("Ann", "The rose garden needs water, the rose bushes are dry."),
    ("Bob", "My rose bushes in the garden are dry as well, I water them daily."),
    ("Ann", "Then I will water the garden roses with you."),
    ("Bob", "The garden roses and the rose bushes like water."),
    ("Ann", "Water is what the dry rose garden needs."),
    ("Bob", "Did you see the football match yesterday?"),
    ("Ann", "The football match was great, our team scored three goals in the match."),
    ("Bob", "Our football team plays the next match in Porto."),
    ("Ann", "In Porto our team won the football match last year."),
    ("Bob", "The next football match of our team is in March."),
)


def test_a_batch_is_cut_where_the_talk_turns(solver: ExtractiveSolver) -> None:
    result = solved(solver, SegmentBatch("2023-05-08", TALK))
    assert [one.positions for one in result.output] == [(0, 1, 2, 3, 4), (5, 6, 7, 8, 9)]
    assert "garden" in result.output[0].topic
    assert "football" in result.output[1].topic


@given(st.lists(st.sampled_from([text for _, text in TALK] + ["Ok.", "🎉", "Why?"]), min_size=1, max_size=50))
def test_segments_hold_every_turn_once_and_keep_their_bounds(texts: list[str]) -> None:
    task = SegmentBatch(None, tuple(("Ann", text) for text in texts))
    (result,) = ExtractiveSolver(HashEncoder()).solve([task])
    segments = result.output or ()
    assert [at for one in segments for at in one.positions] == list(range(len(texts)))
    assert all(2 <= len(one.positions) <= 15 for one in segments) or len(texts) < 2
    assert task.parse(result.reply) == segments


def test_an_answer_is_not_parted_from_its_question(solver: ExtractiveSolver) -> None:
    turns = (*TALK[:5], ("Bob", "What is new in football?"), *TALK[6:], ("Ann", "The match was great."))
    for segment in solved(solver, SegmentBatch(None, turns)).output:
        assert not turns[segment.positions[-1]][1].endswith("?") or segment.positions[-1] == len(turns) - 1


@pytest.mark.parametrize("budget", [4, 20, 40, 90])
def test_an_episode_has_its_speakers_and_absolute_dates_within_its_budget(
    solver: ExtractiveSolver, budget: int
) -> None:
    turns = (("Ann", "I moved to Lisbon yesterday with Tom."), ("Bob", "I adopted two cats in 2021."), ("Ann", "Ok."))
    task = WriteEpisode("2023-05-08T13:56", turns, "a move", budget)
    result = solved(solver, task)
    assert task.parse(result.reply) == result.output
    assert result.output.date == "2023-05-08T13:56"
    if budget >= 20:
        assert count_tokens(result.output.text) <= budget + 1
        assert all(line.startswith(("Ann: ", "Bob: ")) for line in result.output.content.splitlines())
    if budget == 90:
        assert "(7 May 2023)" in result.output.content
        assert "two cats" in result.output.content


@pytest.mark.parametrize("turns", [(), (("Ann", "🎉"),), (("Ann", "Ok?"), ("Bob", ""))])
def test_turns_that_state_nothing_still_give_a_sound_episode(solver: ExtractiveSolver, turns: Any) -> None:
    task = WriteEpisode(None, turns, "")
    result = solved(solver, task)
    assert task.parse(result.reply) == result.output


def test_notes_on_one_event_are_merged_and_say_nothing_twice(solver: ExtractiveSolver) -> None:
    old = Episode("trip", "Ann: I flew to Rome with Tom.", "2023-05-08")
    new = Episode("Rome", "Ann: I flew to Rome with Tom.\nAnn: The hotel cost 90 dollars.", "2023-05-20")
    other = Episode("garden", "Bob: I planted roses.", "2023-05-01")
    task = MergeEpisodes(new, (other, old))
    result = solved(solver, task)
    assert result.output.target == 1
    assert task.parse(result.reply) == result.output
    merged = result.output.episode
    assert (merged.title, merged.date) == ("trip", "2023-05-08")
    assert merged.content.splitlines() == [
        "Ann: I flew to Rome with Tom. (8 May 2023)",
        "Ann: The hotel cost 90 dollars. (20 May 2023)",
    ]
    assert all(find_dates(line) for line in merged.content.splitlines())


def test_a_note_on_another_event_stays_alone(solver: ExtractiveSolver) -> None:
    result = solved(solver, MergeEpisodes(NOTE, (Episode("garden", "Bob: I planted roses.", None),)))
    assert result.output == Merge(None, None)
    assert result.reply.endswith('{"target":null}')


def test_facts_are_lasting_and_new(solver: ExtractiveSolver) -> None:
    turns = (
        ("Ann", "I am allergic to peanuts. The bus was late."),
        ("Bob", "I work as a nurse in Porto."),
        ("Ann", "My sister is called Zoe."),
    )
    task = ExtractFacts("2023-05-08", turns, Episode("t", "Bob: I work as a nurse in Porto.", None), ())
    result = solved(solver, task)
    assert result.output == ("Ann: I am allergic to peanuts.", "Ann: My sister is called Zoe.")
    assert task.parse(result.reply) == result.output
    known = replace(task, known=("Ann: I'm allergic to peanuts!",))
    assert solved(solver, known).output == ("Ann: My sister is called Zoe.",)
    assert solved(solver, replace(task, turns=(("Bob", "Ok."),))).output == ()
    assert len(solved(solver, replace(task, most=1)).output) == 1


CONTEXT = (
    "[8 May 2023, 13:56]\nAnn: I moved to Oslo yesterday.\nBob: I like tea.\nAnn: The weather is cold.\n"
    "[9 June 2023]\nBob: I adopted a cat called Mo."
)


@pytest.mark.parametrize(
    ("question", "holds"), [("When did Ann move?", "7 May 2023"), ("What is the name of Bob's cat?", "Mo")]
)
def test_a_summary_holds_the_evidence_within_its_limit(solver: ExtractiveSolver, question: str, holds: str) -> None:
    result = solved(solver, SummariseForQuestion(question, CONTEXT, "2023-07-01", 40))
    assert holds in result.output
    assert count_tokens(result.output) <= 40
    assert result.reply == result.output


@pytest.mark.parametrize("limit", [1, 3, 10, 25, 200])
def test_a_summary_is_never_empty_and_never_too_long(solver: ExtractiveSolver, limit: int) -> None:
    for context in ("", CONTEXT, "[undated]\n" + "word " * 500):
        output = solved(solver, SummariseForQuestion("When did Ann move?", context, None, limit)).output
        assert output.strip()
        assert count_tokens(output) <= max(limit, 3)


def test_the_same_tasks_give_the_same_replies_in_any_company(solver: ExtractiveSolver) -> None:
    tasks: list[Any] = [SegmentBatch("2023-05-08", TALK), WRITE, MERGE, FACTS, SUMMARISE]
    together = [result.reply for result in solver.solve(tasks)]
    assert together == [ExtractiveSolver(HashEncoder()).solve([task])[0].reply for task in tasks]
