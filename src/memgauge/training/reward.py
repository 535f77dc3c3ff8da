"""What a summary for one question is worth: the quality of the answer it allows, against what it costs (MemoryCPT).

R = alpha * F1 + (1 - alpha) * (1 - min(1, C / C_ref)), with C = |m| * (p_summ_out + p_qa_in) + |a| * p_qa_out for a
summary of |m| and an answer of |a| tokens, and C_ref the same for 60 and 8. It knows nothing of models or trainers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import fsum, sqrt

from memgauge.errors import InputError
from memgauge.metrics.lexical import best, token_f1
from memgauge.tasks.answer_question import AnswerQuestion
from memgauge.tasks.base import Solver
from memgauge.training.summary_rows import SummaryRow

PER_MILLION = 1e-6
SMOOTHING = 1e-4  # added to a group's deviation, as trl does


@dataclass(frozen=True, slots=True)
class RewardPrices:
    """USD per 1M tokens, and the sizes that C_ref stands for; the paper's (7B out, 14B in, 14B out; 60 and 8).

    >>> f"{RewardPrices().reference:.3e}"
    '1.392e-05'
    """

    summariser_output: float = 0.10
    qa_input: float = 0.10
    qa_output: float = 0.24
    reference_summary_tokens: int = 60
    reference_answer_tokens: int = 8

    def __post_init__(self) -> None:
        prices = (self.summariser_output, self.qa_input, self.qa_output)
        if min(prices) < 0 or self.reference <= 0:
            raise InputError(f"{self} gives no positive reference cost; prices are in USD per 1M tokens, none below 0")

    def cost(self, summary_tokens: int, answer_tokens: int) -> float:
        """C in USD: the summary is written once and read once, the answer is written once."""
        written = summary_tokens * (self.summariser_output + self.qa_input)
        return (written + answer_tokens * self.qa_output) * PER_MILLION

    @property
    def reference(self) -> float:
        """C_ref in USD."""
        return self.cost(self.reference_summary_tokens, self.reference_answer_tokens)


PAPER_PRICES = RewardPrices()


@dataclass(frozen=True, slots=True)
class Reward:
    """One scored summary: F1 of its answer, its cost in USD, the saving 1 - min(1, C / C_ref), and R.

    `empty` flags a summary without a word: it is scored like any other, and counted, because a reward that pays
    for empty summaries teaches nothing else.
    """

    f1: float
    cost: float
    saving: float
    reward: float
    empty: bool = False


@dataclass(frozen=True, slots=True)
class Summary:
    """One completion: its text, its tokens without the end token, and whether it ended before the limit."""

    text: str
    tokens: int
    ended: bool = True

    @property
    def shown(self) -> str:
        """What the QA solver sees of it: nothing where it has no letter or digit."""
        return self.text.strip() if any(character.isalnum() for character in self.text) else ""


Score = Callable[[Sequence[Summary], Sequence[SummaryRow]], list[Reward | None]]


def reward(
    f1: float,
    summary_tokens: int,
    answer_tokens: int,
    alpha: float,
    prices: RewardPrices = PAPER_PRICES,
    empty: bool = False,
) -> Reward:
    """R and its parts; `alpha` 1 pays for quality alone, 0 for thrift alone.

    >>> round(reward(0.5, 30, 4, alpha=0.8).reward, 3)
    0.5
    """
    cost = prices.cost(summary_tokens, answer_tokens)
    saving = 1 - min(1.0, cost / prices.reference)
    return Reward(f1, cost, saving, alpha * f1 + (1 - alpha) * saving, empty)


def group_advantages(rewards: Sequence[float | None]) -> list[float]:
    """(R - mean) / (deviation + 1e-4) within one prompt's completions (GRPO), sample deviation.

    None (unscorable) is left out of the mean and the deviation and has advantage 0, as has the only scored one of
    a group: there is nothing to compare it with.

    >>> [round(a, 3) for a in group_advantages([0.0, 1.0, None])], group_advantages([0.7, None])
    ([-0.707, 0.707, 0.0], [0.0, 0.0])
    """
    known = [one for one in rewards if one is not None]
    if len(known) < 2:
        return [0.0] * len(rewards)
    mean = fsum(known) / len(known)
    deviation = sqrt(fsum((one - mean) ** 2 for one in known) / (len(known) - 1))
    return [0.0 if one is None else (one - mean) / (deviation + SMOOTHING) for one in rewards]


@dataclass(frozen=True, slots=True)
class QaScore:
    """Scores summaries by what a frozen QA solver answers from each of them alone; a `Score`.

    `count` gives the tokens of an answer. None for a summary that was cut, and where the QA call failed, was cut or
    came back empty, or the question has no gold that can be scored.
    """

    qa: Solver
    count: Callable[[str], int]
    alpha: float
    prices: RewardPrices = PAPER_PRICES

    def __post_init__(self) -> None:
        if not 0 <= self.alpha <= 1:
            raise InputError(f"alpha is {self.alpha}; it must be a number from 0 (cost alone) to 1 (quality alone)")

    def __call__(self, summaries: Sequence[Summary], rows: Sequence[SummaryRow]) -> list[Reward | None]:
        """One reward or None for each summary, in order; equal summaries of one question are answered once."""
        asked = [
            AnswerQuestion(row.question, summary.shown, row.date) if summary.ended else None
            for summary, row in zip(summaries, rows, strict=True)
        ]
        tasks = list(dict.fromkeys(task for task in asked if task is not None))
        answers = dict(zip(tasks, self.qa.solve(tasks), strict=True))
        found: list[Reward | None] = []
        for summary, row, task in zip(summaries, rows, asked, strict=True):
            answer = None if task is None or answers[task].status != "ok" else answers[task].output
            found.append(None if answer is None else self._of(summary, row, answer))
        return found

    def _of(self, summary: Summary, row: SummaryRow, answer: str) -> Reward | None:
        f1 = best(token_f1, answer, row.golds)
        if f1 is None:
            return None
        return reward(f1, summary.tokens, self.count(answer), self.alpha, self.prices, not summary.shown)
