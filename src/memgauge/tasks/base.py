"""What a task is and what a solver promises (design section 4)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, TypedDict, TypeVar, runtime_checkable

from memgauge.errors import MemgaugeError
from memgauge.records import Result

Output_co = TypeVar("Output_co", covariant=True)
Output = TypeVar("Output")


class Message(TypedDict):
    """One chat message."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class ParseFailure:
    """Why a reply could not be read; counted, never repaired."""

    reason: str


@runtime_checkable
class Task(Protocol[Output_co]):
    """One typed thing a solver is asked to do: a frozen dataclass with its inputs as fields."""

    name: ClassVar[str]

    @property
    def max_new_tokens(self) -> int:
        """The most tokens a reply may take."""
        ...

    def messages(self) -> list[Message]:
        """The task rendered as chat messages from its prompt template."""
        ...

    def parse(self, reply: str) -> Output_co | ParseFailure:
        """The typed output, or a named failure; never a guess."""
        ...


class Solver(Protocol):
    """Turns a list of tasks of one kind into results in the same order."""

    def solve(self, tasks: Sequence[Task[Output]]) -> list[Result[Output]]:
        """Solve every task; a failure is a status in its result, never an exception."""
        ...


def solve_all(solver: Solver, tasks: Sequence[Task[Output]]) -> list[Result[Output]]:
    """One result for each task, in order; no task is no call. MemgaugeError for a solver that breaks its promise."""
    results = solver.solve(tasks) if tasks else []
    if len(results) != len(tasks):
        raise MemgaugeError(f"a solver returned {len(results)} results for {len(tasks)} tasks; it must return one each")
    return results
