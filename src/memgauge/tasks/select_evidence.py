"""The writer's choice: the least evidence of one session that answers given questions (paper A, section 5, step 2).

A turn is called `session_{i}_turn_{j}`: `i` is the session's place in its history and `j` the turn's place in
its session, both counted from 1. The prompt shows every turn under this name, so that a writer copies it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal
from unicodedata import normalize

from memgauge.prompts import render
from memgauge.tasks.base import Message, ParseFailure
from memgauge.text.render import plain_date

_TAGGED = re.compile(r"\[([QES])\]\s*(.*)")
_SOURCE = re.compile(r"session_([0-9]{1,6})_turn_([0-9]{1,6})")
_NONE = "NONE"

Failure = Literal["malformed", "made_up_source"]


@dataclass(frozen=True, slots=True)
class EvidenceRecord:
    """One statement, the question it answers, and the 0-based positions of its source turns (never empty)."""

    question: str
    evidence: str
    turns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Selection:
    """The records that hold, in the writer's order, and why others did not: one reason a refused record."""

    records: tuple[EvidenceRecord, ...]
    failures: tuple[Failure, ...] = ()


def source_label(session: int, turn: int) -> str:
    """The name of a turn, from the 0-based positions of its session and of the turn in it.

    >>> source_label(11, 2)
    'session_12_turn_3'
    """
    return f"session_{session + 1}_turn_{turn + 1}"


@dataclass(frozen=True, slots=True)
class SelectEvidence:
    """One session, and the questions that guide what is kept of it; without questions the writer judges alone.

    `session` is its 0-based position in the history; `date`, `turns` and `budget_tokens` are those of
    `SummariseSession`. The budget is only asked for here: the memory system is what keeps it.
    """

    name: ClassVar[str] = "select_evidence"

    session: int
    date: str | None
    turns: tuple[tuple[str, str], ...]
    questions: tuple[str, ...]
    budget_tokens: int

    @property
    def max_new_tokens(self) -> int:
        """Room to end by itself: a solver's tokens may be shorter than cl100k_base's, and lists overshoot."""
        return 2 * self.budget_tokens + 128

    def messages(self) -> list[Message]:
        """System and user message; without questions or a date their lines are left out."""
        turns = (f"{source_label(self.session, at)} {speaker}: {text}" for at, (speaker, text) in enumerate(self.turns))
        questions = (f"{number}. {question}" for number, question in enumerate(self.questions, 1))
        return render(
            self.name,
            example=source_label(self.session, 0),
            budget_tokens=self.budget_tokens,
            heading="Questions that may be asked:" if self.questions else None,
            questions="\n".join(questions) or None,
            date=plain_date(self.date),
            turns="\n".join(turns),
        )

    def parse(self, reply: str) -> Selection | ParseFailure:
        """Records of exactly three neighbouring lines `[Q]`, `[E]`, `[S]`; blank lines do not count.

        A record with a line missing, out of order or empty is `malformed`; one that names a turn not in this
        session is a `made_up_source`: both are refused whole. Lines outside records mean nothing. A reply
        without any tag is a failure, unless it is NONE. Labels may be written in full-width characters.

        >>> task = SelectEvidence(0, None, (("Ann", "I like tea."),), (), 50)
        >>> task.parse("[Q] What does Ann like?\\n[E] Ann likes tea.\\n[S] session_1_turn_1").records
        (EvidenceRecord(question='What does Ann like?', evidence='Ann likes tea.', turns=(0,)),)
        >>> task.parse("[Q] Who?\\n[E] Bob.\\n[S] session_1_turn_9")
        Selection(records=(), failures=('made_up_source',))
        """
        if reply.strip() == _NONE:
            return Selection(())
        read = [self._record(lines) for lines in _records(reply)]
        if not read:
            return ParseFailure("the reply has no [Q], [E] or [S] line")
        return Selection(
            tuple(one for one in read if isinstance(one, EvidenceRecord)),
            tuple(one for one in read if not isinstance(one, EvidenceRecord)),
        )

    def _record(self, lines: list[tuple[str, str]]) -> EvidenceRecord | Failure:
        if [tag for tag, _ in lines] != ["Q", "E", "S"]:
            return "malformed"
        question, evidence, sources = (text for _, text in lines)
        if not (any(map(str.isalnum, question)) and any(map(str.isalnum, evidence))):
            return "malformed"
        labels = [label for label in re.split(r"[,;\s]+", normalize("NFKC", sources)) if label]
        matches = [_SOURCE.fullmatch(label) for label in labels]
        named = [(int(match[1]) - 1, int(match[2]) - 1) for match in matches if match]
        if not labels or len(named) < len(labels):
            return "malformed"
        if any(session != self.session or not 0 <= turn < len(self.turns) for session, turn in named):
            return "made_up_source"
        return EvidenceRecord(question, evidence, tuple(sorted({turn for _, turn in named})))


def _records(reply: str) -> Iterator[list[tuple[str, str]]]:
    """Runs of tagged lines as (tag, text): a run ends at an [S], before a [Q], and at a line without a tag."""
    run: list[tuple[str, str]] = []
    for row in filter(None, map(str.strip, reply.splitlines())):
        tagged = _TAGGED.fullmatch(row)
        if run and (tagged is None or tagged[1] == "Q" or run[-1][0] == "S"):
            yield run
            run = []
        if tagged:
            run.append((tagged[1], tagged[2].strip()))
    if run:
        yield run
