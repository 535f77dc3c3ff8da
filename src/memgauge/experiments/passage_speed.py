"""How fast and in how much memory one very long history is ranked: 1M and 10M tokens, simulated by generation."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from memgauge.datasets.synthetic.generate import generate
from memgauge.datasets.synthetic.options import SyntheticOptions
from memgauge.experiments.passage_budgets import history_windows, rank_history
from memgauge.records import History, Question, Session
from memgauge.text.tokens import count_many

QUESTIONS = 20  # as many as BEAM asks about a chat
LEAST = 10_000  # tokens that a generated history of sixty sessions surely has


@dataclass(frozen=True, slots=True)
class Speed:
    """One history: its cl100k_base tokens and windows, seconds to cut and rank it for all questions.

    `before_mib` is the process's highest size before ranking (the history is held), `peak_mib` the highest after it.
    """

    tokens: int
    windows: int
    questions: int
    seconds: float
    before_mib: float
    peak_mib: float

    @property
    def tokens_per_second(self) -> float:
        """Tokens of the history ranked in a second, all questions together."""
        return self.tokens / self.seconds


def long_history(tokens: int, seed: int) -> tuple[History, tuple[Question, ...], int]:
    """One history of at least `tokens` tokens, made of generated ones on end, twenty questions, its tokens."""
    sessions: list[Session] = []
    asked: list[Question] = []
    total = 0
    options = SyntheticOptions(histories=3 + tokens // LEAST, sessions_per_history=60, filler="long")
    for history, questions in generate(options, seed):
        sessions += history.sessions
        total += sum(count_many([turn.text for _, turn in history.turns()]))
        asked += [replace(question, history_id="long") for question in questions]
        if total >= tokens:
            break
    step = max(len(asked) // QUESTIONS, 1)
    return History("long", "long", "test", tuple(sessions)), tuple(asked[::step][:QUESTIONS]), total


def measure_speed(tokens: int, seed: int, clock: Callable[[], float], memory: Callable[[], float]) -> Speed:
    """Rank one long history; `clock` gives seconds, `memory` the process's highest size so far in MiB."""
    history, questions, total = long_history(tokens, seed)
    before = memory()
    start = clock()
    windows = history_windows(history)
    rank_history(history, questions, windows=windows)
    return Speed(total, len(windows), len(questions), clock() - start, before, memory())
