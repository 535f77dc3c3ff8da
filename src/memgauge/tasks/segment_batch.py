"""The writer's first operation: which turns of a batch belong together (MemoryCPT, BatchSegmenter)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

from memgauge.prompts import render
from memgauge.tasks.base import Message, ParseFailure
from memgauge.tasks.rationale import LONGEST_REPLY, read_operation, write_operation
from memgauge.text.render import plain_date

LONGEST_TOPIC = 120  # characters
_PLACES = r"[0-9]{1,4}(?:-[0-9]{1,4})?"
_LIST = re.compile(rf"{_PLACES}(?:, ?{_PLACES})*")
_WORD = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class Segment:
    """Turns about one matter: their 0-based positions in the batch, ascending and never none, and the matter."""

    positions: tuple[int, ...]
    topic: str


@dataclass(frozen=True, slots=True)
class SegmentBatch:
    """Neighbouring turns of one session; `date` is its ISO date, `turns` are (speaker, text) pairs in order.

    With `rationale` a reply may think first; without it the reply is the JSON object alone, held to `schema`.
    """

    name: ClassVar[str] = "segment_batch"

    date: str | None
    turns: tuple[tuple[str, str], ...]
    rationale: bool = True

    @property
    def schema(self) -> dict[str, Any] | None:
        """Turns as a list of numbers and ranges ("1-4,7"), counted from 1; None where a reply may think."""
        if self.rationale:
            return None
        places = "[0-9]{1,4}(-[0-9]{1,4})?"
        segment = {
            "type": "object",
            "properties": {
                "turns": {"type": "string", "pattern": f"^{places}(,{places})*$"},
                "topic": {"type": "string", "maxLength": LONGEST_TOPIC},
            },
            "required": ["turns", "topic"],
            "additionalProperties": False,
        }
        return {
            "type": "object",
            "properties": {"episodes": {"type": "array", "items": segment, "minItems": 1}},
            "required": ["episodes"],
            "additionalProperties": False,
        }

    @property
    def max_new_tokens(self) -> int:
        """Room for an episode of every second turn, and a rationale."""
        return min(LONGEST_REPLY, 96 + 12 * len(self.turns))

    def messages(self) -> list[Message]:
        """System and user message; turns are numbered from 1, an undated batch has no date line."""
        return render(
            self.name,
            thinking="" if self.rationale else None,
            date=plain_date(self.date),
            turns=number_turns(self.turns),
        )

    def parse(self, reply: str) -> tuple[Segment, ...] | ParseFailure:
        """Segments in the order of the reply, not all turns need be in one; a single fault refuses them all.

        Faults: a number that is no turn, a turn named twice, a list that is none, a topic without a word.

        >>> task = SegmentBatch(None, (("Ann", "Hi."), ("Bo", "Hi!"), ("Ann", "I moved.")))
        >>> task.parse('<think>greeting, then news</think>{"episodes":[{"turns":"1-2","topic":"hello"}]}')
        (Segment(positions=(0, 1), topic='hello'),)
        >>> task.parse('{"episodes":[{"turns":"3-4","topic":"move"}]}').reason
        "'3-4' names a turn that is not there"
        """
        found = read_operation(reply, ["episodes"])
        if isinstance(found, ParseFailure):
            return found
        given = found["episodes"]
        if not isinstance(given, list) or not 1 <= len(given) <= len(self.turns):
            return ParseFailure("episodes is no list of at least one episode and at most one a turn")
        segments: list[Segment] = []
        for one in given:
            segment = self._segment(one)
            if isinstance(segment, ParseFailure):
                return segment
            segments.append(segment)
        places = [place for segment in segments for place in segment.positions]
        if len(set(places)) < len(places):
            return ParseFailure("a turn is in two episodes")
        return tuple(segments)

    def _segment(self, given: object) -> Segment | ParseFailure:
        if not isinstance(given, dict) or sorted(given) != ["topic", "turns"]:
            return ParseFailure("an episode is no object of turns and topic")
        turns, topic = given["turns"], given["topic"]
        if not isinstance(topic, str) or not _WORD.search(topic) or len(topic) > LONGEST_TOPIC:
            return ParseFailure(f"a topic is no text of 1 to {LONGEST_TOPIC} characters")
        if not isinstance(turns, str) or not _LIST.fullmatch(turns):
            return ParseFailure("turns is no list of numbers and ranges")
        places: list[int] = []
        for part in turns.split(","):
            first, _, last = part.strip().partition("-")
            start, end = int(first) - 1, int(last or first)
            if not 0 <= start < end <= len(self.turns):
                return ParseFailure(f"{part.strip()!r} names a turn that is not there")
            places += range(start, end)
        if len(set(places)) < len(places):
            return ParseFailure("a turn is named twice")
        return Segment(tuple(sorted(places)), topic.strip())

    def reply_of(self, rationale: str, output: tuple[Segment, ...]) -> str:
        """The reply that `parse` reads as this output; the rationale is left out where none is wanted.

        >>> SegmentBatch(None, ()).reply_of("all one", (Segment((0, 1, 2, 5), "a move"),))
        '<think>all one</think>{"episodes":[{"turns":"1-3,6","topic":"a move"}]}'
        """
        episodes = [{"turns": ",".join(_runs(one.positions)), "topic": one.topic} for one in output]
        return write_operation(rationale if self.rationale else "", {"episodes": episodes})


def number_turns(turns: tuple[tuple[str, str], ...]) -> str:
    """Turns as a prompt shows them, numbered from 1.

    >>> number_turns((("Ann", "Hi."), ("Bo", "Hi!")))
    '1. Ann: Hi.\\n2. Bo: Hi!'
    """
    return "\n".join(f"{number}. {speaker}: {text}" for number, (speaker, text) in enumerate(turns, 1))


def _runs(positions: tuple[int, ...]) -> Iterator[str]:
    """Ascending 0-based positions as numbers and ranges counted from 1."""
    starts = [*positions[:1], *(b for a, b in pairwise(positions) if b != a + 1)]
    ends = [*(a for a, b in pairwise(positions) if b != a + 1), *positions[-1:]]
    for start, end in zip(starts, ends, strict=True):
        yield str(start + 1) if start == end else f"{start + 1}-{end + 1}"
