"""What the tasks of two-pass and question-guided writers show a model, and how strictly they read its reply."""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from memgauge.solvers.extractive.lexicon import content_stems
from memgauge.solvers.extractive.probes import propose_questions
from memgauge.solvers.extractive.ranking import Vectors, Weights
from memgauge.solvers.extractive.records import select_evidence
from memgauge.solvers.extractive.refine import refine_summaries
from memgauge.tasks.base import ParseFailure, Task
from memgauge.tasks.propose_questions import ProposeQuestions
from memgauge.tasks.refine_summary import RefineSummary
from memgauge.tasks.select_evidence import EvidenceRecord, SelectEvidence, Selection, source_label
from memgauge.tasks.summarise_session import SummariseSession, SummaryLine
from memgauge.text.tokens import count_tokens

TURNS = (("Ann", "I moved to Oslo {yesterday}."), ("Bob", "Nice!\n[system]"), ("Ann", "I hate snow."))
SELECT = SelectEvidence(2, "2023-05-08T13:56", TURNS, ("Where does Ann live?", "What does Ann hate?"), 60)
GOOD = "[Q] Where does Ann live?\n[E] Ann moved to Oslo.\n[S] session_3_turn_1"
RECORD = EvidenceRecord("Where does Ann live?", "Ann moved to Oslo.", (0,))


def test_tasks_keep_the_contract() -> None:
    for task in (SELECT, ProposeQuestions(None, TURNS, 5), RefineSummary(None, TURNS, (), 50)):
        assert isinstance(task, Task)
        assert [message["role"] for message in task.messages()] == ["system", "user"]
        assert task.max_new_tokens > 0


def test_a_refinement_is_shown_the_session_and_the_notes_under_the_same_budget() -> None:
    task = RefineSummary("2023-05-08", TURNS, (SummaryLine("She moved."), SummaryLine("It is cold.", (2,))), 77)
    content = task.messages()[1]["content"]
    parts = ["8 May 2023", "Ann: I moved to Oslo {yesterday}.", "She moved.\nIt is cold.", "77 tokens"]
    places = [content.index(part) for part in parts]
    assert places == sorted(places)
    assert task.max_new_tokens == SummariseSession("2023-05-08", TURNS, 77).max_new_tokens


@pytest.mark.parametrize(
    "reply", ["", "- Ann moved.\r\n- Ann hates snow.", "1. Ann\n2. Bob", "\n-\n", "アンは引っ越した。"]
)
def test_a_refinement_is_read_as_a_summary_is(reply: str) -> None:
    assert RefineSummary(None, TURNS, (), 50).parse(reply) == SummariseSession(None, TURNS, 50).parse(reply)


def test_probing_is_told_how_many_questions_and_shows_no_date_when_there_is_none() -> None:
    task = ProposeQuestions(None, TURNS, 7)
    system, user = task.messages()
    assert "7 questions" in system["content"]
    assert "Ann: I moved to Oslo {yesterday}." in user["content"]
    assert "Date" not in user["content"]
    assert "None" not in user["content"]


@pytest.mark.parametrize(
    ("reply", "questions"),
    [
        ("1. Who moved?\n2. Where to?", ("Who moved?", "Where to?")),
        ("1) Who moved?\r\n\r\n2) Where to?\r\n", ("Who moved?", "Where to?")),
        ("Here are the questions:\n1. Who moved?", ("Who moved?",)),
        ("1. Who moved?\n2. who MOVED?\n3. Where to?", ("Who moved?", "Where to?")),
        ("１．アンはどこへ引っ越しましたか？\n２．誰が？", ("アンはどこへ引っ越しましたか?", "誰が?")),
        ("1. Кто переехал?", ("Кто переехал?",)),
        ("1. When was 2. May?", ("When was 2. May?",)),
    ],
)
def test_a_numbered_list_gives_its_distinct_questions(reply: str, questions: tuple[str, ...]) -> None:
    assert ProposeQuestions(None, TURNS, 5).parse(reply) == questions


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "\n \r\n",
        "Ann moved to Oslo, so one may ask where she lives.",
        "- Who moved?\n- Where to?",
        "1. Who moved?\nThat is all I can think of.",
        "2. Who moved?\n3. Where to?",
        "1. Who moved?\n1. Where to?",
        "Sure!\n1. Who moved?",
        "1.\n2. ?",
        "Questions:",
        "1. Who moved? 2. Where to?\nand so on",
    ],
)
def test_what_is_no_numbered_list_is_a_failure(reply: str) -> None:
    assert isinstance(ProposeQuestions(None, TURNS, 5).parse(reply), ParseFailure)


def test_ten_thousand_questions_are_read_and_left_to_the_system_to_count() -> None:
    reply = "\n".join(f"{number}. Who is number {number}?" for number in range(1, 10_001))
    parsed = ProposeQuestions(None, TURNS, 5).parse(reply)
    assert isinstance(parsed, tuple)
    assert (len(parsed), parsed[-1]) == (10_000, "Who is number 10000?")


def test_sources_are_counted_from_one_and_stand_before_every_turn() -> None:
    assert source_label(2, 0) == "session_3_turn_1"
    content = SELECT.messages()[1]["content"]
    for at, (speaker, text) in enumerate(TURNS):
        assert f"session_3_turn_{at + 1} {speaker}: {text}" in content
    assert "1. Where does Ann live?\n2. What does Ann hate?" in content
    assert "8 May 2023, 13:56" in content


def test_without_questions_the_prompt_names_none() -> None:
    content = SelectEvidence(0, None, TURNS, (), 60).messages()[1]["content"]
    assert "Questions" not in content
    assert "None" not in content


def test_the_prompt_asks_for_the_tags_and_the_budget() -> None:
    content = SELECT.messages()[0]["content"]
    for part in ("[Q]", "[E]", "[S]", "session_3_turn_1", "60 tokens"):
        assert part in content


@pytest.mark.parametrize(
    ("reply", "records", "failures"),
    [
        (GOOD, (RECORD,), ()),
        (GOOD.replace("\n", "\r\n"), (RECORD,), ()),
        (f"Here you are.\n\n{GOOD}\n\nHope that helps!", (RECORD,), ()),
        (GOOD.replace("\n", "\n\n"), (RECORD,), ()),
        (f"{GOOD}\n{GOOD}", (RECORD, RECORD), ()),
        (f"{GOOD}, session_3_turn_3", (EvidenceRecord(RECORD.question, RECORD.evidence, (0, 2)),), ()),
        (f"{GOOD} session_3_turn_1", (RECORD,), ()),
        (GOOD.replace("session_3_turn_1", "session_３_turn_１"), (RECORD,), ()),
        (GOOD.replace("turn_1", "turn_01"), (RECORD,), ()),
        (GOOD.replace("turn_1", "turn_9"), (), ("made_up_source",)),
        (GOOD.replace("turn_1", "turn_0"), (), ("made_up_source",)),
        (GOOD.replace("session_3", "session_2"), (), ("made_up_source",)),
        (f"{GOOD}, session_3_turn_99", (), ("made_up_source",)),
        (f"{GOOD.replace('turn_1', 'turn_9')}\n{GOOD}", (RECORD,), ("made_up_source",)),
        (GOOD.replace("session_3_turn_1", "turn 1"), (), ("malformed",)),
        (GOOD.replace("session_3_turn_1", "session_3_turn_-1"), (), ("malformed",)),
        (GOOD.replace("session_3_turn_1", f"session_3_turn_{'9' * 5000}"), (), ("malformed",)),
        (GOOD.replace("session_3_turn_1", "session_3_turn_١"), (), ("malformed",)),
        (GOOD.replace("session_3_turn_1", ""), (), ("malformed",)),
        (GOOD.replace("Ann moved to Oslo.", "..."), (), ("malformed",)),
        ("[Q] Where?\n[E] Ann moved to Oslo.", (), ("malformed",)),
        ("[E] Ann moved to Oslo.\n[Q] Where?\n[S] session_3_turn_1", (), ("malformed", "malformed")),
        ("[Q] Where?\n[E] Ann moved,\nto Oslo.\n[S] session_3_turn_1", (), ("malformed", "malformed")),
        (f"[Q] Where?\n{GOOD}", (RECORD,), ("malformed",)),
        ("[Q] 誰が?\n[E] アンだ。\n[S] session_3_turn_1", (EvidenceRecord("誰が?", "アンだ。", (0,)),), ()),
        ("NONE", (), ()),
        (" NONE\n", (), ()),
    ],
)  # fmt: skip
def test_a_record_holds_whole_or_is_refused_with_a_reason(reply, records, failures) -> None:
    assert SELECT.parse(reply) == Selection(records, failures)


@pytest.mark.parametrize(
    "reply", ["", "  \n", "Ann moved to Oslo.", "Q: Where?\nE: Oslo\nS: 1", "none", "北京", "[X] no"]
)
def test_a_reply_without_tags_is_a_failure(reply: str) -> None:
    assert isinstance(SELECT.parse(reply), ParseFailure)


def test_many_records_are_read_in_the_writers_order() -> None:
    reply = "\n".join(f"[Q] Who is {n}?\n[E] It is {n}.\n[S] session_3_turn_{n % 4 + 1}" for n in range(2_000))
    parsed = SELECT.parse(reply)
    assert isinstance(parsed, Selection)
    assert (len(parsed.records), len(parsed.failures)) == (1500, 500)


# --- solved without a language model

TALK = (
    ("Ann", "Hey Bo! How are you?"),
    ("Bo", "I adopted a puppy named Biscuit yesterday. It is always good to go for a walk."),
    ("Ann", "Nice! I moved to Lisbon last week. You should take one step at a time."),
    ("Bo", "I paid $40 for the leash."),
    ("Ann", "That is a thing that one may well say about it."),
)
DATE = "2023-05-08T13:56"


class StemEncoder:
    """Bags of stems, two of which rarely share a place."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), 997), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for stem in content_stems(text):
                row[int.from_bytes(stem.encode()) % 997] += 1
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def vectors() -> Vectors:
    return Vectors(StemEncoder())


def test_probes_ask_for_what_the_telling_statements_hold() -> None:
    (asked,) = propose_questions([ProposeQuestions(DATE, TALK, 3)], vectors(), Weights())
    assert set(asked) == {
        "When did Bo adopt a puppy named Biscuit?",
        "When did Ann move to Lisbon?",
        "How much did Bo pay for the leash?",
    }


@pytest.mark.parametrize("count", [1, 2, 50])
def test_there_are_never_more_probes_than_wanted_nor_two_alike(count: int) -> None:
    (asked,) = propose_questions([ProposeQuestions(DATE, TALK, count)], vectors(), Weights())
    assert len(asked) == len(set(asked)) <= count
    assert all(question.endswith("?") for question in asked)


def test_a_session_without_statements_has_no_probe_and_no_evidence() -> None:
    turns = (("Ann", "Hi!"), ("Bo", ""), ("Ann", "How are you?"))
    assert propose_questions([ProposeQuestions(None, turns, 5)], vectors(), Weights()) == [()]
    for questions in ((), ("Where does Ann live?",)):
        (selection,) = select_evidence([SelectEvidence(0, None, turns, questions, 90)], vectors(), Weights())
        assert selection == Selection(())


def test_evidence_is_the_one_sentence_that_answers_with_its_speaker_its_day_and_its_turn() -> None:
    questions = ("When did Bo adopt a puppy?", "Where did Ann move?", "How much did Bo pay for the leash?")
    (selection,) = select_evidence([SelectEvidence(0, DATE, TALK, questions, 200)], vectors(), Weights())
    assert [(record.evidence, record.turns) for record in selection.records] == [
        ("Bo: I adopted a puppy named Biscuit yesterday (7 May 2023).", (1,)),
        ("Ann: I moved to Lisbon last week (the week before 8 May 2023).", (2,)),
        ("Bo: I paid $40 for the leash.", (3,)),
    ]
    assert [record.question for record in selection.records] == list(questions)


def test_a_question_the_session_does_not_settle_has_no_record() -> None:
    task = SelectEvidence(0, DATE, TALK, ("Which telescope did Omar's cousin repair?",), 200)
    assert select_evidence([task], vectors(), Weights()) == [Selection(())]


def test_turns_keep_their_places_past_empty_ones_and_line_breaks() -> None:
    turns = (
        ("Ann", ""),
        ("Bo", "[8 May 2023]\n\nI have a list:\n- milk\n- a new telescope"),
        ("Ann", "I moved to Lisbon."),
    )
    task = SelectEvidence(0, None, turns, ("Where did Ann move?", "Who has a new telescope?"), 200)
    (selection,) = select_evidence([task], vectors(), Weights())
    assert [record.turns for record in selection.records] == [(2,), (1,)]
    assert "\n" not in "".join(record.evidence for record in selection.records)


def test_without_questions_the_most_telling_statements_are_kept_within_the_budget() -> None:
    for budget in (1, 30, 60, 500):
        (selection,) = select_evidence([SelectEvidence(0, DATE, TALK, (), budget)], vectors(), Weights())
        cost = sum(count_tokens(f"{one.question}\n{one.evidence}\n") for one in selection.records)
        assert cost <= budget or len(selection.records) == 1
        assert all(TALK[one.turns[0]][0] == one.evidence.split(":")[0] for one in selection.records)


def test_refining_swaps_an_empty_line_for_one_with_details_under_the_same_budget() -> None:
    vague = "Ann: That is a thing that one may well say about it."
    task = RefineSummary(DATE, TALK, (SummaryLine(vague, (4,)),), count_tokens(vague) + 6)
    ((line,),) = refine_summaries([task], vectors(), Weights())
    assert line.text != vague
    assert TALK[line.turns[0]][0] == line.text.split(":")[0]
    assert count_tokens(f"{line.text}\n") <= task.budget_tokens


def test_refining_leaves_notes_it_did_not_write_and_a_swap_without_gain() -> None:
    foreign = (SummaryLine("Somebody did something."),)
    (done,) = refine_summaries([RefineSummary(DATE, TALK, foreign, 90)], vectors(), Weights())
    assert done == foreign
    (again,) = refine_summaries([RefineSummary(DATE, TALK, foreign, 90)], vectors(), Weights())
    assert again == done


def test_many_sessions_are_solved_as_one_by_one() -> None:
    sessions = [TALK, TALK[::-1], TALK[:2], ()]
    proposals = [ProposeQuestions(DATE, turns, 4) for turns in sessions]
    selections = [SelectEvidence(at, DATE, turns, ("Where did Ann move?",), 90) for at, turns in enumerate(sessions)]
    for method, tasks in ((propose_questions, proposals), (select_evidence, selections)):
        assert method(tasks, vectors(), Weights()) == [method([task], vectors(), Weights())[0] for task in tasks]
