"""The writer's task: what a piece of conversation is about, for filing it (MemoryOS's theme summaries)."""

from dataclasses import dataclass
from typing import Any, ClassVar

from memgauge.prompts import render
from memgauge.tasks.base import Message, ParseFailure
from memgauge.tasks.replies import read_object

LONGEST_SUMMARY = 240  # characters
LONGEST_KEYWORD = 40
MOST_KEYWORDS = 8


@dataclass(frozen=True, slots=True)
class Theme:
    """What a piece is about: one sentence, and distinct words to file it under."""

    summary: str
    keywords: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NameThemes:
    """One piece of a conversation, (speaker, text) pairs in order; at most `limit` themes are wanted."""

    name: ClassVar[str] = "name_themes"

    turns: tuple[tuple[str, str], ...]
    limit: int = 2

    @property
    def schema(self) -> dict[str, Any]:
        """One to `limit` themes."""
        keyword = {"type": "string", "minLength": 1, "maxLength": LONGEST_KEYWORD}
        theme = {
            "type": "object",
            "properties": {
                "summary": {"type": "string", "minLength": 1, "maxLength": LONGEST_SUMMARY},
                "keywords": {"type": "array", "items": keyword, "maxItems": MOST_KEYWORDS},
            },
            "required": ["summary", "keywords"],
            "additionalProperties": False,
        }
        return {
            "type": "object",
            "properties": {"themes": {"type": "array", "items": theme, "minItems": 1, "maxItems": self.limit}},
            "required": ["themes"],
            "additionalProperties": False,
        }

    @property
    def max_new_tokens(self) -> int:
        """Room for every theme."""
        return 32 + 160 * self.limit

    def messages(self) -> list[Message]:
        """System and user message."""
        turns = "\n".join(f"{speaker}: {text}" for speaker, text in self.turns)
        return render(self.name, turns=turns, limit=self.limit)

    def parse(self, reply: str) -> tuple[Theme, ...] | ParseFailure:
        """The themes of a JSON object; one that is none refuses them all.

        >>> NameThemes(()).parse('{"themes": [{"summary": "Ann moves.", "keywords": ["move", "Lisbon", "move"]}]}')
        (Theme(summary='Ann moves.', keywords=('move', 'Lisbon')),)
        """
        found = read_object(reply)
        if isinstance(found, ParseFailure):
            return found
        given = found.get("themes")
        if not isinstance(given, list) or not 1 <= len(given) <= self.limit:
            return ParseFailure(f"the object holds no list of 1 to {self.limit} themes")
        themes = [_theme(one) for one in given]
        if any(theme is None for theme in themes):
            return ParseFailure("a theme is no object of a summary and keywords of the length asked for")
        return tuple(theme for theme in themes if theme is not None)


def _theme(given: object) -> Theme | None:
    if not isinstance(given, dict) or not isinstance(given.get("keywords"), list):
        return None
    summary, keywords = given.get("summary"), given["keywords"]
    if not _is_text(summary, LONGEST_SUMMARY) or len(keywords) > MOST_KEYWORDS:
        return None
    if not all(_is_text(word, LONGEST_KEYWORD) for word in keywords):
        return None
    return Theme(" ".join(str(summary).split()), tuple(dict.fromkeys(" ".join(word.split()) for word in keywords)))


def _is_text(value: object, longest: int) -> bool:
    return isinstance(value, str) and any(map(str.isalnum, value)) and len(value) <= longest
