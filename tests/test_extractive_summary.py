"""summarise_session without a language model."""

from collections.abc import Sequence
from datetime import date

import numpy as np
import pytest
from numpy.typing import NDArray

from memgauge.solvers.extractive.lexicon import content_stems
from memgauge.solvers.extractive.solver import ExtractiveSolver
from memgauge.solvers.extractive.summary import resolve_dates
from memgauge.tasks.summarise_session import SummariseSession, SummaryLine
from memgauge.text.tokens import count_tokens

TURNS = (
    ("Ann", "Hey Bo! How are you?"),
    ("Bo", "I adopted a puppy named Biscuit yesterday."),
    ("Ann", "Nice! I moved to Lisbon last week and I love the food there."),
    ("Bo", "I adopted a puppy named Biscuit yesterday, really."),
    ("Ann", "I decided to quit my job at the bank."),
)


class LetterEncoder:
    """Bags of stems over 64 places."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), 64), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for stem in content_stems(text):
                row[sum(map(ord, stem)) % 64] += 1
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def summarise(budget: int, turns: tuple[tuple[str, str], ...] = TURNS) -> tuple[SummaryLine, ...]:
    output = ExtractiveSolver(LetterEncoder()).solve([SummariseSession("2023-05-08T13:56", turns, budget)])[0].output
    assert isinstance(output, tuple)
    return output


@pytest.mark.parametrize("budget", [0, 5, 20, 40, 60, 500])
def test_the_budget_holds(budget: int) -> None:
    assert sum(count_tokens(f"{line.text}\n") for line in summarise(budget)) <= budget


def test_lines_name_speaker_turn_and_the_day_that_was_meant() -> None:
    lines = summarise(500)
    assert SummaryLine("Bo: I adopted a puppy named Biscuit yesterday (7 May 2023).", (1,)) in lines
    assert [line.turns for line in lines] == sorted(line.turns for line in lines)
    assert all(TURNS[line.turns[0]][0] == line.text.split(":")[0] for line in lines)


def test_greetings_and_questions_are_left_out() -> None:
    assert all(line.turns != (0,) for line in summarise(500))


def test_a_repeated_statement_comes_after_new_ones() -> None:
    first_three = {line.turns[0] for line in summarise(60)}
    assert not {1, 3} <= first_three


def test_a_session_without_statements_gives_no_line() -> None:
    assert summarise(100, (("Ann", "Hi!"), ("Bo", "How are you?"))) == ()


def test_explicit_dates_and_undated_sessions_stay_as_they_are() -> None:
    assert resolve_dates("We met on 3 May 2020.", date(2023, 5, 8)) == "We met on 3 May 2020."
    assert resolve_dates("We met yesterday.", None) == "We met yesterday."
