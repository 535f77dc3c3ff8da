"""What may happen in a conversation about three slots, and who says it."""

from dataclasses import dataclass
from typing import Literal

from memgauge.tasks.track_state import Slot

EventKind = Literal["assign", "update", "offer", "accept"]
Speaker = Literal["user", "assistant"]


@dataclass(frozen=True, slots=True)
class Event:
    """One message: `id` is "e" and its place from 1; an acceptance has no value but names an offer's id."""

    id: str
    kind: EventKind
    slot: Slot
    value: str | None = None
    offer: str | None = None

    @property
    def speaker(self) -> Speaker:
        """Who says it: only offers are the assistant's.

        >>> Event("e4", "offer", "item", "tram").speaker
        'assistant'
        """
        return "assistant" if self.kind == "offer" else "user"
