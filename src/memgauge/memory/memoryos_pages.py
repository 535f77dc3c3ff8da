"""MemoryOS's pages of dialogue and the chains that neighbouring pages make."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from memgauge.memory.shared import count_result, split_text, turn_text
from memgauge.records import Entry, History, Session, Turn
from memgauge.tasks.base import Solver
from memgauge.tasks.describe_chain import DescribeChain
from memgauge.tasks.judge_continuity import JudgeContinuity
from memgauge.tasks.list_facts import DatedTurn
from memgauge.text.render import render_turn
from memgauge.text.tokens import count_tokens


@dataclass(frozen=True, slots=True)
class Page:
    """A turn and the answer to it, or a piece of a long turn: its entry (without id), what is said, its session.

    `said` are (turn id, speaker, text) each; `session` is the session's place in the history.
    """

    entry: Entry
    said: tuple[tuple[str, str, str], ...]
    session: int

    @property
    def turns(self) -> tuple[tuple[str, str], ...]:
        """(speaker, text) pairs, as tasks take them."""
        return tuple((speaker, text) for _, speaker, text in self.said)

    @property
    def dated_turns(self) -> tuple[DatedTurn, ...]:
        """(ISO date, speaker, text) of each turn."""
        return tuple((self.entry.date, speaker, text) for _, speaker, text in self.said)

    @property
    def one_sided(self) -> bool:
        """Whether only one speaker has a word in it."""
        return len({speaker for _, speaker, _ in self.said}) == 1


def make_pages(history: History, limit_tokens: int) -> list[Page]:
    """All turns in pages, in order; a pair of more than `limit_tokens` is one page a turn, or a piece of a turn."""
    return [
        page
        for number, session in enumerate(history.sessions)
        for page in _session_pages(number, session, limit_tokens)
    ]


def _session_pages(number: int, session: Session, limit_tokens: int) -> Iterator[Page]:
    for start in range(0, len(session.turns), 2):
        pair = session.turns[start : start + 2]
        text = "\n".join(map(render_turn, pair))
        if count_tokens(text) <= limit_tokens:
            said = tuple((turn.id, turn.speaker, turn_text(turn)) for turn in pair)
            yield Page(Entry("", text, tuple(turn.id for turn in pair), session.date), said, number)
        else:
            yield from (page for turn in pair for page in _pieces(number, session.date, turn, limit_tokens))


def _pieces(number: int, date: str | None, turn: Turn, limit_tokens: int) -> Iterator[Page]:
    """One turn in pieces that each repeat its speaker."""
    for text in map(str.strip, split_text(turn_text(turn), limit_tokens)):
        if text:
            entry = Entry("", f"{turn.speaker}: {text}", (turn.id,), date)
            yield Page(entry, ((turn.id, turn.speaker, text),), number)


@dataclass(frozen=True, slots=True)
class Chain:
    """Pages that carry each other on, by number, and what they are about: "" for a page alone."""

    pages: tuple[int, ...]
    description: str = ""


def make_chains(pages: Sequence[Page], tokens: int, solver: Solver, counts: Counter[str]) -> list[Chain]:
    """Pages linked to the one before wherever the solver says that they carry it on, each chain described.

    All links are judged in one call; then every chain takes in its next page, all chains in one call a round, as
    every new link rewrites the description. A failed judgement links nothing, a failed rewriting changes nothing;
    both are counted. A description is asked for in `tokens`.
    """
    groups = _linked(pages, solver, counts)
    described = ["" for _ in groups]
    told = [0 for _ in groups]  # pages of a chain that its description covers
    for length in range(2, max(map(len, groups), default=0) + 1):
        growing = [at for at, group in enumerate(groups) if len(group) >= length]
        tasks = [_rewriting(pages, groups[at][told[at] : length], described[at], tokens) for at in growing]
        for at, result in zip(growing, solver.solve(tasks), strict=True):
            count_result(result, counts)
            if result.output is None:
                counts["descriptions_failed"] += 1
            else:
                described[at], told[at] = result.output, length
    return [Chain(tuple(group), text) for group, text in zip(groups, described, strict=True)]


def _linked(pages: Sequence[Page], solver: Solver, counts: Counter[str]) -> list[list[int]]:
    tasks = [
        JudgeContinuity((before.entry.date, before.turns), (page.entry.date, page.turns))
        for before, page in pairwise(pages)
    ]
    groups = [[0]] if pages else []
    for at, result in enumerate(solver.solve(tasks) if tasks else [], 1):
        count_result(result, counts)
        counts["continuities_failed"] += result.output is None
        if result.output:
            groups[-1].append(at)
        else:
            groups.append([at])
    counts["chains"] = sum(len(group) > 1 for group in groups)
    return groups


def _rewriting(pages: Sequence[Page], untold: Sequence[int], so_far: str, tokens: int) -> DescribeChain:
    turns = tuple(turn for at in untold for turn in pages[at].turns)
    return DescribeChain(so_far or None, turns, tokens)
