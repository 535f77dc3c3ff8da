"""The writer's task: who the user is and what both sides told, from pages that were often talked of (MemoryOS)."""

from dataclasses import dataclass
from typing import Any, ClassVar

from memgauge.prompts import render
from memgauge.tasks.base import Message, ParseFailure
from memgauge.tasks.list_facts import SCHEMA, DatedTurn, SourcedFact, read_facts, show_turns
from memgauge.tasks.replies import read_object


@dataclass(frozen=True, slots=True)
class Portrait:
    """The user's profile ("" for none), facts of the user's life, and what the other side told."""

    profile: str
    user_facts: tuple[SourcedFact, ...] = ()
    assistant_facts: tuple[SourcedFact, ...] = ()


@dataclass(frozen=True, slots=True)
class ProfileUser:
    """Turns in order, (ISO date, speaker, text) each; every speaker but `user` is on the assistant's side.

    `profile` is the portrait so far, "" for none; a new one is wanted in at most `budget_tokens` (cl100k_base).
    """

    name: ClassVar[str] = "profile_user"
    schema: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {
            "profile": {"type": "string"},
            "user_facts": SCHEMA,
            "assistant_facts": SCHEMA,
        },
        "required": ["profile", "user_facts", "assistant_facts"],
        "additionalProperties": False,
    }

    user: str
    profile: str
    turns: tuple[DatedTurn, ...]
    budget_tokens: int

    @property
    def max_new_tokens(self) -> int:
        """Room for the portrait and two facts a message."""
        return min(4096, 2 * self.budget_tokens + 128 * len(self.turns) + 64)

    def messages(self) -> list[Message]:
        """System and user message; turns numbered from 1 under their dates, no line for a portrait not there yet."""
        return render(
            self.name,
            user=self.user,
            profile=self.profile or None,
            turns=show_turns(self.turns),
            budget_tokens=self.budget_tokens,
        )

    def parse(self, reply: str) -> Portrait | ParseFailure:
        """The portrait of a JSON object; anything in it that is not as asked for refuses all of it.

        >>> ProfileUser("Ann", "", ((None, "Ann", "I moved."),), 9).parse(
        ...     '{"profile": "Ann likes change.", "user_facts": [{"message": 1, "fact": "Ann moved."}],'
        ...     ' "assistant_facts": []}')
        Portrait(profile='Ann likes change.', user_facts=(SourcedFact(turn=0, text='Ann moved.'),), assistant_facts=())
        """
        found = read_object(reply)
        if isinstance(found, ParseFailure):
            return found
        profile = found.get("profile")
        if not isinstance(profile, str):
            return ParseFailure("profile is no text")
        user = read_facts(found.get("user_facts"), len(self.turns))
        if isinstance(user, ParseFailure):
            return user
        assistant = read_facts(found.get("assistant_facts"), len(self.turns))
        if isinstance(assistant, ParseFailure):
            return assistant
        return Portrait(" ".join(profile.split()), user, assistant)
