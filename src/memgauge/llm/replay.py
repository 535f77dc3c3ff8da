"""A tape in the place of the response store: replies without a key, a network or a model."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memgauge.errors import InputError
from memgauge.llm.chat import ChatReply
from memgauge.llm.tape import read_tape


@dataclass(slots=True, eq=False)
class TapeStore:
    """A tape as a response store that is only read: every reply has origin "tape", failures included."""

    file: Path
    _replies: dict[str, ChatReply] | None = field(default=None, repr=False)
    _adaptations: dict[str, dict[str, Any]] = field(default_factory=dict, repr=False)

    def __str__(self) -> str:
        return f"the tape {self.file}"

    def find(self, keys: Iterable[str]) -> dict[str, ChatReply]:
        """The replies that are on the tape, by key; the whole tape is checked at the first look."""
        replies = self._load()
        return {name: replies[name] for name in keys if name in replies}

    def remembered(self, model_id: str) -> dict[str, Any]:
        """How requests to a model were adapted when the tape was recorded."""
        self._load()
        return dict(self._adaptations.get(model_id, {}))

    def add(self, key: str, payload: Mapping[str, Any], sample: int, reply: ChatReply, readable: bool = True) -> None:
        """Refused: a tape is never written to."""
        raise InputError(f"{self} is only read; set llm.mode to live and use the response store to make calls")

    def remember(self, model_id: str, change: Mapping[str, Any]) -> None:
        """Refused, as `add` is."""
        raise InputError(f"{self} is only read; set llm.mode to live to learn what {model_id} accepts")

    def use(self, run: str, cell: str, keys: Iterable[str]) -> None:
        """Nothing to note: what is on the tape was used."""

    def _load(self) -> dict[str, ChatReply]:
        if self._replies is None:
            calls, self._adaptations = read_tape(self.file)
            self._replies = {name: call.reply for name, call in calls.items()}
        return self._replies
