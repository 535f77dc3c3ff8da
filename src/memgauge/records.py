"""The records everyone speaks: frozen, plain, JSON-friendly; no behaviour beyond small lookups.

Ids are opaque: they never enter indexed text, embeddings or prompts, and never break a tie.
Dates are naive ISO 8601 minutes ("2023-05-08T13:56") in the zone of the dialogue, or a bare day.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

Status = Literal[
    "ok", "empty", "truncated", "context_truncated", "refused_by_provider", "parse_error", "provider_error"
]
Condition = Literal["NM", "TFC", "OE", "CSM", "RM", "SM"]
Split = Literal["train", "val", "test"]
Output = TypeVar("Output")
PRIMARY = "contains_match"  # the metric that gaps and labels are stated for (paper A, section 4)


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of one speaker. `caption` describes an attached picture."""

    id: str
    speaker: str
    text: str
    caption: str | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """A dated part of a history. `id` may repeat inside a history; turn ids never do."""

    id: str
    date: str | None
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class History:
    """One conversation. `group` names its source group: the unit of clustered resampling."""

    id: str
    group: str
    split: Split
    sessions: tuple[Session, ...]

    def turns(self) -> Iterator[tuple[Session, Turn]]:
        """All turns with their session, in history order."""
        for session in self.sessions:
            for turn in session.turns:
                yield session, turn


@dataclass(frozen=True, slots=True)
class Question:
    """A question about one history. Golds, type, evidence and rubric must never reach a solver.

    `golds` is empty for an abstention question; several golds mean that the best one counts.
    `evidence` holds turn ids in history order; `unresolved` the annotator's ids that name no turn.
    """

    id: str
    history_id: str
    text: str
    type: str
    golds: tuple[str, ...] = ()
    date: str | None = None
    evidence: tuple[str, ...] = ()
    unresolved: tuple[str, ...] = ()
    abstention: bool = False
    trap: str | None = None
    rubric: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """One retrievable unit of a store: its text, the turns it came from, its dialogue date."""

    id: str
    text: str
    sources: tuple[str, ...]
    date: str | None = None


@dataclass(frozen=True, slots=True)
class Store:
    """What a memory system keeps of one history, entries in store order.

    `tokens` counts every entry as it is rendered; `counts` says what was covered, dropped or failed. `probes` are
    the questions that the writer guessed, where it guesses any: a record of how it chose, never shown to a reader.
    """

    history_id: str
    system: str
    entries: tuple[Entry, ...]
    tokens: int
    budget_tokens: int
    counts: dict[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    probes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Context:
    """What a reader is shown for one question under one condition.

    `entry_ids` are the entries shown, best ranked first (empty for NM, TFC and OE); `counts` says what choosing
    them took where a solver was asked: calls, tokens, failures.
    """

    question_id: str
    condition: Condition
    text: str
    tokens: int
    entry_ids: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one task by the solver's own tokenizer; all 0 when no language model was called.

    Cached input tokens are part of the input tokens, reasoning tokens of the output tokens. `estimated` is True
    where the provider reported no usage.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 0
    cached_input_tokens: int = 0
    reasoning_tokens: int = 0
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class Result(Generic[Output]):
    """What a solver returns for one task. `output` is None unless `status` is ok; `reply` is the raw text."""

    output: Output | None
    status: Status
    usage: Usage = Usage()
    reply: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """One reader's answer to one question under one condition; only status ok is scored."""

    question_id: str
    condition: Condition
    text: str
    status: Status
    context_tokens: int
    usage: Usage = Usage()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Prepared histories and questions; `quirks` counts every oddity met while loading, by name."""

    name: str
    histories: tuple[History, ...]
    questions: tuple[Question, ...]
    quirks: dict[str, int] = field(default_factory=dict)
