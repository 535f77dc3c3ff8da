"""How MemoryOS's tiers become the entries of a store, each tier within its part of the budget.

An entry's id opens with its tier, and a segment's or chain's sources hold those of its pages: that is how a store
is read back.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from memgauge.memory.memoryos_pages import Chain, Page
from memgauge.memory.memoryos_segments import Segment
from memgauge.memory.shared import count_result
from memgauge.records import Entry
from memgauge.tasks.base import Solver
from memgauge.tasks.list_facts import SourcedFact
from memgauge.tasks.profile_user import ProfileUser
from memgauge.text.render import entry_tokens
from memgauge.text.tokens import truncate

PROFILE, SEGMENT, CHAIN, PAGE, SHORT, USER, ASSISTANT = "profile", "segment", "chain", "page", "short", "user", "agent"
_FILED = "Filed under "


def segment_text(segment: Segment) -> str:
    """A segment's summary, and a line with its keywords."""
    keywords = ", ".join(word.replace(",", " ") for word in segment.theme.keywords)
    return f"{segment.theme.summary}\n{_FILED}{keywords}." if keywords else segment.theme.summary


def read_segment(text: str) -> tuple[str, tuple[str, ...]]:
    """Summary and keywords of a segment's text.

    >>> read_segment("Ann plans a trip.\\nFiled under lake, tent."), read_segment("Ann plans a trip.")
    (('Ann plans a trip.', ('lake', 'tent')), ('Ann plans a trip.', ()))
    """
    summary, line, keywords = text.rpartition(f"\n{_FILED}")
    return (summary, tuple(keywords.removesuffix(".").split(", "))) if line else (text, ())


def fitted(entry: Entry, budget_tokens: int) -> Entry | None:
    """The entry, its text cut to what the budget holds with its heading; None where not even a word fits."""
    limit = budget_tokens
    while limit > 0 and entry_tokens(replace(entry, text=truncate(entry.text, limit).rstrip())) > budget_tokens:
        limit -= 1
    text = truncate(entry.text, limit).rstrip()
    return replace(entry, text=text) if text.strip() else None


def joined(id: str, text: str, entries: Iterable[Entry]) -> Entry:
    """One entry from all sources of others; undated where these are of several dates."""
    members = list(entries)
    sources = dict.fromkeys(source for entry in members for source in entry.sources)
    dates = {entry.date for entry in members}
    return Entry(id, text, tuple(sources), dates.pop() if len(dates) == 1 else None)


# --- long-term memory


@dataclass(slots=True)
class LongTerm:
    """The profile and the facts of both sides, oldest first; `pages` are those they were taken from."""

    profile: str = ""
    user: list[Entry] = field(default_factory=list)
    assistant: list[Entry] = field(default_factory=list)
    pages: list[int] = field(default_factory=list)

    def entries(self, pages: Sequence[Page], budget_tokens: int, counts: Counter[str]) -> list[Entry]:
        """The profile, cut to at most half of the budget, then the newest facts that fit, the user's first."""
        kept: list[Entry] = []
        if self.profile.strip():
            whole = joined(PROFILE, self.profile, (pages[at].entry for at in sorted(self.pages)))
            profile = fitted(whole, budget_tokens // 2)
            kept += [profile] if profile else []
            counts["profiles_cut"] += profile != whole
        left = budget_tokens - sum(map(entry_tokens, kept))
        facts = [*reversed(self.user), *reversed(self.assistant)]
        for at, fact in enumerate(facts):
            left -= entry_tokens(fact)
            if left < 0:
                counts["facts_evicted"] += len(facts) - at
                break
            kept.append(fact)
        return kept


def analyse(
    groups: Sequence[Sequence[int]], pages: Sequence[Page], ask: tuple[str, int], capacity: int, solver: Solver
) -> tuple[LongTerm, Counter[str]]:
    """The long-term memory after each group of pages in order, with counts; `ask` are user and tokens of a profile.

    One call a group, since a profile is made of the one before. Each list keeps its newest `capacity` facts. A
    failed call leaves all as it was and is counted.
    """
    memory, counts = LongTerm(), Counter[str]()
    made = 0
    for group in groups:
        turns = tuple(turn for at in group for turn in pages[at].dated_turns)
        (result,) = solver.solve([ProfileUser(ask[0], memory.profile, turns, ask[1])])
        count_result(result, counts)
        if result.output is None:
            counts["portraits_failed"] += 1
            continue
        memory.profile = result.output.profile
        memory.pages += group
        ids = [id for at in group for id, _, _ in pages[at].said]
        for tier, kept, facts in (
            (USER, memory.user, result.output.user_facts),
            (ASSISTANT, memory.assistant, result.output.assistant_facts),
        ):
            kept += [_fact(f"{tier}-{made + at}", fact, ids, turns) for at, fact in enumerate(facts)]
            made += len(facts)
            counts["facts_evicted"] += max(len(kept) - capacity, 0)
            del kept[: max(len(kept) - capacity, 0)]
    return memory, counts


def _fact(id: str, fact: SourcedFact, ids: Sequence[str], turns: Sequence[tuple[str | None, str, str]]) -> Entry:
    return Entry(id, fact.text, (ids[fact.turn],), turns[fact.turn][0])


# --- mid-term memory


@dataclass(slots=True)
class Shelf:
    """What of the mid-term memory a budget holds: pages with their segments' and chains' texts."""

    pages: Sequence[Page]
    chains: Sequence[Chain]
    left: int
    kept: dict[int, int] = field(default_factory=dict)  # page: its chain
    entries: list[Entry] = field(default_factory=list)

    def fill(self, segments: Sequence[Segment]) -> None:
        """Whole segments in order; of the first that does not fit, its newest pages; nothing after it."""
        chain_of = {page: at for at, chain in enumerate(self.chains) for page in chain.pages}
        for segment in segments:
            if not self._add(segment, chain_of):
                break
        for page in sorted(self.kept):
            self.entries.append(replace(self.pages[page].entry, id=f"{PAGE}-{page}"))
        for at in sorted(set(self.kept.values())):
            self.entries += [entry] if (entry := self._chain(at)) else []

    def _add(self, segment: Segment, chain_of: dict[int, int]) -> bool:
        """Whether the segment fitted whole."""
        founder = self.pages[segment.pages[0]].entry
        summary = Entry("", segment_text(segment), (), founder.date)
        left = self.left - max(entry_tokens(summary), entry_tokens(replace(summary, date=None)))
        chosen: list[int] = []
        for page in reversed(segment.pages):
            cost = self._cost(page, chain_of[page])
            if cost > left:
                break
            left -= cost
            self.kept[page] = chain_of[page]
            chosen.append(page)
        if chosen:
            self.left = left
            members = [founder, *(self.pages[page].entry for page in reversed(chosen))]
            self.entries.append(joined(f"{SEGMENT}-{segment.number}", summary.text, members))
        return len(chosen) == len(segment.pages)

    def _cost(self, page: int, chain: int) -> int:
        """What the page and, if it is the first of its chain, the chain's text still take."""
        if page in self.kept:
            return 0
        entry = None if chain in self.kept.values() else self._chain(chain)
        return entry_tokens(self.pages[page].entry) + (entry_tokens(entry) if entry else 0)

    def _chain(self, at: int) -> Entry | None:
        chain = self.chains[at]
        members = (self.pages[page].entry for page in chain.pages)
        return joined(f"{CHAIN}-{at}", chain.description, members) if chain.description.strip() else None
