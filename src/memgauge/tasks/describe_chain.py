"""The writer's task: say in a sentence or two what a chain of pages is about (MemoryOS's meta-summary)."""

from dataclasses import dataclass
from typing import ClassVar

from memgauge.prompts import render
from memgauge.tasks.base import Message, ParseFailure


@dataclass(frozen=True, slots=True)
class DescribeChain:
    """`so_far` is the description of the chain before its newest page, None where there is none yet.

    `turns` are the (speaker, text) pairs that it does not cover. The budget (cl100k_base) is only asked for here.
    """

    name: ClassVar[str] = "describe_chain"

    so_far: str | None
    turns: tuple[tuple[str, str], ...]
    budget_tokens: int

    @property
    def max_new_tokens(self) -> int:
        """Room to end by itself: a solver's tokens may be shorter than cl100k_base's."""
        return 2 * self.budget_tokens + 32

    def messages(self) -> list[Message]:
        """System and user message; no line for a description that is not there yet."""
        turns = "\n".join(f"{speaker}: {text}" for speaker, text in self.turns)
        return render(self.name, so_far=self.so_far, turns=turns, budget_tokens=self.budget_tokens)

    def parse(self, reply: str) -> str | ParseFailure:
        """The reply on one line; it must hold a letter or a digit.

        >>> DescribeChain(None, (), 50).parse(" Ann and Bo\\n plan a trip. ")
        'Ann and Bo plan a trip.'
        """
        if not any(map(str.isalnum, reply)):
            return ParseFailure("the reply has no word")
        return " ".join(reply.split())
