"""Episodes and facts that a distilled writer makes by operations on a store (MemoryCPT, arXiv 2608.04843).

Its four writing roles follow nemori (arXiv 2508.03341): turns are grouped into segments, each segment is told as a
dated episode, an episode close to an older one may be merged with it, and lasting facts that neither the episode
nor the store tells are added. Replies are operations: `operations` checks and applies them. Retrieval fuses dense
and BM25 ranks for each index apart: the best episodes, then the best facts. The query-aware summary that MemoryCPT
puts behind it is the task `summarise_for_question`, no part of this system.
Where the papers are silent or we depart from them:

- batches hold turns of one session only, and a batch whose grouping does not hold is one segment (as in nemori);
- a write budget: episodes are asked for within shares by the square root of their segments' length, what an episode
  says beyond its share is cut, and of all that is written the most telling that fits is kept (`selection`);
- all episodes are written in one call and facts in rounds of sessions, so that a model can batch them: the facts of
  one round do not know each other;
- entries stand in history order, episodes before the facts of the same turns, dated like their turns;
- an episode that does not hold is lost with its segment's facts (nemori keeps the raw text); the types that nemori
  gives its statements, and its prediction of an episode before facts are taken from it, are left out.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from memgauge.errors import InputError, unknown_name
from memgauge.memory.base import Encoder, Hit, Query, Ranking, Tools, Written
from memgauge.memory.batches import Batch, read_batches
from memgauge.memory.operations import FACT, Draft, Vector, checked, cut_episode, entries_of, fitting
from memgauge.memory.shared import session_shares
from memgauge.records import Entry, History, Store
from memgauge.retrieval.bm25 import Bm25Index
from memgauge.retrieval.dense import rank_dense
from memgauge.retrieval.fusion import fuse
from memgauge.tasks.base import solve_all
from memgauge.tasks.extract_facts import ExtractFacts
from memgauge.tasks.merge_episodes import MergeEpisodes
from memgauge.tasks.segment_batch import SegmentBatch
from memgauge.tasks.write_episode import Episode, WriteEpisode
from memgauge.text.render import entry_tokens

BOUNDS = ("after", "before")
_FACT_COST = 30  # tokens of an entry with one fact, heading included

Told = tuple[Batch, Episode, Vector]


@dataclass(frozen=True, slots=True)
class MemoryCpt:
    """`episodes` and `facts` bound what is retrieved of each index: `depth_bounds` "after" fusion, or each list
    "before" it. `similarity` and `neighbours`: which older episodes a new one may be merged with.

    `batch_turns` and `batch_tokens` bound what is grouped in one call, `turn_tokens` a turn as the writer sees it;
    `least_tokens` is the smallest share an episode is asked for, `episode_share` the part of the budget that all
    episodes share; `known` facts are shown to the extractor, which may name `most_facts` a segment, in rounds of
    `round_sessions` sessions. Without `rationale` replies are the bare JSON, held to its schema.
    """

    name: ClassVar[str] = "memorycpt"
    card: ClassVar[dict[str, str]] = {
        "episodes": "paper: 20",
        "facts": "paper: 50",
        "depth_bounds": "ours: the paper does not say which of the two",
        "similarity": "paper, appendix: above 0.85",
        "neighbours": "paper, appendix: 5",
        "batch_turns": "ours: nemori groups at most 80 messages a call; a small student keeps count of fewer",
        "batch_tokens": "ours: nemori has no such bound",
        "turn_tokens": "ours: nemori has no such bound",
        "least_tokens": "ours: the papers have no budget",
        "episode_share": "ours, on synthetic train histories: the papers have no budget",
        "known": "nemori's code: 10",
        "most_facts": "ours: nemori asks for all",
        "round_sessions": "ours: nemori extracts after every episode",
        "rrf_k": "paper, appendix: 60",
        "bm25_k1": "paper, appendix: 1.5",
        "bm25_b": "paper, appendix: 0.75",
        "rationale": "paper: replies reason first, in <think> tags",
    }

    episodes: int = 20
    facts: int = 50
    depth_bounds: str = "after"
    similarity: float = 0.85
    neighbours: int = 5
    batch_turns: int = 40
    batch_tokens: int = 2000
    turn_tokens: int = 512
    least_tokens: int = 32
    episode_share: float = 0.95
    known: int = 10
    most_facts: int = 5
    round_sessions: int = 8
    rrf_k: int = 60
    bm25_k1: float = 1.5
    bm25_b: float = 0.75
    rationale: bool = True

    def write(self, history: History, budget_tokens: int, tools: Tools) -> Written:
        """Segments, then episodes, then merges and facts; what the budget holds of them, in history order."""
        self._check()
        counts: Counter[str] = Counter()
        segments = self._segments(history, tools, counts)
        draft = Draft(tools.encoder)
        most = min(self.most_facts, _room(budget_tokens * (1 - self.episode_share), len(segments)))
        for told in _rounds(self._told(segments, budget_tokens, tools, counts), self.round_sessions):
            for one in told:
                self._place(draft, one, tools, counts)
            self._learn(draft, told, most, tools, counts)
        entries = entries_of(draft, history)
        kept = fitting(entries, budget_tokens, {turn.speaker.casefold() for _, turn in history.turns()})
        counts["entries_evicted"] = len(entries) - len(kept)
        return Written(tuple(entries[at] for at in kept), dict(sorted(counts.items())))

    def retrieve(self, store: Store, queries: Sequence[Query], tools: Tools) -> list[Ranking]:
        """For each query the best episodes, then the best facts, as many of each as their depth allows."""
        self._check()
        hits: list[list[Hit]] = [[] for _ in queries]
        for is_fact, depth in ((False, self.episodes), (True, self.facts)):
            positions = [at for at, entry in enumerate(store.entries) if entry.id.startswith(FACT) == is_fact]
            texts = [store.entries[at].text for at in positions]
            for found, ranks in zip(hits, self._fused(texts, queries, depth, tools.encoder), strict=True):
                # 1 and more for an episode: its rank score is below 1, so every episode stands before every fact
                found += [Hit(positions[at], score + (not is_fact)) for at, score in ranks]
        return [Ranking(tuple(sorted(found, key=lambda hit: (-hit.score, hit.position)))) for found in hits]

    def _check(self) -> None:
        if self.depth_bounds not in BOUNDS:
            raise unknown_name("memory.memorycpt.depth_bounds", self.depth_bounds, list(BOUNDS))
        if not (self.similarity <= 1 and self.episode_share <= 1 and self.bm25_b <= 1):
            raise InputError(f"{self}: similarity, episode_share and bm25_b must be at most 1")

    def _segments(self, history: History, tools: Tools, counts: Counter[str]) -> list[Batch]:
        """Segments in history order; turns that a grouping leaves out are counted."""
        batches = read_batches(history, self.batch_turns, self.batch_tokens, self.turn_tokens)
        tasks = [SegmentBatch(one.date, one.said, self.rationale) for one in batches if len(one.pieces) > 1]
        results = iter(zip(tasks, solve_all(tools.solver, tasks), strict=True))
        segments: list[Batch] = []
        for batch in batches:
            found = checked(*next(results), counts) if len(batch.pieces) > 1 else None
            if found is None:
                segments.append(batch)
                counts["batches_ungrouped"] += len(batch.pieces) > 1
                continue
            parts = sorted(found, key=lambda segment: segment.positions)
            segments += [batch.part(segment.positions, segment.topic) for segment in parts]
            counts["pieces_left_out"] += len(batch.pieces) - sum(len(segment.positions) for segment in parts)
        counts["segments"] = len(segments)
        return segments

    def _told(self, segments: Sequence[Batch], budget_tokens: int, tools: Tools, counts: Counter[str]) -> list[Told]:
        """The episodes that hold, each with its segment and its vector; all in one call."""
        shares = session_shares([one.tokens for one in segments], int(budget_tokens * self.episode_share))
        budgets = []
        for one, share in zip(segments, shares, strict=True):
            heading = entry_tokens(Entry("", "", (), one.date))
            budgets.append(max(1, min(max(share - heading, self.least_tokens), budget_tokens - heading)))
        tasks = [
            WriteEpisode(one.date, one.said, one.topic, budget, self.rationale)
            for one, budget in zip(segments, budgets, strict=True)
        ]
        told: list[tuple[Batch, Episode]] = []
        for segment, task, result in zip(segments, tasks, solve_all(tools.solver, tasks), strict=True):
            episode = checked(task, result, counts)
            if episode is not None:
                cut = cut_episode(episode, task.budget_tokens)
                counts["episodes_cut"] += cut != episode
                told.append((segment, cut))
        vectors = tools.encoder.encode([episode.text for _, episode in told]) if told else ()
        return [(segment, episode, vector) for (segment, episode), vector in zip(told, vectors, strict=True)]

    def _place(self, draft: Draft, told: Told, tools: Tools, counts: Counter[str]) -> None:
        """Merge an episode with one of its close neighbours, or keep it as a new one."""
        segment, episode, vector = told
        near = draft.near(vector, self.neighbours, self.similarity)
        olds = [draft.episodes[at].episode for at in near]
        merge = None
        if near:
            task = MergeEpisodes(episode, tuple(old for old in olds if old is not None), self.rationale)
            merge = checked(task, solve_all(tools.solver, [task])[0], counts)
        if merge is None or merge.target is None or merge.episode is None:
            draft.create(episode, segment.sources, vector)
            return
        counts["episodes_merged"] += 1
        draft.merge(near[merge.target], merge.episode, segment.sources)

    def _learn(self, draft: Draft, told: Sequence[Told], most: int, tools: Tools, counts: Counter[str]) -> None:
        """The facts of one round, all in one call."""
        tasks = [
            ExtractFacts(one.date, one.said, episode, draft.known(vector, self.known), most, self.rationale)
            for one, episode, vector in told
        ]
        for (segment, _, _), task, result in zip(told, tasks, solve_all(tools.solver, tasks), strict=True):
            facts = checked(task, result, counts) or ()
            counts["facts_repeated"] += len(facts) - draft.learn(facts, segment.sources)

    def _fused(
        self, texts: Sequence[str], queries: Sequence[Query], depth: int, encoder: Encoder
    ) -> list[list[tuple[int, float]]]:
        """For each query (position, score) of the best texts by reciprocal ranks."""
        if not texts or not queries:
            return [[] for _ in queries]
        index = Bm25Index(texts, self.bm25_k1, self.bm25_b)
        dense = rank_dense(encoder.encode(texts), encoder.encode([query.text for query in queries]))
        bound = depth if self.depth_bounds == "before" else None
        found = []
        for query, near in zip(queries, dense, strict=True):
            lists = [[each.position for each in ranking[:bound]] for ranking in (near, index.search(query.text))]
            fused = fuse(lists, self.rrf_k, corpus=range(len(texts)))
            found.append([(int(each.id), each.score) for each in fused[: depth if bound is None else None]])
        return found


def _room(tokens: float, segments: int) -> int:
    """How many facts of each segment so many tokens have room for, at least two: the tightest budget has a choice."""
    return max(2, round(tokens / _FACT_COST / max(segments, 1)))


def _rounds(told: Sequence[Told], sessions: int) -> Iterator[list[Told]]:
    """What was told of `sessions` neighbouring sessions at a time."""
    rounds: dict[int, list[Told]] = {}
    for one in told:
        rounds.setdefault(one[0].session // sessions, []).append(one)
    yield from rounds.values()
