"""Passage budgets end to end: what a reader is shown, how answers are scored, what a real cohort holds."""

import itertools
from dataclasses import replace

import pytest

from memgauge.errors import InputError
from memgauge.experiments.passage_budgets import BUDGETS
from memgauge.experiments.passage_entries import show_entries
from memgauge.experiments.passage_evidence import question_recall, recall_rows, tier_of
from memgauge.experiments.passage_reading import PassageAnswer, passage_tasks, read_passages
from memgauge.experiments.passage_scores import join_scores
from memgauge.experiments.passage_shown import Piece, Ranked, Shown, show_history
from memgauge.memory.base import Hit, Ranking
from memgauge.protocol.rubric_scoring import Answered, score_answers
from memgauge.records import Entry, History, Question, Result, Session, Store, Turn, Usage
from memgauge.solvers.extractive.context import parse_context
from memgauge.solvers.extractive.solver import ExtractiveSolver
from memgauge.tasks.answer_from_passages import DECLINED, AnswerFromPassages
from memgauge.tasks.score_rubric_item import ScoreRubricItem
from memgauge.text.refusals import is_refusal
from memgauge.text.tokens import count_tokens

CANARY = "ZQXV"


def history(turns=60):
    def text(at):
        return f"Message {at} about the lake house and its roof, number {at}. " * 12

    sessions = tuple(
        Session(
            f"s{day}", f"2024-03-{day + 1:02d}", tuple(Turn(f"{CANARY}-t{at}", "user", text(at)) for at in turns_of)
        )
        for day, turns_of in enumerate(range(start, start + 10) for start in range(0, turns, 10))
    )
    return History(f"{CANARY}-h", f"{CANARY}-g", "test", sessions)


QUESTION = Question(
    id=f"{CANARY}-q",
    history_id=f"{CANARY}-h",
    text="What about the roof of the lake house?",
    type=f"{CANARY}-type",
    golds=(f"{CANARY}-gold",),
    date="2024-04-01",
    evidence=(f"{CANARY}-t3",),
    rubric=(f"{CANARY}-rubric",),
)


@pytest.fixture(scope="module")
def ranked():
    return show_history(history(), [QUESTION])[0]


def test_golds_rubrics_types_evidence_and_ids_reach_no_reader(ranked) -> None:
    for task in passage_tasks(QUESTION, ranked, BUDGETS):
        assert CANARY not in str(task.messages())
        assert CANARY not in str(task)


def test_prompts_of_all_budgets_are_the_same_bytes_but_for_the_passages(ranked) -> None:
    frames = set()
    for budget, task in zip(BUDGETS, passage_tasks(QUESTION, ranked, BUDGETS), strict=True):
        prompt = "\0".join(message["content"] for message in task.messages())
        assert prompt.count(ranked.text(budget)) == 1
        frames.add(prompt.replace(ranked.text(budget), ""))
    assert len(frames) == 1
    assert DECLINED in frames.pop()


def test_a_larger_budget_starts_with_all_of_a_smaller_one(ranked) -> None:
    texts = [ranked.text(budget) for budget in BUDGETS]
    assert all(longer.startswith(shorter) for shorter, longer in itertools.pairwise(texts))
    assert len(set(texts)) == len(BUDGETS)


def test_the_fixed_sentence_counts_as_declining_and_the_limit_is_the_papers() -> None:
    assert is_refusal(DECLINED)
    assert AnswerFromPassages("Where?", "").max_new_tokens == 1024
    assert AnswerFromPassages("Where?", "").name == "answer_question"


def test_passages_keep_dates_speakers_and_message_borders(ranked) -> None:
    parsed = parse_context(ranked.passages[0].text)
    assert all(line.speaker == "user" and line.day is not None for line in parsed.lines)
    assert len(parsed.lines) == len(ranked.passages[0].pieces)


class Scripted:
    """A solver with one reply for every task, as a model would give it."""

    def __init__(self, reply):
        self.reply, self.tasks = reply, []

    def solve(self, tasks):
        self.tasks += tasks
        results = []
        for task in tasks:
            output = task.parse(self.reply)
            failed = not isinstance(output, (str, float))
            results.append(Result(None if failed else output, "parse_error" if failed else "ok", reply=self.reply))
        return results


def test_answers_come_by_question_and_budget_with_counted_tokens(ranked) -> None:
    answers = read_passages([QUESTION], {QUESTION.id: ranked}, (1, 3), Scripted("It leaks."))
    assert [(each.budget, each.passages, each.text, each.status) for each in answers] == [
        (1, 1, "It leaks.", "ok"),
        (3, 3, "It leaks.", "ok"),
    ]
    assert all(each.usage.estimated and each.usage.output_tokens == count_tokens("It leaks.") for each in answers)
    assert answers[1].usage.input_tokens > 2 * answers[0].usage.input_tokens


def test_a_short_ranking_is_read_once_for_all_larger_budgets(ranked) -> None:
    solver = Scripted("It leaks.")
    short = Ranked(QUESTION.id, ranked.passages[:2])
    answers = read_passages([QUESTION], {QUESTION.id: short}, BUDGETS, solver)
    assert [each.passages for each in answers] == [1, 2, 2, 2, 2]
    assert len(solver.tasks) == 2
    assert len({(each.text, each.usage) for each in answers[1:]}) == 1


def test_an_empty_reply_keeps_its_status(ranked) -> None:
    (answer,) = read_passages([QUESTION], {QUESTION.id: ranked}, (1,), Scripted("  "))
    assert answer.status == "parse_error"


def test_a_prompt_that_was_never_sent_is_not_charged(ranked) -> None:
    """What is too long for the reader's window costs nothing, however long it would have been."""

    class Refusing(Scripted):
        def solve(self, tasks):
            refused = Result(None, "context_truncated")
            return [refused if task.context == long else Result("a b", "ok") for task in tasks]

    long = ranked.text(20)
    first, last = read_passages([QUESTION], {QUESTION.id: ranked}, (1, 20), Refusing(""))
    assert first.usage.estimated
    assert first.usage.input_tokens > 0
    assert (last.status, last.usage) == ("context_truncated", Usage())


def test_a_question_without_a_ranking_is_one_error() -> None:
    with pytest.raises(InputError, match="has no ranking"):
        read_passages([QUESTION], {}, (1,), Scripted("x"))


def scored(question, text, judge=None, status="ok"):
    (found,) = score_answers({question.id: question}, [Answered(question.id, text, status)], judge or Scripted("0"))
    return found


def test_half_marks_survive_and_only_as_released_cuts_them() -> None:
    rubric = replace(QUESTION, rubric=("one", "two"))
    found = scored(rubric, "Oslo", Scripted('{"reason": "part", "score": 0.5}'))
    assert (found.kind, found.score, found.as_released, found.marks) == ("rubric", 0.5, 0.0, (0.5, 0.5))


@pytest.mark.parametrize("reply", ['{"score": 0.7}', '{"score": ', "half", '{"score": null}'])
def test_an_invalid_mark_stays_missing_and_is_asked_once(reply) -> None:
    judge = Scripted(reply)
    found = scored(replace(QUESTION, rubric=("one", "two")), "Oslo", judge)
    assert (found.score, found.as_released, found.marks) == (None, None, (None, None))
    assert len(judge.tasks) == 2


def test_one_missing_mark_makes_the_whole_score_missing() -> None:
    class Half(Scripted):
        def solve(self, tasks):
            return [Result(1.0, "ok"), Result(None, "parse_error")]

    found = scored(replace(QUESTION, rubric=("one", "two")), "Oslo", Half(""))
    assert (found.score, found.marks) == (None, (1.0, None))


def test_the_judge_sees_one_criterion_and_the_answer_only() -> None:
    judge = Scripted("1")
    scored(replace(QUESTION, rubric=("names Oslo", "names May")), "Oslo in May", judge)
    assert judge.tasks == [ScoreRubricItem(criterion, "Oslo in May") for criterion in ("names Oslo", "names May")]
    prompts = str([task.messages() for task in judge.tasks])
    assert f"{CANARY}-gold" not in prompts
    assert "question" not in prompts.lower()


def test_only_where_asked_for_does_the_judge_see_the_question() -> None:
    judge = Scripted("1")
    found = replace(QUESTION, rubric=("names Oslo",))
    score_answers({found.id: found}, [Answered(found.id, "Oslo", "ok")], judge, show_question=True)
    assert judge.tasks == [ScoreRubricItem("names Oslo", "Oslo", QUESTION.text)]
    assert f"Question that was asked: {QUESTION.text}" in judge.tasks[0].messages()[1]["content"]


def test_without_a_rubric_golds_are_the_score() -> None:
    plain = Question("q", "h", "Where?", "fact", ("Oslo in Norway",))
    found = scored(plain, "Oslo")
    assert (found.kind, found.score, found.contains_match) == ("token_f1", 0.5, 0.0)
    absent = Question("q", "h", "Where?", "fact", abstention=True)
    assert [scored(absent, text).score for text in (DECLINED, "Oslo")] == [1.0, 0.0]
    assert scored(absent, DECLINED).kind == "refusal"


def test_an_answer_that_failed_is_not_judged() -> None:
    judge = Scripted("1")
    found = scored(QUESTION, "partial", judge, status="truncated")
    assert (found.score, judge.tasks) == (None, [])


def test_recall_counts_turns_shown_by_more_than_half() -> None:
    long = History("h", "h", "test", (Session("s", None, (Turn("a", "u", "x" * 10), Turn("b", "u", "y" * 10))),))
    question = replace(QUESTION, history_id="h", evidence=("a", "b"))
    passages = [[Piece("a", 0, 5)], [Piece("a", 5, 6), Piece("b", 0, 5)], [Piece("b", 5, 10)]]
    found = question_recall(long, question, passages, (1, 2, 3, 20))
    assert found.by_budget == {1: 0.0, 2: 0.5, 3: 1.0, 20: 1.0}
    unmarked = question_recall(long, replace(question, evidence=()), passages, (1,))
    assert unmarked.by_budget == {1: None}
    (row,) = [row for row in recall_rows([found, unmarked]) if row.ability == "all"]
    assert (row.questions, row.by_budget[2]) == (1, 0.5)


def test_a_pictures_caption_is_ranked_shown_and_counted() -> None:
    """A turn is its text and its caption: in the index, before the reader and as evidence alike."""
    turns = (Turn("a", "Ann", "Look!", "a red vintage car"), Turn("b", "Bob", "Nice."), Turn("c", "Ann", "", "a cake"))
    pictured = History("h", "h", "test", (Session("s", None, turns),))
    question = Question("q", "h", "Which vintage car?", "x", evidence=("a", "c"))
    (found,) = show_history(pictured, [question])
    assert found.text(1) == "[undated]\nAnn: Look! [image: a red vintage car]\nBob: Nice."
    recall = question_recall(pictured, question, [passage.pieces for passage in found.passages], (1,))
    assert recall.by_budget == {1: 0.5}  # c, a picture alone, is evidence too and was not shown
    half = question_recall(pictured, question, [[Piece("a", 0, len("Look!"))]], (1,))
    assert half.by_budget == {1: 0.0}  # the text alone is less than half of the turn


def test_a_stores_entries_are_passages_in_the_systems_own_order() -> None:
    turns = (Turn("a", "Ann", "I moved to Oslo."), Turn("b", "Bob", "Nice."))
    told = History("h", "h", "test", (Session("s", "2024-03-15", turns),))
    entries = (
        Entry("e0", "Bob is nice.", ("b",), "2024-03-15"),
        Entry("e1", "Ann moved.", ("a", "b")),
        Entry("e2", "x", ()),
    )
    store = Store("h", "s", entries, 9, 9)
    question = Question("q", "h", "Who moved?", "x", evidence=("a", "b"))
    ranking = Ranking((Hit(1, 0.9), Hit(1, 0.8), Hit(0, 0.7), Hit(2, 0.1)))  # the second is a repetition
    (found,) = show_entries(told, [question], store, [ranking], 2)
    assert [found.text(budget) for budget in (1, 20)] == [
        "[undated]\nAnn moved.",
        "[undated]\nAnn moved.\n\n[15 March 2024]\nBob is nice.",
    ]
    assert question_recall(told, question, [passage.pieces for passage in found.passages], (1,)).by_budget == {1: 1.0}


def test_tiers_are_read_from_beams_folders_only() -> None:
    assert [tier_of(name) for name in ("beam-100K-01", "beam-10M-3", "synthetic-00001")] == ["100K", "10M", "all"]


def test_joined_scores_carry_group_ability_tokens_and_recall(ranked) -> None:
    answers = [
        PassageAnswer(QUESTION.id, budget, budget, "It leaks.", "ok", Usage(100 * budget, 3, 1)) for budget in (1, 20)
    ]
    open_scores = score_answers({QUESTION.id: QUESTION}, [Answered(QUESTION.id, "It leaks.", "ok")] * 2, Scripted("1"))
    found = list(join_scores([(history(), (QUESTION,))], {QUESTION.id: ranked}, answers, open_scores))
    assert [(each.budget, each.score, each.group, each.input_tokens) for each in found] == [
        (1, 1.0, f"{CANARY}-g", 100),
        (20, 1.0, f"{CANARY}-g", 2000),
    ]
    assert found[1].recall == 1.0


def test_a_ranked_record_is_rendered_the_same_after_a_round_trip(ranked, tmp_path) -> None:
    from memgauge.files import read_jsonl, write_jsonl

    write_jsonl(tmp_path / "r.jsonl", [ranked])
    assert list(read_jsonl(tmp_path / "r.jsonl", Ranked)) == [ranked]
    assert Ranked("q", (Shown("a", ()),)).text(20) == "a"


class NoEncoder:
    """Stands where an encoder is not needed."""

    def encode(self, texts):
        raise AssertionError("no text is encoded to mark a criterion")


def test_a_rubric_that_asks_for_declining_is_met_by_the_fixed_sentence() -> None:
    absent = Question(
        "q", "h", "Which shade?", "abstention", abstention=True, rubric=("There is no information about the shade",)
    )
    judge = ExtractiveSolver(NoEncoder())
    assert [scored(absent, text, judge).score for text in (DECLINED, "Dark green")] == [1.0, 0.0]


def test_one_enormous_message_is_shown_in_parts() -> None:
    huge = History(
        "h", "h", "test", (Session("s", None, (Turn("a", "u", "roof lake " * 35_000), Turn("b", "u", "hi"))),)
    )
    (found,) = show_history(huge, [Question("q", "h", "roof?", "x")])
    assert len(found.passages) == 20
    assert all(0 < len(passage.text) < 4_000 for passage in found.passages)
