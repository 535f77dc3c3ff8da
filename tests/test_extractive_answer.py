"""answer_question without a language model: one hand-made case for every kind of answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from memgauge.errors import InputError
from memgauge.records import Usage
from memgauge.solvers.extractive.context import parse_context
from memgauge.solvers.extractive.kinds import LONGEST, understand
from memgauge.solvers.extractive.lexicon import content_stems
from memgauge.solvers.extractive.ranking import Weights
from memgauge.solvers.extractive.solver import ExtractiveSolver
from memgauge.tasks.answer_question import AnswerQuestion


class WordEncoder:
    """Bags of hashed stems (by letters, so the same in every process), and a count of encoded texts."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.seen.extend(texts)
        rows = np.zeros((len(texts), 256), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for stem in content_stems(text):
                row[sum(ord(letter) * 31**place for place, letter in enumerate(stem)) % 256] += 1
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


CONTEXT = """[8 May 2023, 13:56]
Ann: Hey Bo! I went to a pottery workshop yesterday.
Bo: Wow! Who took you there?
Ann: My sister took me to the pottery workshop. I made a blue bowl.
Bo: I adopted a puppy last week, Ann. I named the puppy "Biscuit".
[9 June 2023, 10:00]
Ann: I moved to Lisbon last Friday. I quit my job because the pay was bad.
Bo: I play tennis twice a week with Omar. I have three cats.
Ann: My train leaves at 7:40. I saved $1,200 for the trip.
Bo: I have worked as a baker for ten years. I never eat meat.
Ann: I prefer tea over coffee in the morning. [image: a teapot on a table]"""


def ask(question: str, context: str = CONTEXT, asked: str | None = None) -> str:
    answer = ExtractiveSolver(WordEncoder()).solve([AnswerQuestion(question, context, asked)])[0].output
    assert isinstance(answer, str)
    return answer


@pytest.mark.parametrize(
    ("question", "kind", "part"),
    [
        ("When did Ann go to the pottery workshop?", "date", "7 May 2023"),
        ("When did Bo adopt a puppy?", "date", "the week before 8 May 2023"),
        ("When did Ann move to Lisbon?", "date", "the Friday before 9 June 2023"),
        ("When did Ann move to Lisbon?", "date", "2 June 2023"),
        ("Which month did Ann move to Lisbon?", "date", "June 2023"),
        ("Where did Ann move?", "place", "Lisbon"),
        ("Who took Ann to the pottery workshop?", "person", "sister"),
        ("What is the name of the puppy Bo adopted?", "person", "Biscuit"),
        ("Why did Ann quit her job?", "reason", "the pay was bad"),
        ("How often does Bo play tennis?", "frequency", "twice a week"),
        ("How many cats does Bo have?", "count", "three"),
        ("What time does Ann's train leave?", "clock", "7:40"),
        ("How much money did Ann save for the trip?", "money", "$1,200"),
        ("How long has Bo worked as a baker?", "duration", "ten years"),
        ("Does Bo eat meat?", "yes_no", "No"),
        ("Does Bo play tennis?", "yes_no", "Yes"),
        ("Does Ann prefer tea or coffee?", "choice", "tea"),
        ("What did Ann make?", "phrase", "blue bowl"),
        ("Which sports does Bo play?", "list", "tennis"),
    ],
)
def test_each_kind_of_question_gets_its_kind_of_answer(question: str, kind: str, part: str) -> None:
    assert understand(question).kind == kind
    assert part in ask(question)


def test_short_kinds_answer_with_nothing_else() -> None:
    assert ask("Does Ann prefer tea or coffee?") == "tea"
    assert ask("How many cats does Bo have?") == "three"
    assert ask("What is the puppy called?") == "Biscuit"


def test_days_between_two_events_and_up_to_the_day_of_the_question() -> None:
    context = (
        "[1 March 2024]\nuser: I planted the pear tree today.\n[15 March 2024]\nuser: I sold the caravan yesterday."
    )
    assert ask("How many days passed between the pear tree and the caravan sale?", context) == "13 days"
    assert ask("How many days ago did I sell the caravan?", context, "2024-03-20T10:00") == "6 days"
    assert ask("Which came first, the caravan sale or the pear tree?", context) == "the pear tree"


def test_an_event_that_was_never_told_has_no_distance() -> None:
    context = "[1 March 2024]\nuser: I planted the pear tree today.\n[15 March 2024]\nuser: The rain never stops."
    assert ask("How many days passed between the pear tree and the caravan sale?", context) == "I don't know"


def test_amounts_are_added_and_those_of_others_left_out() -> None:
    context = """[1 March 2024]
user: I spent $20 on garden tools.
user: More garden tools: a rake, $15.
user: My friend Dana spent $99 on garden tools."""
    assert ask("How much did I spend on garden tools in total?", context) == "$35"


def test_the_newest_statement_answers_a_question_in_the_present() -> None:
    context = "[1 March 2024]\nuser: My alarm is at 6:10.\n[9 April 2024]\nuser: I moved my alarm to 7:25."
    assert ask("What time is my alarm?", context) == "7:25"


def test_a_role_leads_to_what_is_said_of_its_holder() -> None:
    context = "[1 March 2024]\nuser: Omar, my dance teacher, is funny.\n[2 March 2024]\nuser: Omar lives in Bilbao."
    assert ask("In which city does my dance teacher live?", context) == "Bilbao"


def test_what_another_person_owns_does_not_answer_for_the_asker() -> None:
    context = "[1 March 2024]\nuser: By the way: My friend Dana has a rabbit named Bramble."
    assert ask("What is the name of my rabbit?", context) == "I don't know"
    assert ask("What is the name of the rabbit of my friend Dana?", context) == "Bramble"


def test_the_newest_statement_may_name_its_holder_first() -> None:
    context = (
        "[1 March 2024]\nuser: Ferreira is my accountant.\n[9 April 2024]\nuser: Moreau is my accountant from now on."
    )
    assert ask("What is the name of my accountant now?", context) == "Moreau"


def test_new_advice_follows_what_the_user_likes_not_advice_given_before() -> None:
    context = "[1 March 2024]\nuser: For coffee I like a double ristretto.\nassistant: Try the coffee of Casa Verde."
    assert "ristretto" in ask("Which coffee would you suggest for me?", context)
    assert "Casa Verde" in ask("Which coffee did you suggest to me?", context)


def test_days_of_the_week_and_lengths_of_several_units() -> None:
    context = (
        "[1 March 2024]\nAnn: I sing in the choir every Thursday.\nAnn: I ran the race in two hours and five minutes."
    )
    assert ask("On which day of the week does the choir sing?", context) == "Thursday"
    assert ask("How fast did Ann complete the race?", context) == "two hours and five minutes"


def test_a_question_without_a_kind_is_answered_by_whole_sentences() -> None:
    context = "[1 March 2024]\nAnn: We adopted a dog. The dog is a lazy beagle from the shelter."
    assert ask("What breed is the dog?", context) == "The dog is a lazy beagle from the shelter"


def test_the_caption_answers_what_is_in_the_picture() -> None:
    assert "a teapot on a table" in ask("What is in the picture Ann shared?")


def test_the_floor_grows_with_the_number_of_sentences() -> None:
    weights = Weights(floor=0.4, growth=0.1)
    assert [round(weights.least(count), 6) for count in (1, 10, 100, 1000)] == [0.2, 0.3, 0.4, 0.5]


def test_of_a_very_long_question_the_start_and_the_end_are_read() -> None:
    read = understand(" ".join(["Ann"] + ["filler"] * 5000 + ["when did Ann move?"]))
    assert (read.kind, len(read.question.split())) == ("date", LONGEST)
    assert understand("x" * 10_000).question == "x" * LONGEST


def test_the_nth_entry_of_a_numbered_list() -> None:
    context = "[1 March 2024]\nassistant: A list of games: (1) chess, (2) go, (3) halma."
    assert ask("In your list of games, which item came second?", context) == "go"


@pytest.mark.parametrize("context", ["", "[undated]", "[1 March 2024]\nuser: Rain fell all over the hills."])
def test_nothing_close_enough_is_not_answered(context: str) -> None:
    assert ask("Who repaired the violin?", context) == "I don't know"


def test_a_context_is_encoded_once_for_all_its_questions_and_order_is_kept() -> None:
    encoder = WordEncoder()
    tasks = [AnswerQuestion(q, CONTEXT) for q in ("Where did Ann move?", "Does Bo eat meat?", "Where did Ann move?")]
    results = ExtractiveSolver(encoder).solve(tasks)
    assert [result.output for result in results] == ["Lisbon", "No", "Lisbon"]
    assert len(encoder.seen) == len(set(encoder.seen))
    assert {(result.status, result.usage) for result in results} == {("ok", Usage())}


def test_a_batch_answers_as_single_tasks_do() -> None:
    questions = ["Where did Ann move?", "Why did Ann quit her job?", "How many cats does Bo have?"]
    batch = ExtractiveSolver(WordEncoder()).solve([AnswerQuestion(question, CONTEXT) for question in questions])
    assert [result.output for result in batch] == [ask(question) for question in questions]


def test_lines_after_a_label_belong_to_its_speaker_and_a_note_is_no_speaker() -> None:
    parsed = parse_context("[1 March 2024]\nuser: Please note\nNote: buy milk\nassistant: Done today.")
    assert [line.speaker for line in parsed.lines] == ["user", "user", "assistant"]


def test_unknown_tasks_and_thresholds_are_refused() -> None:
    @dataclass(frozen=True)
    class Other:
        name: ClassVar[str] = "paint_picture"

    with pytest.raises(InputError, match="paint_picture"):
        ExtractiveSolver(WordEncoder()).solve([Other()])  # type: ignore[list-item]
    with pytest.raises(InputError, match="speed"):
        ExtractiveSolver(WordEncoder(), speed=3.0)
