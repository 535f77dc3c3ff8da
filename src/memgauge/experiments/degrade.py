"""Controlled degradation: does damage of one link raise the gap of that link and leave the other alone?

Five settings as in paper A (as written, mild and severe damage of either link), and the two oracles, each of which
should leave its own gap at 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from memgauge.errors import InputError
from memgauge.experiments.significance import Arm
from memgauge.memory.base import MemorySystem, Ranking, Tools
from memgauge.protocol.degradation import drop_entries, oracle_ranking, oracle_store, spoil_ranking
from memgauge.protocol.questions import by_history
from memgauge.protocol.variants import Cut, Kept, cut_rankings, rank_stores
from memgauge.records import Benchmark, Store
from memgauge.seeds import generator

AS_WRITTEN = "as written"
ORACLE_WRITER, ORACLE_RETRIEVER = "oracle writer", "oracle retriever"
Gap = Literal["write", "retrieval"]
Verdict = Literal["only its own gap rises", "also raises the other gap", "does not raise its gap", "undefined"]


@dataclass(frozen=True, slots=True)
class Undamaged:
    """What damage starts from: a benchmark with one system's stores and their whole rankings."""

    benchmark: Benchmark
    stores: Mapping[str, Store]
    rankings: Mapping[str, Ranking]


def undamaged(benchmark: Benchmark, system: MemorySystem, stores: Mapping[str, Store], tools: Tools) -> Undamaged:
    """Rank the given stores; they are not written again."""
    return Undamaged(benchmark, stores, rank_stores(benchmark, system, stores, tools))


def settings(
    base: Undamaged, system: MemorySystem, tools: Tools, cut: Cut, shares: Sequence[float], seed: int
) -> list[Kept]:
    """The base, each share of write and of retrieval damage, and the two oracles, in this order.

    Randomness is named by the position of a history or question, so that ids do not matter. Raises InputError for
    shares that are one number of whole percent, by which settings are named.
    """
    if len({f"{share:.0%}" for share in shares}) < len(shares):
        raise InputError(f"the shares of damage are {list(shares)}; they must differ in whole percent")
    benchmark = base.benchmark
    kept = [_cut(base, AS_WRITTEN, base.stores, base.rankings, cut)]
    for share in shares:
        stores = {
            history.id: drop_entries(base.stores[history.id], history, share, generator(seed, "drop", str(place)))
            for place, history in enumerate(benchmark.histories)
        }
        kept.append(_cut(base, f"drop {share:.0%}", stores, rank_stores(benchmark, system, stores, tools), cut))
    for share in shares:
        rankings = {
            question.id: spoil_ranking(base.rankings[question.id], share, generator(seed, "spoil", str(place)))
            for place, question in enumerate(benchmark.questions)
        }
        kept.append(_cut(base, f"bottom {share:.0%}", base.stores, rankings, cut))
    return [*kept, *_oracles(base, system, tools, cut)]


def damaged_gap(setting: str) -> Gap | None:
    """The gap that a setting damages; None for the base and the oracles.

    >>> damaged_gap("drop 25%"), damaged_gap("bottom 50%"), damaged_gap("as written")
    ('write', 'retrieval', None)
    """
    if setting.startswith("drop "):
        return "write"
    return "retrieval" if setting.startswith("bottom ") else None


def verdict(arm: Arm) -> Verdict | None:
    """Whether damage raised its own gap and not the other, by the 95 % question intervals of the changes.

    A gap rises when its change's interval lies above 0; None for an arm that is no damage.
    """
    own = damaged_gap(arm.name)
    if own is None or arm.change is None:
        return None
    changes = {"write": arm.change.write.interval, "retrieval": arm.change.retrieval.interval}
    mine, other = changes[own], changes["retrieval" if own == "write" else "write"]
    if mine is None or other is None:
        return "undefined"
    if mine.low <= 0:
        return "does not raise its gap"
    return "also raises the other gap" if other.low > 0 else "only its own gap rises"


def _oracles(base: Undamaged, system: MemorySystem, tools: Tools, cut: Cut) -> list[Kept]:
    benchmark = base.benchmark
    questions = by_history(benchmark.questions)
    stores = {history.id: oracle_store(history, questions.get(history.id, [])) for history in benchmark.histories}
    written = _cut(base, ORACLE_WRITER, stores, rank_stores(benchmark, system, stores, tools), cut)
    rankings = {
        question.id: oracle_ranking(base.rankings[question.id], base.stores[question.history_id], question)
        for question in benchmark.questions
    }
    return [written, _cut(base, ORACLE_RETRIEVER, base.stores, rankings, cut)]


def _cut(base: Undamaged, name: str, stores: Mapping[str, Store], rankings: Mapping[str, Ranking], cut: Cut) -> Kept:
    return Kept(name, dict(stores), cut_rankings(base.benchmark, stores, rankings, cut))
