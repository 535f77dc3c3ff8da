"""Raw passages, and work on them only when a question comes (BudgetMem, arXiv 2602.06025, and its released code).

1. Keeps passages of the raw history, nothing else; the newest that fit the budget, as TFC does, since the release
   keeps all. Ranked by the suite's encoder, where the release takes Contriever's best 10 of each question.
2. At query time a filter, then entity, temporal and topic notes side by side, then a summary; the reader sees only
   the summary (condition SM). Each module runs at tier Low, Mid or High (`budgetmem_pipeline`).
3. Tiers differ by implementation: `budgetmem_modules` for Low and Mid, a task for the solver for High. REBEL's
   triplets are replaced by statements ranked by likeness, spaCy by the suite's patterns of names and dates.
4. Not built: tiers by reasoning (direct, step by step, plan and reflect) and by capacity (3B, 8B, 70B): each role
   of this suite has one model and its tasks one prompt; comparing models is what roles are for.
5. The router is one policy for all modules, argmax at test (`budgetmem_policy`); `training.router` trains it by PPO
   (6) with the paper's reward (7), on train histories, by F1. Without a trained router every module runs at `tier`.
8. Only tokens of language models are counted, by the role `summariser`; what they cost is the price table's matter,
   and an unknown price is an error there, not 0. Encoder and router count as free, as in the paper.
9. Paper B gives this system's tiers a 72B model and its reader a 14B one: roles choose that.
10. The released High summary prompt leaves the passages out and shows the notes alone, a bug; `as_released`
    repeats it. Spread over seeds is for the caller of the training to ask for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from memgauge.errors import unknown_name
from memgauge.memory.base import Query, Ranking, Summarised, Tools, Written
from memgauge.memory.budgetmem_modules import TIERS, Asked, Settings
from memgauge.memory.budgetmem_pipeline import Chooser, Fixed, run
from memgauge.memory.passages import history_passages, newest_within
from memgauge.memory.shared import dense_hits
from memgauge.records import Context, History, Store


@dataclass(frozen=True, slots=True)
class Budgetmem:
    """`passage_tokens`: the most of a passage; `passages`: the most that the pipeline is given for a question.

    `keyword_weight` and `threshold` make the Mid filter, `least_score` the High one (0 to 10); `notes` bounds the
    notes of each aspect, `summary_tokens` the Mid and High summary; `tier` is that of all modules without a router.
    """

    name: ClassVar[str] = "budgetmem"
    card: ClassVar[dict[str, str]] = {
        "passage_tokens": "src: 256",
        "passages": "src: the best 10 for each question",
        "keyword_weight": "src: 0.3, the cosine's is 0.7",
        "threshold": "src: 0.3",
        "least_score": "ours: the middle of the release's scale",
        "notes": "ours: the release bounds its modules by tokens of a reply",
        "summary_tokens": "ours: the release states no length",
        "tier": "ours: for a run without a trained router",
        "as_released": "src: the High summary sees no passages; off, since that is a bug",
    }

    passage_tokens: int = 256
    passages: int = 10
    keyword_weight: float = 0.3
    threshold: float = 0.3
    least_score: int = 5
    notes: int = 6
    summary_tokens: int = 256
    tier: str = "mid"
    as_released: bool = False

    def write(self, history: History, budget_tokens: int, tools: Tools) -> Written:
        """The newest passages within the budget, oldest first."""
        entries = history_passages(history, self.passage_tokens)
        kept = newest_within(entries, budget_tokens)
        return Written(tuple(entries[kept:]), {"passages_evicted": kept})

    def retrieve(self, store: Store, queries: Sequence[Query], tools: Tools) -> list[Ranking]:
        """All passages by similarity to the question."""
        return dense_hits(store, queries, tools.encoder)

    def summarise(
        self, store: Store, queries: Sequence[Query], retrieved: Sequence[Context], tools: Tools
    ) -> list[Summarised]:
        """What the pipeline makes of each question's passages with every module at `tier`."""
        if self.tier not in TIERS:
            raise unknown_name("tier of budgetmem", self.tier, list(TIERS))
        return Routed(self, Fixed(self.tier)).summarise(store, queries, retrieved, tools)

    @property
    def settings(self) -> Settings:
        """What the modules are told."""
        return Settings(
            self.keyword_weight,
            self.threshold,
            self.least_score,
            self.notes,
            self.summary_tokens,
            self.as_released,
        )


@dataclass(frozen=True, slots=True)
class Routed:
    """The system with a chooser of tiers, such as a trained router (`budgetmem_policy.read_policy`)."""

    system: Budgetmem
    chooser: Chooser

    def summarise(
        self, store: Store, queries: Sequence[Query], retrieved: Sequence[Context], tools: Tools
    ) -> list[Summarised]:
        """What the pipeline makes of each question's passages; counts also say how many modules ran at each tier."""
        asked = asked_of(store, queries, retrieved, self.system.passages)
        outcomes = run(asked, tools, self.system.settings, self.chooser)
        return [
            Summarised(
                one.text, {**one.counts, **{f"tiers_{tier}": one.tiers.count(at) for at, tier in enumerate(TIERS)}}
            )
            for one in outcomes
        ]


def asked_of(store: Store, queries: Sequence[Query], retrieved: Sequence[Context], limit: int) -> list[Asked]:
    """Each question with the best `limit` of the entries that its context shows, in store order."""
    places = {entry.id: at for at, entry in enumerate(store.entries)}
    return [
        Asked(query, tuple(store.entries[at] for at in sorted(places[id] for id in context.entry_ids[:limit])))
        for query, context in zip(queries, retrieved, strict=True)
    ]
