"""Memory-R1: strict replies, operations that are never half-applied, a bank under a budget, tuples and rewards."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from memgauge.errors import InputError
from memgauge.memory.base import Query, Tools
from memgauge.memory.memory_r1 import MemoryR1
from memgauge.memory.memory_r1_bank import Bank, Said, apply, newest_kept
from memgauge.protocol.conditions import write_store
from memgauge.protocol.selection import answer_with_selection
from memgauge.records import Benchmark, Context, History, Question, Result, Session, Turn, Usage
from memgauge.solvers.extractive.lexicon import content_stems
from memgauge.solvers.extractive.manage import manage_memories, note_facts
from memgauge.solvers.extractive.ranking import Vectors, Weights
from memgauge.solvers.extractive.solver import ExtractiveSolver
from memgauge.tasks.answer_with_selection import AnswerWithSelection, SelectedAnswer
from memgauge.tasks.base import ParseFailure, Task
from memgauge.tasks.manage_memories import ManageMemories, Operation
from memgauge.tasks.note_facts import NoteFacts
from memgauge.text.render import entry_tokens
from memgauge.training.memory_r1_reward import answer_reward, exact_match, manager_reward
from memgauge.training.memory_r1_tuples import (
    ManagerRow,
    answer_rows,
    check_leaks,
    manager_rows,
    without_leaks,
)

FAILED = "failed"
SAID = Said(("t9",), "2023-06-01", 9)
EARLY = Said(("t1",), "2023-05-01", 1)


class StemEncoder:
    """Bags of stems over 256 places."""

    def encode(self, texts: Sequence[str]) -> Any:
        rows = np.zeros((len(texts), 256), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for stem in content_stems(text):
                row[sum(map(ord, stem)) * 7 % 256] += 1
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


class Scripted:
    """Notes every turn as it was said; the manager's outputs are given one by one (None: an unreadable reply)."""

    def __init__(self, *replies: Any) -> None:
        self.replies = list(replies)
        self.tasks: list[Any] = []

    def solve(self, tasks: Sequence[Any]) -> list[Any]:
        self.tasks += tasks
        return [self._result(task) for task in tasks]

    def _result(self, task: Any) -> Any:
        if isinstance(task, NoteFacts):
            return Result(tuple(text for _, text in task.turns), "ok", Usage(10, 5, 1))
        given = self.replies.pop(0) if self.replies else tuple(Operation("ADD", text=fact) for fact in task.facts)
        return Result(given, "ok" if given is not None else "parse_error", Usage(20, 7, 1))


def history(*texts: str, split: Any = "train") -> History:
    turns = [Turn(f"t{at}", "Ann" if at % 2 == 0 else "Bob", text) for at, text in enumerate(texts)]
    halves = (turns[: len(turns) // 2], turns[len(turns) // 2 :])
    sessions = tuple(Session(f"s{at}", f"2023-0{at + 5}-01T10:00", tuple(half)) for at, half in enumerate(halves))
    return History("h", "g", split, sessions)


def bank(*texts: str) -> Bank:
    made = Bank()
    for text in texts:
        made = made.added(text, EARLY)
    return made


def texts(of: Bank) -> list[str]:
    return [kept.text for kept in of.entries.values()]


def solve(method: Any, *tasks: Any) -> Any:
    return method(tasks, Vectors(StemEncoder()), Weights())


def read(task: Any, reply: Any) -> Any:
    parsed = task.parse(reply if isinstance(reply, str) else json.dumps(reply))
    return FAILED if isinstance(parsed, ParseFailure) else parsed


# --- replies


@pytest.mark.parametrize(
    ("reply", "facts"),
    [
        ({"facts": ["Ann has  a\ncat."]}, ("Ann has a cat.",)), ({"facts": []}, ()),
        ('Sure:\n```json\n{"facts": ["安は猫を飼う"]}\n```', ("安は猫を飼う",)),
        ({"facts": [1]}, FAILED), ({"facts": ["..."]}, FAILED), ({"facts": "Ann"}, FAILED), ({}, FAILED),
        ({"facts": ["x"] * 13}, FAILED), ("", FAILED), ('{"facts": ["x"', FAILED), ('["x"]', FAILED),
        ('{"facts": ["x"]} {"facts": ["y"]}', FAILED),
    ],
)  # fmt: skip
def test_facts_are_texts_in_one_object(reply: Any, facts: Any) -> None:
    assert read(NoteFacts(None, ()), reply) == facts


@pytest.mark.parametrize(
    ("operation", "parsed"),
    [
        ({"event": "ADD", "text": "x"}, Operation("ADD", None, "x")),
        ({"event": "add", "id": "new-1", "text": "x"}, Operation("ADD", None, "x")),
        ({"event": "UPDATE", "id": "1", "text": "y", "old_memory": "b"}, Operation("UPDATE", 1, "y", "b")),
        ({"event": "UPDATE", "id": 7, "text": "y"}, Operation("UPDATE", 7, "y")),
        ({"event": "DELETE", "id": 0, "text": "", "old_memory": None}, Operation("DELETE", 0)),
        ({"event": "NOOP", "id": 0}, Operation("NONE", 0)), ({"event": "NONE"}, Operation("NONE")),
        ({"event": "MERGE", "id": 0, "text": "x"}, FAILED), ({"event": "ADD"}, FAILED),
        ({"event": "ADD", "text": "?!"}, FAILED), ({"event": "ADD", "text": 5}, FAILED),
        ({"event": "UPDATE", "id": 0}, FAILED), ({"event": "UPDATE", "text": "x"}, FAILED),
        ({"event": "DELETE"}, FAILED), ({"event": "DELETE", "id": -1}, FAILED),
        ({"event": "DELETE", "id": 1.5}, FAILED),
        ({"event": "DELETE", "id": True}, FAILED), ("ADD x", FAILED), ({"event": "DELETE", "id": "9" * 99}, FAILED),
    ],
)  # fmt: skip
def test_an_operation_is_read_whole_or_fails_the_reply(operation: Any, parsed: Any) -> None:
    task = ManageMemories(((None, "a"), (None, "b")), ("x",))
    fine = {"event": "ADD", "text": "fine"}
    assert read(task, {"operations": [fine, operation]}) == (
        FAILED if parsed == FAILED else (Operation("ADD", text="fine"), parsed)
    )


def test_a_reply_of_too_many_operations_or_without_a_list_fails() -> None:
    task = ManageMemories((), ("x",))
    assert read(task, {"operations": [{"event": "NONE"}] * 41}) == FAILED
    assert read(task, {"operations": "none"}) == read(task, {"memory": []}) == read(task, "I add x.") == FAILED


@pytest.mark.parametrize(
    ("reply", "parsed"),
    [
        ("Relevant:\n- a\n- b\nAnswer: 8 May", SelectedAnswer(("a", "b"), "8 May")),
        ("answer: yes", SelectedAnswer((), "yes")), ("a\n**Answer:** **Oslo**", SelectedAnswer(("a",), "Oslo")),
        ("Answer:\nI don't\nknow", SelectedAnswer((), "I don't know")),
        ("Oslo", FAILED), ("", FAILED), ("Relevant:\n- a\nAnswer: ", FAILED), ("Answer: a\nAnswer: b", FAILED),
        ("The answer: Oslo", FAILED),
    ],
)  # fmt: skip
def test_an_answer_stands_after_one_marker(reply: str, parsed: Any) -> None:
    assert read(AnswerWithSelection("Where?", ""), reply) == parsed


def test_tasks_keep_the_contract_and_show_what_they_hold() -> None:
    manage = ManageMemories((("2023-05-08", "Ann has a {cat}."),), ("Ann has two cats.",), "2023-06-01")
    for task in (NoteFacts(None, (("Ann", "Hi"),)), manage, AnswerWithSelection("Who?", "")):
        assert isinstance(task, Task)
        assert [message["role"] for message in task.messages()] == ["system", "user"]
        assert "None" not in task.messages()[1]["content"]
    content = manage.messages()[1]["content"]
    assert "0. [8 May 2023] Ann has a {cat}." in content
    assert "Date: 1 June 2023\n- Ann has two cats." in content


# --- what operations do


def test_operations_add_update_in_place_delete_and_leave() -> None:
    counts: Counter[str] = Counter()
    proposals = (
        Operation("UPDATE", 1, "B", "b"),
        Operation("DELETE", 0),
        Operation("ADD", None, "d"),
        Operation("NONE", 2),
    )
    after = apply(bank("a", "b", "c"), proposals, (0, 1, 2), SAID, counts)
    assert {number: kept.text for number, kept in after.entries.items()} == {1: "B", 2: "c", 3: "d"}
    assert after.entries[1].sources == ("t1", "t9")
    assert (after.entries[1].date, after.entries[2].date, after.entries[3].date) == (None, "2023-05-01", "2023-06-01")
    assert counts == {"operations_update": 1, "updates_of_another_text": 0, "operations_delete": 1,
                      "operations_add": 1, "operations_none": 1}  # fmt: skip


def test_numbers_count_among_the_entries_shown() -> None:
    after = apply(bank("a", "b", "c"), [Operation("DELETE", 0)], (2,), SAID, Counter())
    assert texts(after) == ["a", "b"]


def test_an_update_of_an_unknown_entry_is_an_add_and_counted() -> None:
    counts: Counter[str] = Counter()
    after = apply(bank("a"), [Operation("UPDATE", 5, "b")], (0,), SAID, counts)
    assert texts(after) == ["a", "b"]
    assert counts == {"updates_as_added": 1, "operations_update": 1}


def test_what_does_not_hold_is_skipped_and_counted() -> None:
    counts: Counter[str] = Counter()
    proposals = (Operation("DELETE", 4), Operation("DELETE", 0), Operation("UPDATE", 0, "z"), Operation("NONE", 9))
    after = apply(bank("a", "b"), proposals, (0, 1), SAID, counts)
    assert texts(after) == ["b"]
    assert (counts["operations_invalid"], counts["operations_delete"], counts["operations_update"]) == (3, 1, 0)


def test_a_number_never_comes_again() -> None:
    emptied = apply(bank("a"), [Operation("DELETE", 0)], (0,), SAID, Counter())
    assert list(emptied.added("b", SAID).entries) == [1]


def test_a_misquoted_old_text_is_counted() -> None:
    counts: Counter[str] = Counter()
    apply(bank("a"), [Operation("UPDATE", 0, "b", "something else")], (0,), SAID, counts)
    assert counts["updates_of_another_text"] == 1


def test_over_the_budget_the_entries_written_longest_ago_go() -> None:
    made = apply(bank("first one", "second one"), [Operation("UPDATE", 0, "first two")], (0,), SAID, Counter())
    order = {"t1": 0, "t9": 1}
    cost = entry_tokens(made.listed()[0])
    assert [entry.text for entry in newest_kept(made, cost, order)] == ["first two"]
    assert [entry.text for entry in newest_kept(made, 1000, order)] == ["first two", "second one"]


# --- the system


def test_a_garbage_reply_changes_nothing_and_is_counted() -> None:
    told = history("Ann got a cat.", "Bob moved.", "Ann sold a car.", "Bob left.")
    solver = Scripted(None, (Operation("ADD", None, "Bob moved."),), None)
    written = MemoryR1().write(told, 1000, Tools(solver, StemEncoder()))
    assert [entry.text for entry in written.entries] == ["Bob moved.", "Bob left."]
    assert written.counts["replies_refused"] == written.counts["status_parse_error"] == 2
    assert (written.counts["writer_tasks"], written.counts["writer_calls"]) == (8, 8)
    assert written.counts["writer_input_tokens"] == 4 * 10 + 4 * 20


def test_the_manager_sees_what_the_step_before_has_left_and_no_id_of_ours() -> None:
    told = history("Ann got a cat called Mo.", "Bob likes tea.", "Ann gave the cat Mo away.", "Bob likes tea.")
    solver = Scripted()
    MemoryR1(similar=1).write(told, 1000, Tools(solver, StemEncoder()))
    managed = [task for task in solver.tasks if isinstance(task, ManageMemories)]
    assert managed[0].entries == ()
    assert managed[2].entries == (("2023-05-01T10:00", "Ann got a cat called Mo."),)
    assert managed[3].entries == (("2023-05-01T10:00", "Bob likes tea."),)
    assert not any("t0" in message["content"] for task in managed for message in task.messages())


def test_turns_of_one_session_make_a_step_and_a_long_turn_several() -> None:
    solver = Scripted()
    long = "I like tea. " * 40
    MemoryR1(turns=2, piece_tokens=60).write(history("a b", "c d", "e f", long), 1000, Tools(solver, StemEncoder()))
    notes = [task for task in solver.tasks if isinstance(task, NoteFacts)]
    assert notes[0].turns == (("Ann", "a b"), ("Bob", "c d"))
    assert notes[1].turns == (("Ann", "e f"),)
    assert len(notes) > 3
    assert all(speaker == "Bob" for task in notes[2:] for speaker, _ in task.turns)


def test_a_question_gets_at_most_sixty_entries() -> None:
    told = history(*(f"Fact number {at} about tea." for at in range(140)))
    store = write_store(MemoryR1(), told, 10**6, Tools(Scripted(), StemEncoder()))
    assert len(store.entries) == 140
    (ranking,) = MemoryR1().retrieve(store, [Query("tea?")], Tools(Scripted(), StemEncoder()))
    assert len(ranking.hits) == 60


# --- without a language model


def test_statements_are_noted_and_small_talk_is_not() -> None:
    task = NoteFacts("2023-05-08", (("Ann", "Hey Bob! I moved to Lisbon yesterday. How are you?"), ("Bob", "Wow!")))
    assert solve(note_facts, task) == [("Ann: I moved to Lisbon yesterday (7 May 2023).",)]


@pytest.mark.parametrize(
    ("entry", "fact", "events"),
    [
        ("Ann: I have a cat called Mo.", "Ann: I have a cat called Mo.", ["NONE"]),
        ("Ann: I have a grey cat called Mo.", "Ann: I have a cat called Mo.", ["NONE"]),
        ("Ann: I have a cat called Mo.", "Ann: I have a grey cat called Mo.", ["UPDATE"]),
        ("Ann: I like green tea with milk.", "Ann: I don't like green tea with milk.", ["DELETE", "ADD"]),
        ("Ann: I drink green tea for breakfast.", "Ann: I drink black tea for breakfast now.", ["UPDATE"]),
        ("Ann: I have a cat called Mo.", "Bob: I have a cat called Mo.", ["ADD"]),
        ("Ann: I have a cat called Mo.", "Ann: My sister plays chess.", ["ADD"]),
    ],
)
def test_rules_of_the_manager(entry: str, fact: str, events: list[str]) -> None:
    (operations,) = solve(manage_memories, ManageMemories(((None, entry),), (fact,)))
    assert [operation.event for operation in operations] == events
    counts: Counter[str] = Counter()
    after = apply(bank(entry), operations, (0,), SAID, counts)
    assert counts["operations_invalid"] == counts["updates_as_added"] == counts["updates_of_another_text"] == 0
    assert any(set(content_stems(fact)) <= set(content_stems(text)) for text in texts(after))


def test_an_update_keeps_what_was_known() -> None:
    task = ManageMemories(
        ((None, "Ann: I drink green tea for breakfast."),), ("Ann: I drink black tea now for breakfast.",)
    )
    ((operation,),) = solve(manage_memories, task)
    assert "black" in operation.text
    assert "green" in operation.text


def test_the_answer_agent_selects_and_answers() -> None:
    context = "[8 May 2023]\nAnn: I moved to Lisbon with Zoe.\nBob: I like green tea.\n" + "\n".join(
        f"Ann: My neighbour number {at} sings loudly." for at in range(20)
    )
    questions = [Question("q", "h", "Where did Ann move to?", "single", ("Lisbon",))]
    contexts = [Context("q", "RM", context, 9)]
    (answer,) = answer_with_selection(questions, contexts, ExtractiveSolver(StemEncoder()))
    assert "Lisbon" in answer.text
    (result,) = ExtractiveSolver(StemEncoder()).solve([AnswerWithSelection("Where did Ann move to?", context)])
    assert result.output is not None
    assert "Ann: I moved to Lisbon with Zoe." in result.output.selected
    assert len(result.output.selected) <= 8


def test_an_unreadable_answer_keeps_its_status() -> None:
    class Bad:
        def solve(self, tasks: Sequence[Any]) -> list[Any]:
            return [Result(None, "parse_error", Usage(1, 1, 1), "Lisbon") for _ in tasks]

    (answer,) = answer_with_selection([Question("q", "h", "?", "t")], [Context("q", "RM", "", 0)], Bad())
    assert (answer.status, answer.text) == ("parse_error", "Lisbon")


# --- training


SAYINGS = ["I moved to Lisbon.", "I like green tea.", "I sold my old car.", "I bought a red bike."]
ASKED = (
    Question("q1", "h", "What did Bob buy?", "single", ("a red bike",), evidence=("t3",)),
    Question("q2", "h", "Where is Ann, and what did she sell?", "multi", ("Lisbon",), evidence=("t0", "t2")),
    Question("q3", "h", "Who is Cy?", "adversarial", (), evidence=("t1",), abstention=True),
)


def tools() -> Tools:
    return Tools(Scripted(), StemEncoder())


def test_a_tuple_has_the_bank_of_the_turns_before_and_the_linked_questions() -> None:
    rows = manager_rows([(history(*SAYINGS), ASKED)], MemoryR1(), tools())
    assert [[one.text for one in row.asked] for row in rows] == [[ASKED[1].text], [ASKED[0].text]]
    assert [texts(row.bank) for row in rows] == [SAYINGS[:2], SAYINGS[:3]]
    assert rows[1].task.facts == ("I bought a red bike.",)
    near = manager_rows([(history(*SAYINGS), ASKED)], MemoryR1(), tools(), turns=1)
    assert [texts(row.bank) for row in near] == [SAYINGS[2:3]]  # t0 lies too far back for the other question
    assert len(manager_rows([(history(*SAYINGS), ASKED)], MemoryR1(), tools(), most=1)) == 1


def test_rows_of_the_answer_agent_leave_adversarial_questions_out() -> None:
    rows = answer_rows([(history(*SAYINGS), ASKED)], MemoryR1(), tools(), 1000, 1000)
    assert [row.task.question for row in rows] == [ASKED[0].text, ASKED[1].text]
    assert all(saying in rows[0].task.context for saying in SAYINGS)


@pytest.mark.parametrize("split", ["val", "test"])
def test_no_history_but_a_train_one_makes_rows(split: Any) -> None:
    pair = (history(*SAYINGS, split=split), ASKED)
    for make in (
        lambda: manager_rows([pair], MemoryR1(), tools()),
        lambda: answer_rows([pair], MemoryR1(), tools(), 99, 99),
    ):
        with pytest.raises(InputError, match="give only train histories"):
            make()


def test_rows_that_hold_something_evaluated_are_found() -> None:
    rows = manager_rows([(history(*SAYINGS), ASKED)], MemoryR1(), tools())
    shown = Benchmark("b", (history("I  LIKE green tea.", "No.", split="test"),), (
        Question("x", "h", "?", "t", ("tea",), evidence=("t0",)),
    ))  # fmt: skip
    same = Benchmark("b", (), (Question("x", "h", ASKED[0].text.upper(), "t", ("A red bike",)),))
    clean = Benchmark("b", (), (Question("x", "h", ASKED[0].text, "t", ("a blue bike",)),))
    for benchmark, left in ((shown, 0), (same, 1), (clean, 2)):
        if left < len(rows):
            with pytest.raises(InputError, match="which b evaluates"):
                check_leaks(rows, benchmark)
        if left:
            kept = without_leaks(rows, benchmark)
            assert len(kept) == left
            check_leaks(kept, benchmark)
    with pytest.raises(InputError, match="train on other histories"):
        without_leaks(rows, shown)


def test_the_reward_is_the_exact_match_after_normalisation() -> None:
    assert exact_match("A Red Bike!", ["bike", "the red bike"]) == 1.0
    assert exact_match("a red bike, new", ["red bike"]) == 0.0
    (row, _) = answer_rows([(history(*SAYINGS), ASKED)], MemoryR1(), tools(), 1000, 1000)
    assert answer_reward(row, "Relevant:\n- x\nAnswer: Red bike.") == 1.0
    assert answer_reward(row, "Answer: blue bike") == answer_reward(row, "red bike") == answer_reward(row, "") == 0.0


class FirstEntry:
    """An answer agent that reads off what was bought."""

    def solve(self, tasks: Sequence[Any]) -> list[Any]:
        found = ["a red bike" if "bought a red bike" in task.context else "?" for task in tasks]
        return [Result(SelectedAnswer((), answer), "ok") for answer in found]


def test_the_manager_is_rewarded_by_what_can_be_answered_from_its_bank() -> None:
    row = manager_rows([(history(*SAYINGS), ASKED)], MemoryR1(), tools())[1]
    assert isinstance(row, ManagerRow)
    answering = Tools(FirstEntry(), StemEncoder())
    good = json.dumps({"operations": [{"event": "ADD", "text": "Bob bought a red bike."}]})
    idle = json.dumps({"operations": [{"event": "NONE"}]})
    assert manager_reward(row, good, MemoryR1(), answering) == 1.0
    assert manager_reward(row, idle, MemoryR1(), answering) == 0.0
    assert manager_reward(row, "garbage", MemoryR1(), answering) == 0.0
    assert texts(row.bank) == SAYINGS[:3]
