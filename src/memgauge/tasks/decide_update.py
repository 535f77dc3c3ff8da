"""The writer's task: what newer entries do to an older one (LightMem's consolidation while nobody asks)."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, cast

from memgauge.prompts import render
from memgauge.tasks.base import Message, ParseFailure
from memgauge.tasks.list_facts import LONGEST_FACT
from memgauge.tasks.replies import label_of, read_object
from memgauge.text.render import render_date

Action = Literal["update", "delete", "ignore"]
ACTIONS = ("update", "delete", "ignore")
Note = tuple[str | None, str]  # its ISO date and its text


@dataclass(frozen=True, slots=True)
class Update:
    """What happens to the entry; `text` is its new wording, None unless it is updated."""

    action: Action
    text: str | None = None


@dataclass(frozen=True, slots=True)
class DecideUpdate:
    """One entry and newer ones like it, the likest first; each an ISO date and a text."""

    name: ClassVar[str] = "decide_update"
    schema: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": list(ACTIONS)},
            "text": {"type": "string", "maxLength": LONGEST_FACT},
        },
        "required": ["action", "text"],
        "additionalProperties": False,
    }

    entry: Note
    newer: tuple[Note, ...]

    @property
    def max_new_tokens(self) -> int:
        """Room for one fact and the decision."""
        return 160

    def messages(self) -> list[Message]:
        """System and user message; every note with its date."""
        newer = "\n".join(f"- {_show(note)}" for note in self.newer)
        return render(self.name, entry=_show(self.entry), newer=newer)

    def parse(self, reply: str) -> Update | ParseFailure:
        """The decision of a JSON object; an update needs a wording, which other decisions may not have.

        >>> task = DecideUpdate((None, "Ann has a cat."), ((None, "Ann's cat is Mo."),))
        >>> task.parse('{"action": "update", "text": "Ann has a cat, Mo."}')
        Update(action='update', text='Ann has a cat, Mo.')
        >>> task.parse('{"action": "delete", "text": ""}'), task.parse('{"action": "keep"}').reason
        (Update(action='delete', text=None), "action 'keep' is not one of update, delete, ignore")
        """
        found = read_object(reply)
        if isinstance(found, ParseFailure):
            return found
        action, text = found.get("action"), found.get("text", "")
        if not isinstance(action, str) or label_of(action) not in ACTIONS:
            return ParseFailure(f"action {str(action)[:20]!r} is not one of {', '.join(ACTIONS)}")
        if not isinstance(text, str) or len(text) > LONGEST_FACT:
            return ParseFailure(f"text is no text of at most {LONGEST_FACT} characters")
        said = any(map(str.isalnum, text))
        if said != (label_of(action) == "update"):
            return ParseFailure(f"a decision to {label_of(action)} comes {'with' if said else 'without'} a wording")
        return Update(cast(Action, label_of(action)), " ".join(text.split()) if said else None)


def _show(note: Note) -> str:
    date, text = note
    return f"{render_date(date)} {text}"
