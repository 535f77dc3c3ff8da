"""The chooser's task: one step of a walk through a tree of notes towards the answer of a question."""

import re
from dataclasses import dataclass
from typing import ClassVar, Literal

from memgauge.prompts import render
from memgauge.tasks.base import Message, ParseFailure
from memgauge.text.render import plain_date, render_date

# The position of the part to open, or where else to go.
Move = int | Literal["back", "stop"]
Note = tuple[str | None, str]  # its ISO date and its text
_MOVE = re.compile(
    r"(?:(?:open|part|choice|answer|move)\b[\s:]*)*\[?(?P<move>\d+|back|stop)\]?\.?", re.IGNORECASE | re.ASCII
)


@dataclass(frozen=True, slots=True)
class ChooseChild:
    """Where to go next from `place`: into one of its parts, back up where `back` allows it, or no further.

    `parts` are the notes one level down, none at the bottom; `seen` are the positions of those already opened.
    `place` is None above several trees. Dates are ISO; `question_date` is when the question is asked.
    """

    name: ClassVar[str] = "choose_child"

    question: str
    place: Note | None
    parts: tuple[Note, ...]
    seen: tuple[int, ...] = ()
    back: bool = False
    question_date: str | None = None

    @property
    def max_new_tokens(self) -> int:
        """A label and a number or word."""
        return 16

    def messages(self) -> list[Message]:
        """System and user message: what was opened, what can be opened, the question, the moves."""
        date = plain_date(self.question_date)
        return render(
            self.name,
            place=None if self.place is None else f"You are reading:\n{_show(self.place)}\n",
            parts=self._shown_parts(),
            question=self.question,
            question_date=date,
            moves=self._moves(),
        )

    def _shown_parts(self) -> str | None:
        if not self.parts:
            return None
        shown = [
            f"Part {number}{' (already opened)' if number - 1 in self.seen else ''}\n{_show(part)}"
            for number, part in enumerate(self.parts, 1)
        ]
        return "It is made of these parts:\n" + "\n".join(shown) + "\n"

    def _moves(self) -> str:
        open_ = [str(number) for number in range(1, len(self.parts) + 1) if number - 1 not in self.seen]
        moves = [f"the number of the part to open ({', '.join(open_)})"] if open_ else []
        moves += ["BACK to look elsewhere"] if self.back else []
        return ", ".join([*moves, "STOP if what you have read is enough"])

    def parse(self, reply: str) -> Move | ParseFailure:
        """One number or one word and nothing beside it but a label; it must be a move that is open.

        >>> task = ChooseChild("Who?", None, ((None, "a"), (None, "b")), seen=(0,))
        >>> task.parse("Part 2."), task.parse("STOP"), task.parse("1").reason, task.parse("back").reason
        (1, 'stop', 'part 1 was already opened', 'there is no way back')
        """
        match = _MOVE.fullmatch(reply.strip(" \t\r\n*_`\"'"))
        if match is None:
            return ParseFailure("the reply is not one move")
        word = match["move"].lower()
        if word == "stop":
            return "stop"
        if word == "back":
            return "back" if self.back else ParseFailure("there is no way back")
        if len(word) > 6 or not 1 <= int(word) <= len(self.parts):
            return ParseFailure("there is no part of that number")
        position = int(word) - 1
        return ParseFailure(f"part {int(word)} was already opened") if position in self.seen else position


def _show(note: Note) -> str:
    date, text = note
    return text if date is None else f"{render_date(date)}\n{text}"
