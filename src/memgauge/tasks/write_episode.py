"""The writer's second operation: one dated note on the turns of a segment (MemoryCPT, EpisodeGenerator)."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from memgauge.prompts import render
from memgauge.tasks.base import Message, ParseFailure
from memgauge.tasks.rationale import LONGEST_REPLY, read_operation, write_operation
from memgauge.text.render import plain_date, render_said

LONGEST_TITLE, LONGEST_CONTENT = 200, 8_000  # characters
KEYS = ("title", "content", "date")
_WORD = re.compile(r"[^\W_]")
_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2})?")


@dataclass(frozen=True, slots=True)
class Episode:
    """What happened, told so that it makes sense alone; `date` is the ISO day or minute it belongs to."""

    title: str
    content: str
    date: str | None

    @property
    def text(self) -> str:
        """Title and content, as an index holds them.

        >>> Episode("A move", "Ann moved.", None).text
        'A move\\nAnn moved.'
        """
        return f"{self.title}\n{self.content}"


@dataclass(frozen=True, slots=True)
class WriteEpisode:
    """One segment to be told in at most `budget_tokens` tokens (cl100k_base), title included.

    `date` is the session's ISO date, `turns` are (speaker, text) pairs in order, `topic` is what the segmenter
    called them, "" where it did not say. The budget is only asked for here: the memory system enforces it.
    """

    name: ClassVar[str] = "write_episode"

    date: str | None
    turns: tuple[tuple[str, str], ...]
    topic: str
    budget_tokens: int = 96
    rationale: bool = True

    @property
    def schema(self) -> dict[str, Any] | None:
        """The episode's three texts; None where a reply may think."""
        if self.rationale:
            return None
        return {
            "type": "object",
            "properties": episode_schema(),
            "required": list(KEYS),
            "additionalProperties": False,
        }

    @property
    def max_new_tokens(self) -> int:
        """Room to end by itself: a solver's tokens may be shorter than cl100k_base's."""
        return min(LONGEST_REPLY, 2 * self.budget_tokens + 96)

    def messages(self) -> list[Message]:
        """System and user message; an undated segment has no date line, one without a topic no topic line."""
        return render(
            self.name,
            thinking="" if self.rationale else None,
            date=plain_date(self.date),
            iso=self.date,
            topic=self.topic or None,
            turns=render_said(self.turns),
            budget_tokens=self.budget_tokens,
        )

    def parse(self, reply: str) -> Episode | ParseFailure:
        """The episode of a JSON object with exactly title, content and date.

        >>> task = WriteEpisode(None, (), "move")
        >>> task.parse('{"title":"A move","content":"Ann moved.","date":"2023-05-08"}')
        Episode(title='A move', content='Ann moved.', date='2023-05-08')
        >>> task.parse('{"title":"A move","content":"Ann moved.","date":"May"}').reason
        "date 'May' is neither null nor an ISO day or minute"
        """
        found = read_operation(reply, KEYS)
        return found if isinstance(found, ParseFailure) else read_episode(found)

    def reply_of(self, rationale: str, output: Episode) -> str:
        """The reply that `parse` reads as this output; the rationale is left out where none is wanted."""
        return write_operation(rationale if self.rationale else "", episode_fields(output))


def episode_schema() -> dict[str, Any]:
    """The JSON properties of an episode."""
    day = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
    return {
        "title": {"type": "string", "minLength": 1, "maxLength": LONGEST_TITLE},
        "content": {"type": "string", "minLength": 1, "maxLength": LONGEST_CONTENT},
        "date": {"anyOf": [{"type": "string", "pattern": f"^{day}(T[0-9]{{2}}:[0-9]{{2}})?$"}, {"type": "null"}]},
    }


def episode_fields(episode: Episode) -> dict[str, str | None]:
    """An episode as its JSON object."""
    return {"title": episode.title, "content": episode.content, "date": episode.date}


def read_episode(found: dict[str, Any]) -> Episode | ParseFailure:
    """The episode of an object that has its three keys; blank lines of the content go."""
    title, content, date = (found[key] for key in KEYS)
    if not isinstance(title, str) or not _WORD.search(title) or len(title) > LONGEST_TITLE:
        return ParseFailure(f"title is no text of 1 to {LONGEST_TITLE} characters")
    if not isinstance(content, str) or not _WORD.search(content) or len(content) > LONGEST_CONTENT:
        return ParseFailure(f"content is no text of 1 to {LONGEST_CONTENT} characters")
    if not is_iso(date):
        return ParseFailure(f"date {str(date)[:40]!r} is neither null nor an ISO day or minute")
    lines = (line.strip() for line in content.splitlines())
    return Episode(" ".join(title.split()), "\n".join(line for line in lines if line), date)


def is_iso(date: object) -> bool:
    """Whether this is no date at all, or a day or minute of the calendar in ISO form.

    >>> is_iso(None), is_iso("2023-05-08T13:56"), is_iso("2023-02-30"), is_iso("8 May 2023")
    (True, True, False, False)
    """
    if date is None:
        return True
    if not isinstance(date, str) or not _ISO.fullmatch(date):
        return False
    try:
        datetime.fromisoformat(date)
    except ValueError:
        return False
    return True
