"""What may be chosen about the synthetic benchmark, checked once when it is chosen."""

from dataclasses import dataclass
from typing import Literal

from memgauge.errors import InputError, unknown_name

Filler = Literal["short", "medium", "long"]
FILLERS: dict[str, tuple[int, int]] = {"short": (1, 2), "medium": (2, 4), "long": (5, 9)}
SLOTS_PER_QUESTION = 4  # no fact is told in more turns than this
MOST_QUESTIONS = 56  # per history: above it the vocabularies could run out of things to own, buy or visit


@dataclass(frozen=True, slots=True)
class SyntheticOptions:
    """Sizes of the benchmark; every history has the same.

    `turns_per_session` is even: the user speaks, the assistant replies. `filler` sets how many sentences
    a reply without a fact has. `group_size` histories share one persona and therefore one source group
    and one split; `val_share` and `test_share` are shares of groups. Raises InputError.
    """

    histories: int = 12
    sessions_per_history: int = 12
    turns_per_session: int = 10
    questions_per_history: int = 12
    filler: str = "medium"
    group_size: int = 1
    val_share: float = 0.25
    test_share: float = 0.25

    def __post_init__(self) -> None:
        _at_least("histories", self.histories, 1)
        _at_least("sessions_per_history", self.sessions_per_history, 2)
        _at_least("turns_per_session", self.turns_per_session, 2)
        _at_least("questions_per_history", self.questions_per_history, 1)
        _at_least("group_size", self.group_size, 1)
        if self.turns_per_session % 2:
            raise InputError(f"turns_per_session is {self.turns_per_session}; it must be even, so add one turn")
        if self.filler not in FILLERS:
            raise unknown_name("filler", self.filler, sorted(FILLERS))
        self._check_shares()
        self._check_questions()

    def _check_shares(self) -> None:
        for name in ("val_share", "test_share"):
            share = getattr(self, name)
            if not (_is_number(share) and 0 < share < 1):
                raise InputError(f"{name} is {share!r}; it must be a number between 0 and 1, such as 0.25")
        if self.val_share + self.test_share >= 1:
            total = self.val_share + self.test_share
            raise InputError(
                f"val_share and test_share add up to {total}; keep it below 1 to leave histories for train"
            )

    def _check_questions(self) -> None:
        most = min(MOST_QUESTIONS, self.sessions_per_history * self.turns_per_session // 2 // SLOTS_PER_QUESTION)
        if self.questions_per_history > most:
            raise InputError(
                f"questions_per_history is {self.questions_per_history}, more than the {most} that "
                f"{self.sessions_per_history} sessions of {self.turns_per_session} turns have room for; "
                "ask fewer or lengthen the histories"
            )


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _at_least(name: str, value: object, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise InputError(f"{name} is {value!r}; it must be a whole number of at least {least}")
