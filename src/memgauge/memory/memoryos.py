"""Pages that move from short to mid to long-term memory as an operating system moves them (MemoryOS, arXiv 2506.06326,
and its released code).

Keeps a queue of the newest pages (a turn and the answer to it); pages that left it, filed in segments by theme and
linked in chains that carry on one subject, with the segments' summaries and the chains' descriptions; of segments
that became hot, the user's profile and facts of both sides. CSM is all of these in history order; RM what the answer
prompt holds: the queue, the best pages of the best segments with their chains, the profile, the likest facts, ranked by
cosine behind the profile, since the harness cuts a ranking.
Deviations:
- time is the dialogue's, the release reads the wall clock; a page is filed on its session's day;
- all links are judged, all themes named in one call each, which changes no result; a page leaves the queue alone, so
  that a batch to be named is one page; profile and facts of an analysis come from one call instead of two; every
  call has the writer's one temperature;
- a description is stored once a chain, a page once even if filed in two segments; a page alone has no description;
- a theme that failed files its page by its own text, where the release has a constant text for all such pages;
- every question is asked of the store as written: N_visit stays 0, since a look-up may not change a store that other
  questions share. Least frequently used is then a tie, which goes to the coolest segment (the paper's rule);
- the user is the speaker "user", else the first to speak, and all others are the assistant's side; replies and the
  assistant's traits are left to the suite's reader;
- pages over `page_tokens` are cut; a budget, of which queue and long-term memory may have their shares: mid-term
  segments go whole, the coolest first, and of the last one its oldest pages.
`as_released`: a page in which only one side speaks is lost when it leaves the queue. The loss that a later fix of the
release describes, a full queue pushing out a page unseen, cannot be shown here: a queue that is emptied to its size
after every page is never full when the next one comes.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from memgauge.errors import InputError
from memgauge.memory.base import Query, Ranking, Tools, Written
from memgauge.memory.decay import dialogue_days
from memgauge.memory.memoryos_pages import Page, make_chains, make_pages
from memgauge.memory.memoryos_search import Search, Tiers
from memgauge.memory.memoryos_segments import Filed, Heat, MidTerm, survivors
from memgauge.memory.memoryos_store import SHORT, Shelf, analyse
from memgauge.memory.shared import count_result
from memgauge.memory.summaries import without_blanks
from memgauge.records import Entry, History, Store
from memgauge.tasks.base import Solver
from memgauge.tasks.name_themes import NameThemes, Theme
from memgauge.tasks.pick_keywords import PickKeywords
from memgauge.text.render import entry_tokens


@dataclass(frozen=True, slots=True)
class Memoryos:
    """`short_term`: pages in the queue; `page_tokens`, `chain_tokens`, `profile_tokens`: the most of each text;
    `themes`: of a page, at most; `similarity`, `keyword_weight`: see `MidTerm`; the four of heat: see `Heat`;
    `hot`: heat from which on a segment is analysed; `segments`, `facts`: capacities, facts of each side.

    Of a question: `keywords`, `segments_searched` with F of at least `segment_floor`, `pages_shown` with a cosine of
    at least `page_floor`, `facts_shown` of each side likewise. `short_term_share`, `long_term_share`: of the budget.
    """

    name: ClassVar[str] = "memoryos"
    card: ClassVar[dict[str, str]] = {
        "short_term": "paper: 7 (src 10; its evaluation 1)",
        "page_tokens": "ours: the release keeps whole pages",
        "chain_tokens": "src: 100",
        "themes": "src: 2",
        "similarity": "src: 0.6",
        "keyword_weight": "src: 1",
        "visit_heat": "src: 1 (its evaluation 0.8)",
        "interaction_heat": "src: 1 (its evaluation 0.8)",
        "recency_heat": "src: 1 (its evaluation 0.0001)",
        "tau_days": "src: 1 (its evaluation 3600 s; paper 1e7 s, recalled)",
        "hot": "src: 5",
        "segments": "src: 2000 (paper 200, recalled)",
        "facts": "src: 100",
        "profile_tokens": "ours: the release states no length",
        "keywords": "src: 3",
        "segments_searched": "src: 5",
        "segment_floor": "src: 0.1",
        "pages_shown": "src, its evaluation: 10 (library 7)",
        "page_floor": "src: 0.1",
        "facts_shown": "src, its evaluation: 10 (library 20)",
        "fact_floor": "src, its evaluation: 0.1 (library 0.01)",
        "short_term_share": "ours, on synthetic train histories: the release has no budget",
        "long_term_share": "ours, as short_term_share; what it leaves goes to mid-term memory",
        "as_released": "src: true; off, since pages are lost",
    }

    short_term: int = 7
    page_tokens: int = 200
    chain_tokens: int = 100
    themes: int = 2
    similarity: float = 0.6
    keyword_weight: float = 1.0
    visit_heat: float = 1.0
    interaction_heat: float = 1.0
    recency_heat: float = 1.0
    tau_days: float = 1.0
    hot: float = 5.0
    segments: int = 2000
    facts: int = 100
    profile_tokens: int = 100
    keywords: int = 3
    segments_searched: int = 5
    segment_floor: float = 0.1
    pages_shown: int = 10
    page_floor: float = 0.1
    facts_shown: int = 10
    fact_floor: float = 0.1
    short_term_share: float = 0.15
    long_term_share: float = 0.5
    as_released: bool = False

    def write(self, history: History, budget_tokens: int, tools: Tools) -> Written:
        """The queue and long-term memory within their shares, then mid-term memory in what is left."""
        self._check()
        counts: Counter[str] = Counter()
        told = without_blanks(history)
        pages = make_pages(told, self.page_tokens)
        queue = self._queue(pages, int(budget_tokens * self.short_term_share))
        moved = self._moved(pages[: len(pages) - len(queue)], counts)
        days = dialogue_days([session.date for session in told.sessions])
        filed = self._file(moved, days, tools, counts)
        user = _user(told)
        long_term, taken = analyse(filed.analyses, moved, (user, self.profile_tokens), self.facts, tools.solver)
        counts.update(taken)
        entries = [*queue, *long_term.entries(moved, int(budget_tokens * self.long_term_share), counts)]
        chains = make_chains(moved, self.chain_tokens, tools.solver, counts)
        shelf = Shelf(moved, chains, budget_tokens - sum(map(entry_tokens, entries)))
        shelf.fill(survivors(filed.segments, self._heat(), max(days, default=0.0)))
        counts["pages_evicted"] = len(moved) - len(shelf.kept)
        order = {turn.id: at for at, (_, turn) in enumerate(history.turns())}
        entries = sorted([*shelf.entries, *entries], key=lambda entry: order[entry.sources[0]])
        return Written(tuple(entries), dict(sorted(counts.items())))

    def retrieve(self, store: Store, queries: Sequence[Query], tools: Tools) -> list[Ranking]:
        """What the answer prompt would hold for each question, and no other entry."""
        if not store.entries or not queries:
            return [Ranking(()) for _ in queries]
        tiers = Tiers(store.entries)
        texts = tools.encoder.encode(tiers.texts)
        cosines = tools.encoder.encode([query.text for query in queries]) @ texts.T
        rows = np.round(cosines.astype(np.float64), 6) + 0.0  # + 0.0: no negative zero
        search = Search(
            self.segments_searched,
            self.segment_floor,
            self.keyword_weight,
            self.pages_shown,
            self.page_floor,
            self.facts_shown,
            self.fact_floor,
        )
        return [
            Ranking(search.hits(tiers, row, keywords), counts)
            for row, (keywords, counts) in zip(rows, self._keywords(queries, tools.solver), strict=True)
        ]

    def _check(self) -> None:
        if self.short_term_share + self.long_term_share > 1:
            raise InputError(f"{self}: short_term_share and long_term_share must be at most 1 together")
        if not self.tau_days > 0:
            raise InputError(f"{self}: tau_days must be above 0")

    def _heat(self) -> Heat:
        return Heat(self.visit_heat, self.interaction_heat, self.recency_heat, self.tau_days)

    def _queue(self, pages: Sequence[Page], budget_tokens: int) -> list[Entry]:
        """The newest pages, as many as the queue and its part of the budget hold."""
        queue: list[Entry] = []
        for number in range(len(pages) - 1, max(len(pages) - self.short_term, 0) - 1, -1):
            budget_tokens -= entry_tokens(pages[number].entry)
            if budget_tokens < 0:
                break
            queue.append(replace(pages[number].entry, id=f"{SHORT}-{number}"))
        return queue[::-1]

    def _moved(self, pages: Sequence[Page], counts: Counter[str]) -> list[Page]:
        """The pages that reach mid-term memory."""
        if not self.as_released:
            return list(pages)
        both = [page for page in pages if not page.one_sided]
        counts["pages_lost_as_released"] = len(pages) - len(both)
        return both

    def _file(self, pages: Sequence[Page], days: Sequence[float], tools: Tools, counts: Counter[str]) -> Filed:
        """The pages in segments, each under its themes; all themes in one call."""
        tasks = [NameThemes(page.turns, self.themes) for page in pages]
        themes: list[tuple[Theme, ...]] = []
        for page, result in zip(pages, tools.solver.solve(tasks) if tasks else [], strict=True):
            count_result(result, counts)
            counts["themes_failed"] += not result.output
            themes.append(result.output or (Theme(page.entry.text),))
        rules = MidTerm(self.similarity, self.keyword_weight, self._heat(), self.hot, self.segments)
        vectors = tools.encoder.encode([theme.summary for own in themes for theme in own])
        filed = rules.file(themes, vectors, [days[page.session] for page in pages])
        counts["segments"] = len(filed.segments)
        counts["segments_evicted"] = filed.evicted
        counts["analyses"] = len(filed.analyses)
        return filed

    def _keywords(self, queries: Sequence[Query], solver: Solver) -> list[tuple[tuple[str, ...], dict[str, int]]]:
        """Each question's keywords and what they took; none, counted, where they could not be read."""
        picked = []
        for result in solver.solve([PickKeywords(query.text, self.keywords) for query in queries]):
            counts: Counter[str] = Counter()
            count_result(result, counts, "chooser")
            counts["keywords_failed"] += result.output is None
            picked.append((result.output or (), dict(sorted((+counts).items()))))
        return picked


def _user(history: History) -> str:
    """Whose profile is kept."""
    speakers = [turn.speaker for _, turn in history.turns()]
    return "user" if "user" in speakers else next(iter(speakers), "user")
