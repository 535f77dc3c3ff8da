"""The writer's third operation: whether a new note belongs to an older one, and what both say together.

MemoryCPT's EpisodeMerger: the decision and the merged content are one prediction of the student.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from memgauge.prompts import render
from memgauge.tasks.base import Message, ParseFailure
from memgauge.tasks.rationale import LONGEST_REPLY, read_operation, write_operation
from memgauge.tasks.write_episode import KEYS, Episode, episode_fields, episode_schema, read_episode
from memgauge.text.render import render_date
from memgauge.text.tokens import count_tokens


@dataclass(frozen=True, slots=True)
class Merge:
    """The 0-based position of the candidate that `episode` replaces, both merged; both None: keep the new one."""

    target: int | None
    episode: Episode | None


@dataclass(frozen=True, slots=True)
class MergeEpisodes:
    """A new episode and the older ones it is close to, the closest first."""

    name: ClassVar[str] = "merge_episodes"

    episode: Episode
    candidates: tuple[Episode, ...]
    rationale: bool = True

    @property
    def schema(self) -> dict[str, Any] | None:
        """The number of an old note, counted from 1, with the merged note; or a target of null alone."""
        if self.rationale:
            return None
        target = {"type": "integer", "minimum": 1, "maximum": max(len(self.candidates), 1)}
        merged = {"target": target, **episode_schema()}
        return {
            "anyOf": [
                {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
                for fields in (merged, {"target": {"type": "null"}})
            ]
        }

    @property
    def max_new_tokens(self) -> int:
        """Room for all that the new note and the longest of the old ones say."""
        longest = max((count_tokens(one.text) for one in self.candidates), default=0)
        return min(LONGEST_REPLY, 2 * (count_tokens(self.episode.text) + longest) + 96)

    def messages(self) -> list[Message]:
        """System and user message; old notes are numbered from 1."""
        return render(
            self.name,
            thinking="" if self.rationale else None,
            candidates="\n".join(f"{number}. {_show(one)}" for number, one in enumerate(self.candidates, 1)),
            episode=_show(self.episode),
        )

    def parse(self, reply: str) -> Merge | ParseFailure:
        """A target of null and nothing else, or the number of an old note with a whole merged note.

        >>> old, new = Episode("Flat", "Ann seeks a flat.", None), Episode("Flat", "Ann found it.", None)
        >>> task = MergeEpisodes(new, (old,))
        >>> task.parse('{"target":null}')
        Merge(target=None, episode=None)
        >>> task.parse('{"target":1,"title":"Flat","content":"Ann sought a flat and found it.","date":null}').target
        0
        >>> task.parse('{"target":2,"title":"Flat","content":"Ann.","date":null}').reason
        'target 2 is no number of an old note'
        """
        found = read_operation(reply, ["target", *KEYS])
        if isinstance(found, ParseFailure):
            alone = read_operation(reply, ["target"])
            if isinstance(alone, ParseFailure):
                return found
            return Merge(None, None) if alone["target"] is None else ParseFailure("a target without a merged note")
        target = found["target"]
        if not isinstance(target, int) or isinstance(target, bool) or not 1 <= target <= len(self.candidates):
            return ParseFailure(f"target {str(target)[:40]} is no number of an old note")
        episode = read_episode(found)
        return episode if isinstance(episode, ParseFailure) else Merge(target - 1, episode)

    def reply_of(self, rationale: str, output: Merge) -> str:
        """The reply that `parse` reads as this output; the rationale is left out where none is wanted.

        >>> MergeEpisodes(Episode("a", "b", None), ()).reply_of("new", Merge(None, None))
        '<think>new</think>{"target":null}'
        """
        found: dict[str, Any] = {"target": None}
        if output.target is not None and output.episode is not None:
            found = {"target": output.target + 1, **episode_fields(output.episode)}
        return write_operation(rationale if self.rationale else "", found)


def _show(episode: Episode) -> str:
    date = "" if episode.date is None else f"{render_date(episode.date)} "
    return f"{date}{episode.text}"
