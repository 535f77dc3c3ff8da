"""Silver evidence: what is asked, how replies are read, the set found without a model, the comparison with gold."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from memgauge.errors import InputError, MemgaugeError, NothingScoredError
from memgauge.llm.chat import ChatReply, ChatRequest
from memgauge.metrics.scoring import ScoredItem, score_item
from memgauge.protocol.answering import answer
from memgauge.protocol.conditions import oracle
from memgauge.protocol.silver import HistoryIndex, Narrowing, Silver, answers_of, find_silver, with_evidence
from memgauge.protocol.silver_comparison import ALL, compare_cells, labels_agree, turn_agreement, turn_scores
from memgauge.records import Answer, History, Question, Result, Session, Turn
from memgauge.report.experiment_silver import SilverReport, silver_numbers, silver_page
from memgauge.solvers.extractive.find import find_evidence
from memgauge.solvers.extractive.lexicon import content_stems
from memgauge.solvers.extractive.ranking import Vectors, Weights
from memgauge.solvers.language_model import LanguageModelSolver
from memgauge.tasks.base import ParseFailure, Task
from memgauge.tasks.find_evidence import MADE_UP, MALFORMED, Candidate, FindEvidence

LIMITS = Narrowing(candidates=8, candidate_tokens=1000)
FAILED = "failed"


class StemEncoder:
    """Bags of stems over 256 places."""

    def encode(self, texts: Sequence[str]) -> Any:
        rows = np.zeros((len(texts), 256), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for stem in content_stems(text):
                row[sum(map(ord, stem)) * 7 % 256] += 1
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


class MethodSolver:
    """The extractive method alone, remembering its tasks."""

    def __init__(self) -> None:
        self.tasks: list[FindEvidence] = []

    def solve(self, tasks: Sequence[Any]) -> list[Result[Any]]:
        self.tasks += tasks
        return [Result(output, "ok") for output in find_evidence(tasks, Vectors(StemEncoder()), Weights())]


class OneReply:
    """A chat model that always says the same."""

    def __init__(self, text: str) -> None:
        self.text = text

    def generate(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        return [ChatReply(self.text, "stop", 50, 3) for _ in requests]


HISTORY = History(
    "h",
    "g",
    "train",
    (
        Session(
            "1",
            "2023-05-08T13:56",
            (
                Turn("t1", "Ann", "I adopted a puppy yesterday, we call him Biscuit."),
                Turn("t2", "Bob", "A puppy! How lovely. What is he called?"),
                Turn("t3", "Ann", "The vet bill was $2,000, can you believe it."),
            ),
        ),
        Session(
            "2",
            "2023-06-02T10:00",
            (
                Turn("t4", "Bob", "My sister moved to Rome in March."),
                Turn("t5", "Ann", "I have a new hobby, I signed up for pottery."),
                Turn("t6", "Bob", "Good weather today, is it not?"),
            ),
        ),
        Session(
            "3",
            "2023-07-10",
            (
                Turn("t7", "Ann", "Another hobby of mine is swimming in the lake."),
                Turn("t8", "Bob", "I bought a lamp.", "a green lamp on a desk"),
            ),
        ),
    ),
)


def ask(text: str, *golds: str, evidence: tuple[str, ...] = (), abstention: bool = False, id: str = "q") -> Question:
    return Question(id, "h", text, "fact", golds, evidence=evidence, abstention=abstention)


def found(question: Question, limits: Narrowing = LIMITS) -> tuple[str, ...]:
    (silver,) = find_silver(HISTORY, [question], MethodSolver(), StemEncoder(), limits)
    return silver.turns


def replied(text: str, question: Question | None = None) -> Silver:
    solver = LanguageModelSolver(OneReply(text))
    (silver,) = find_silver(HISTORY, [question or ask("Who?", "Ann")], solver, StemEncoder(), LIMITS)
    return silver


# --- the task

TASK = FindEvidence(
    "Where is {Bob}?",
    ("Rome", "in Rome"),
    (Candidate("Ann", "Hi", "2023-05-08T13:56"), Candidate("Bob", "I am in Rome", "2023-05-08T13:56"),
     Candidate("Ann", "Oh", None)),
    "2023-06-01",
)  # fmt: skip


@pytest.mark.parametrize(
    ("reply", "turns"),
    [
        ("2", (1,)), ("3, 1", (0, 2)), ("Messages: 3 & 1.", (0, 2)), ("[1] [3]", (0, 2)), ("2\n2", (1,)),
        ("**2**", (1,)), ("none", ()), ("None.", ()), ("messages: none", ()),
    ],
)  # fmt: skip
def test_a_reply_is_a_list_of_message_numbers(reply: str, turns: tuple[int, ...]) -> None:
    assert TASK.parse(reply) == turns


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("0", MADE_UP), ("4", MADE_UP), ("1, 4", MADE_UP), ("9" * 5000, MADE_UP),
        (", ".join(map(str, range(1, 10_000))), MADE_UP),
        ("", MALFORMED), ("-1", MALFORMED), ("1.5", MALFORMED), ("1-3", MALFORMED), ("message two", MALFORMED),
        ("Message 2 because Bob says so", MALFORMED), ("all", MALFORMED), ("第二", MALFORMED), ("٢", MALFORMED),
        ("2 " * 9999 + "x", MALFORMED), ("no", MALFORMED), ('{"turns": [2]}', MALFORMED),
    ],
)  # fmt: skip
def test_anything_else_is_a_named_failure(reply: str, reason: str) -> None:
    assert TASK.parse(reply) == ParseFailure(reason)


def test_a_finder_sees_numbered_turns_under_their_dates_then_question_and_answers() -> None:
    assert isinstance(TASK, Task)
    content = TASK.messages()[1]["content"]
    parts = ["[8 May 2023, 13:56]\n1. Ann: Hi\n2. Bob: I am in Rome\n[undated]\n3. Ann: Oh"]
    parts += ["Today is 1 June 2023.", "Where is {Bob}?", "Rome | in Rome"]
    assert [content.index(part) for part in parts] == sorted(content.index(part) for part in parts)
    assert "Today" not in FindEvidence("Where?", ("Rome",), ()).messages()[1]["content"]


# --- without a language model


@pytest.mark.parametrize(
    ("text", "gold", "turns"),
    [
        ("What is the name of Ann's puppy?", "Biscuit", ("t1",)),
        ("When did Ann adopt a puppy?", "7 May 2023", ("t1",)),
        ("When did Ann adopt a puppy?", "2023-05-07", ("t1",)),
        ("When did Ann adopt a puppy?", "the 7th of May, 2023", ("t1",)),
        ("How much was the vet bill?", "2000 dollars", ("t3",)),
        ("How much was the vet bill?", "two thousand dollars", ("t3",)),
        ("Where does Bob's sister live?", "She has moved to Rome", ("t4",)),
        ("What did Bob buy?", "a green lamp", ("t8",)),
        ("Which hobbies does Ann have?", "pottery, swimming", ("t5", "t7")),
        ("Which hobbies does Ann have?", "Swims and makes pottery", ("t5", "t7")),
        ("Does Ann have a puppy?", "Yes", ("t1",)),
    ],
)
def test_the_fewest_turns_that_settle_the_answer_are_found(text: str, gold: str, turns: tuple[str, ...]) -> None:
    assert found(ask(text, gold)) == turns


def test_any_one_of_several_answers_will_do() -> None:
    assert found(ask("What is Ann's puppy called?", "Xylo", "Biscuit")) == ("t1",)


def test_of_turns_that_say_the_same_the_first_is_taken() -> None:
    turns = tuple(Candidate("Ann", "My puppy is called Biscuit.", "2023-05-08") for _ in range(3))
    task = FindEvidence("What is Ann's puppy called?", ("Biscuit",), turns)
    assert find_evidence([task], Vectors(StemEncoder()), Weights()) == [(0,)]


BIKE = (
    Candidate("user", "I paid $40 for a new bike saddle.", "2023-03-01"),
    Candidate("assistant", "Enjoy the ride!", "2023-03-01"),
    Candidate("user", "My bike bell came to $30.", "2023-04-05"),
    Candidate("user", "The lake was cold.", "2023-04-20"),
    Candidate("user", "I ran the marathon on 2 May.", "2023-05-03"),
)


@pytest.mark.parametrize(
    ("question", "answer", "turns"),
    [
        ("How much did I spend on bike parts in total?", "$70", (0, 2)),
        ("Which came first, the marathon or the bike bell?", "the bike bell", (2, 4)),
        ("How much did I spend on the bike bell?", "$30", (2,)),
    ],
)
def test_an_answer_that_no_turn_states_is_worked_out_from_several(
    question: str, answer: str, turns: tuple[int, ...]
) -> None:
    assert find_evidence([FindEvidence(question, (answer,), BIKE)], Vectors(StemEncoder()), Weights()) == [turns]


@pytest.mark.parametrize(
    "task",
    [
        FindEvidence("Who?", ("Ann",), ()),
        FindEvidence("What is it?", (), (Candidate("Ann", "It is blue."),)),
        FindEvidence("What is it?", (" ",), (Candidate("Ann", "It is blue."),)),
        FindEvidence("What is the capital of Peru?", ("Lima",), (Candidate("Ann", "Good weather today."),)),
        FindEvidence("", ("Lima",), (Candidate("", ""), Candidate("", "🙂"))),
    ],
)
def test_nothing_is_claimed_where_nothing_bears_on_the_question(task: FindEvidence) -> None:
    assert find_evidence([task], Vectors(StemEncoder()), Weights()) == [()]


def test_claims_are_valid_bear_on_the_question_and_do_not_depend_on_company() -> None:
    words = ["puppy", "Rome", "lamp", "pottery", "lake", "7", "May", "2023", "two", "sister", "violin", "green", "bill"]
    turns = tuple(Candidate(turn.speaker, turn.text, session.date) for session, turn in HISTORY.turns())
    rng = np.random.default_rng(0)
    tasks = [
        FindEvidence(
            f"What about Ann's {rng.choice(words)}?",
            (" ".join(rng.choice(words, size=rng.integers(1, 4))),),
            tuple(turns[place] for place in sorted(rng.choice(len(turns), size=rng.integers(1, 8), replace=False))),
        )
        for _ in range(60)
    ]
    together = find_evidence(tasks, Vectors(StemEncoder()), Weights())
    for task, chosen in zip(tasks, together, strict=True):
        assert list(chosen) == sorted(set(chosen))
        assert all(0 <= position < len(task.turns) for position in chosen)
        assert find_evidence([task], Vectors(StemEncoder()), Weights()) == [chosen]
        if chosen:
            said = {
                stem
                for place in chosen
                for stem in content_stems(f"{task.turns[place].speaker} {task.turns[place].text}")
            }
            assert (
                said & set(content_stems(f"{task.question} {task.answers[0]}"))
                or "2023" in task.answers[0]
                or "two" in task.answers[0]
            )


# --- over a history


def test_a_finder_gets_no_id_no_type_no_evidence_and_at_most_the_candidates() -> None:
    solver = MethodSolver()
    question = Question("secret-q", "h", "What is Ann's puppy called?", "secret-type", ("Biscuit",), evidence=("t4",))
    find_silver(HISTORY, [question], solver, StemEncoder(), Narrowing(3, 1000))
    (task,) = solver.tasks
    assert len(task.turns) == 3
    shown = " ".join(message["content"] for message in task.messages())
    assert "secret" not in shown
    assert "t4" not in shown
    places = [[turn.text for _, turn in HISTORY.turns()].index(turn.text) for turn in task.turns]
    assert places == sorted(places)


def test_the_best_turns_that_fit_are_candidates_and_the_best_one_whatever_its_length() -> None:
    index = HistoryIndex(HISTORY, StemEncoder())
    (ranked,) = index.rank(["vet bill"])
    assert ranked[0] == 2
    assert sorted(ranked) == list(range(8))
    assert index.narrow(ranked, Narrowing(8, 10_000)) == list(range(8))
    assert index.narrow(ranked, Narrowing(8, 1)) == [2]
    assert index.candidate(2, Narrowing(8, 3)).text == "The vet bill"
    assert index.candidate(7, LIMITS).text == "I bought a lamp. [image: a green lamp on a desk]"


def test_an_abstention_question_asks_nobody_and_an_unusable_gold_finds_nothing() -> None:
    solver = MethodSolver()
    questions = [ask("Who?", abstention=True, id="a"), ask("Who?", "???", id="b"), ask("Who?", "", id="c")]
    silver = find_silver(HISTORY, questions, solver, StemEncoder(), LIMITS)
    assert [(each.question_id, each.turns, each.status) for each in silver] == [
        ("a", (), "ok"), ("b", (), "empty"), ("c", (), "empty"),
    ]  # fmt: skip
    assert not solver.tasks
    empty = History("h", "g", "train", ())
    assert find_silver(empty, [ask("Who?", "Ann")], solver, StemEncoder(), LIMITS)[0].status == "empty"


@pytest.mark.parametrize(
    ("reply", "status", "made_up"),
    [("I think it is the first.", "parse_error", 0), ("77", "parse_error", 1), ("", "empty", 0), ("none", "empty", 0)],
)
def test_garbage_finds_nothing_and_is_counted(reply: str, status: str, made_up: int) -> None:
    silver = replied(reply)
    assert (silver.turns, silver.status) == ((), status)
    assert silver.counts.get("made_up_turns", 0) == made_up
    assert silver.counts["finder_calls"] == 1
    assert silver.counts["candidates"] == 8


def test_a_model_that_names_turns_gets_those() -> None:
    assert replied("3, 1").turns == ("t1", "t3")


def test_a_solver_that_loses_a_task_is_an_error() -> None:
    class Loser:
        def solve(self, tasks: Sequence[Any]) -> list[Result[Any]]:
            return []

    with pytest.raises(MemgaugeError, match="0 results for 1 tasks"):
        find_silver(HISTORY, [ask("Who?", "Ann")], Loser(), StemEncoder(), LIMITS)


@pytest.mark.parametrize("limits", [(0, 10), (10, 0)])
def test_limits_are_positive(limits: tuple[int, int]) -> None:
    with pytest.raises(InputError, match="at least 1"):
        Narrowing(*limits)


def test_a_reader_is_shown_the_turns_and_never_the_answer() -> None:
    seen: list[Any] = []

    class Reader:
        def solve(self, tasks: Sequence[Any]) -> list[Result[Any]]:
            seen.extend(tasks)
            return [Result("Rome", "ok") for _ in tasks]

    question = ask("Where does Bob's sister live?", "CANARY, moved to Rome", evidence=("t1",))
    (silver,) = find_silver(HISTORY, [question], MethodSolver(), StemEncoder(), LIMITS)
    shown = with_evidence(question, silver)
    answer([shown], [oracle(shown, HISTORY)], Reader())
    assert seen[0].context == "[2 June 2023, 10:00]\nBob: My sister moved to Rome in March."
    assert "CANARY" not in repr(seen)


# --- against gold


def test_turn_scores_by_hand() -> None:
    assert turn_scores(["a", "b"], ["b"]) == (0.5, 1.0, 2 / 3, 0.0)
    assert turn_scores(["b", "a"], ["a", "b"]) == (1.0, 1.0, 1.0, 1.0)
    assert turn_scores(["c"], ["a", "b"]) == (0.0, 0.0, 0.0, 0.0)
    assert np.isnan(turn_scores([], ["a"])[0])
    assert turn_scores([], ["a"])[1:] == (0.0, 0.0, 0.0)


def test_turns_are_averaged_over_questions_with_gold() -> None:
    questions = [
        ask("?", "x", evidence=("t1", "t2"), id="q1"),
        ask("?", "x", evidence=("t3",), id="q2"),
        ask("?", "x", id="no gold"),
        ask("?", abstention=True, evidence=("t1",), id="unanswerable"),
    ]
    silver = {each.id: Silver(each.id, ("t1",) if each.id == "q1" else (), "ok") for each in questions}
    overall, fact = turn_agreement(questions, silver, {"h": "g"}, 200, 0)
    assert (overall.type, fact.type) == (ALL, "fact")
    assert (overall.precision.value, overall.precision.n) == (1.0, 1)
    assert (overall.recall.value, overall.f1.value, overall.same.value) == (0.25, pytest.approx(1 / 3), 0.0)
    assert (overall.gold_turns, overall.silver_turns, overall.f1.n) == (3, 1, 2)
    with pytest.raises(InputError, match="q2"):
        turn_agreement(questions, {"q1": silver["q1"]}, {"h": "g"}, 10, 0)
    with pytest.raises(NothingScoredError):
        turn_agreement(questions[2:], silver, {"h": "g"}, 10, 0)


def item(id: str, condition: Any, right: bool, kind: str = "fact") -> ScoredItem:
    question = Question(id, "h", "?", kind, ("Rome",), evidence=("t4",))
    return score_item(question, Answer(id, condition, "Rome" if right else "Oslo", "ok", 1), id, [], "", [], False)


def cell_items() -> tuple[list[ScoredItem], list[ScoredItem]]:
    """Ten questions: OE gold 8, OE silver 5, CSM 4, RM 2 right."""
    kinds = ["one"] * 5 + ["two"] * 5
    gold = [
        item(f"q{number}", condition, number < right, kinds[number])
        for condition, right in (("OE", 8), ("CSM", 4), ("RM", 2))
        for number in range(10)
    ]
    return gold, [item(f"q{number}", "OE", number < 5, kinds[number]) for number in range(10)]


def test_the_write_gap_moves_by_the_change_of_oe_and_the_retrieval_gap_does_not() -> None:
    gold, silver = cell_items()
    whole, one, two = compare_cells("s", gold, silver, 500, 0.02, 1)
    assert (whole.oe_gold.value, whole.oe_silver.value, whole.retrieval.value) == (0.8, 0.5, 0.2)
    assert (whole.write_gold.value, whole.write_silver.value) == (0.4, 0.1)
    assert whole.error.value == pytest.approx(-0.3)
    assert (whole.label_gold, whole.label_silver) == ("write", "retrieval")
    assert (one.type, one.error.value, one.label_gold, one.label_silver) == ("one", 0.0, "retrieval", "retrieval")
    assert one.agreement == one.agreement_clustered == 1.0
    assert (two.type, two.error.value, two.label_gold, two.label_silver) == (
        "two",
        pytest.approx(-0.6),
        "write",
        "mixed",
    )
    assert whole.agreement is not None
    assert 0 < whole.agreement < 0.5
    assert labels_agree([whole, one, two]) == {ALL: (0, 1), "one": (1, 1), "two": (0, 1)}


def test_equal_evidence_changes_nothing() -> None:
    gold, _ = cell_items()
    for cell in compare_cells("s", gold, [each for each in gold if each.condition == "OE"], 200, 0.02, 1):
        assert cell.error.value == 0.0
        assert cell.label_gold == cell.label_silver
        assert cell.agreement == cell.agreement_clustered == 1.0


def test_a_question_without_silver_is_left_out_and_none_at_all_is_an_error() -> None:
    gold, silver = cell_items()
    (whole, *_) = compare_cells("s", gold, silver[:4], 100, 0.02, 1)
    assert (whole.oe_gold.n, whole.oe_gold.value, whole.error.value) == (4, 1.0, 0.0)
    with pytest.raises(NothingScoredError, match="'s'"):
        compare_cells("s", gold, [], 100, 0.02, 1)


def test_page_and_numbers_say_the_same() -> None:
    gold, made = cell_items()
    questions = [ask("?", "Rome", evidence=("t4",), id=f"q{number}") for number in range(10)]
    silver = {each.id: Silver(each.id, ("t4",), "ok", {"finder_tasks": 1}) for each in questions}
    turns = turn_agreement(questions, silver, {"h": "g"}, 100, 1)
    report = SilverReport(
        "b", "r", tuple(turns), tuple(compare_cells("s", gold, made, 100, 0.02, 1)), tuple(silver.values())
    )
    numbers: Any = silver_numbers(report)
    assert numbers["diagnosis"]["s"]["all"]["error"] == pytest.approx(-0.3)
    assert numbers["diagnosis"]["s"]["all"]["retrieval_gap"] == 0.2
    assert numbers["turns"]["all"]["f1"] == 1.0
    assert numbers["labels"]["one"] == {"systems": 1, "alike": 1, "share": 1.0}
    assert numbers["finder"] == {"questions": 10, "status_ok": 10, "finder_tasks": 10}
    page = silver_page(report, questions, 100)
    for part in ("-0.300", "| s | all | 0.800 | 0.500 |", "The answer reaches the finder only", "finder tasks: 10"):
        assert part in page


def test_answers_to_look_for_are_the_usable_golds() -> None:
    assert answers_of(ask("?", "???", "Rome", " ")) == ("Rome",)
    assert answers_of(ask("?", "Rome", abstention=True)) == ()
