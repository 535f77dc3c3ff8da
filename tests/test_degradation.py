"""The instrument tests itself: damage raises its own gap, oracles close theirs, planted loss is found exactly."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from memgauge.datasets.synthetic.generate import generate
from memgauge.datasets.synthetic.options import SyntheticOptions
from memgauge.errors import InputError
from memgauge.experiments.degrade import (
    AS_WRITTEN,
    ORACLE_RETRIEVER,
    ORACLE_WRITER,
    Undamaged,
    damaged_gap,
    settings,
    undamaged,
    verdict,
)
from memgauge.experiments.significance import Arm, Experiment, Statistics, experiment
from memgauge.memory.base import Hit, Ranking, Tools
from memgauge.memory.summary import Summary
from memgauge.metrics.scoring import ScoredItem, score_item
from memgauge.protocol.answering import answer
from memgauge.protocol.conditions import PARTIAL_STORE, oracle, write_store
from memgauge.protocol.degradation import (
    NO_TOOLS,
    drop_entries,
    oracle_entries,
    oracle_ranking,
    oracle_store,
    rewritten,
    spoil_ranking,
)
from memgauge.protocol.questions import evidence_texts
from memgauge.protocol.variants import Cut, Kept, cut_rankings, read
from memgauge.records import Benchmark, Entry, History, Question, Result, Session, Store, Turn
from memgauge.retrieval.dense import SentenceEncoder
from memgauge.seeds import generator
from memgauge.solvers.extractive.solver import ExtractiveSolver
from memgauge.tasks.answer_question import AnswerQuestion
from memgauge.tasks.base import Solver

TURNS = tuple(Turn(f"t{number}", "Ann", f"My badge number {number} is {100 + number}.") for number in range(8))
HISTORY = History("h", "g", "test", (Session("s", "2024-05-01", TURNS),))
ENTRIES = tuple(Entry(turn.id, f"Ann: {turn.text}", (turn.id,), "2024-05-01") for turn in TURNS)
STORE = rewritten(Store("h", "ready", (), 0, 10_000), HISTORY, ENTRIES)
HITS = Ranking(tuple(Hit(place, -float(place)) for place in range(8)), {"reader_calls": 1})
QUESTIONS = tuple(
    Question(
        f"q{number}", "h", f"What is my badge number {number}?", "fact", (str(100 + number),), None, (f"t{number}",)
    )
    for number in range(8)
)


def places(ranking: Ranking) -> list[int]:
    return [hit.position for hit in ranking.hits]


def test_a_larger_share_drops_more_and_the_same_first() -> None:
    mild, severe = (drop_entries(STORE, HISTORY, share, generator(17, "drop")) for share in (0.25, 0.5))
    kept = [{entry.id for entry in store.entries} for store in (mild, severe)]
    assert [len(ids) for ids in kept] == [6, 4]
    assert kept[1] < kept[0]
    assert [entry.id for entry in severe.entries] == sorted(kept[1])


def test_a_damaged_store_counts_what_is_left_of_it() -> None:
    store = drop_entries(STORE, HISTORY, 0.5, generator(17, "drop"))
    counts = {key: store.counts[key] for key in ("entries", "turns_covered", "turns_total", "entries_damaged")}
    assert counts == {"entries": 4, "turns_covered": 4, "turns_total": 8, "entries_damaged": 4}
    assert store.tokens * 2 == STORE.tokens
    assert store.warnings == (PARTIAL_STORE,)
    assert (store.system, store.budget_tokens) == (STORE.system, STORE.budget_tokens)


@pytest.mark.parametrize(("share", "left"), [(0.0, 8), (0.01, 7), (1.0, 0)])
def test_shares_are_rounded_up(share: float, left: int) -> None:
    assert len(drop_entries(STORE, HISTORY, share, generator(1)).entries) == left


def test_a_share_that_is_a_whole_number_of_hits_is_not_rounded_up() -> None:
    """In floating point 0.07 * 200 is a little above 14."""
    many = Ranking(tuple(Hit(place, -float(place)) for place in range(200)))
    assert len(spoil_ranking(many, 0.07, generator(1)).hits) == 200 - 14


def test_shares_that_would_share_a_name_are_refused() -> None:
    base = Undamaged(Benchmark("planted", (HISTORY,), QUESTIONS), {}, {})
    with pytest.raises(InputError, match="must differ in whole percent"):
        settings(base, Summary(), NO_TOOLS, Cut(2, "topk", 5000), (0.12, 0.121), 17)


@pytest.mark.parametrize("share", [-0.1, 1.5])
def test_a_share_outside_0_to_1_is_refused(share: float) -> None:
    with pytest.raises(InputError, match="must lie between 0 and 1"):
        drop_entries(STORE, HISTORY, share, generator(1))
    with pytest.raises(InputError, match="must lie between 0 and 1"):
        spoil_ranking(HITS, share, generator(1))


def test_the_bottom_of_a_ranking_takes_the_first_places() -> None:
    spoiled = spoil_ranking(HITS, 0.25, generator(17))
    assert set(places(spoiled)[:2]) == {6, 7}
    assert places(spoiled)[2:] == [2, 3, 4, 5]
    assert spoiled.counts == HITS.counts
    assert set(places(spoil_ranking(HITS, 0.5, generator(17)))) == {4, 5, 6, 7}


@pytest.mark.parametrize("hits", [0, 1, 2, 3])
def test_short_rankings_stay_valid(hits: int) -> None:
    spoiled = spoil_ranking(Ranking(HITS.hits[:hits]), 0.5, generator(1))
    assert len(set(places(spoiled))) == len(places(spoiled)) == hits - hits // 2


def test_the_oracle_ranking_puts_covering_entries_first_and_keeps_the_rest_in_order() -> None:
    question = Question("q", "h", "?", "fact", ("x",), None, ("t5", "t3"))
    assert places(oracle_ranking(HITS, STORE, question)) == [3, 5, 0, 1, 2, 4, 6, 7]


def test_the_oracle_store_is_the_evidence_in_history_order_and_fits_its_budget() -> None:
    asked = [QUESTIONS[5], QUESTIONS[2]]
    assert [entry.id for entry in oracle_entries(HISTORY, asked)] == ["t2", "t5"]
    store = oracle_store(HISTORY, asked)
    assert (len(store.entries), store.tokens) == (2, store.budget_tokens)
    assert "entries_damaged" not in store.counts
    assert oracle_store(HISTORY, []).entries == ()


@dataclass(frozen=True, slots=True)
class Lookup:
    """A reader that says a badge number exactly when its sentence is shown."""

    name: ClassVar[str] = "lookup"

    def solve(self, tasks: Sequence[AnswerQuestion]) -> list[Result[str]]:
        """The number that the context gives to the badge that is asked for."""
        found = []
        for task in tasks:
            wanted = task.question.removeprefix("What is my ").removesuffix("?")
            _, hit, rest = task.context.partition(f"{wanted} is ")
            found.append(Result(rest.split(".")[0] if hit else "I don't know", "ok"))
        return found


def reference_items(benchmark: Benchmark, solver: Solver) -> list[ScoredItem]:
    """OE alone: the condition that gaps need from the shared ones."""
    histories = {history.id: history for history in benchmark.histories}
    contexts = [oracle(question, histories[question.history_id]) for question in benchmark.questions]
    answers = answer(benchmark.questions, contexts, solver)
    evidence = evidence_texts(benchmark)
    return [
        score_item(question, each, histories[question.history_id].group, evidence[question.id], "", [], False)
        for question, each in zip(benchmark.questions, answers, strict=True)
    ]


def test_a_planted_loss_gives_exactly_the_planted_gaps() -> None:
    # Of 8 facts the store lacks 3 (t0, t1, t2); of the 5 it has, the ranking never shows 2 (t6, t7).
    benchmark = Benchmark("planted", (HISTORY,), QUESTIONS)
    store = rewritten(STORE, HISTORY, ENTRIES[3:])
    rankings = {question.id: Ranking(tuple(Hit(place, 0.0) for place in (0, 1, 2, 3, 4))) for question in QUESTIONS}
    kept = Kept("planted", {"h": store}, cut_rankings(benchmark, {"h": store}, rankings, Cut(3, "topk", 5000)))
    solver: Solver = Lookup()  # type: ignore[assignment]  # it solves one kind of task
    items = reference_items(benchmark, solver) + read(benchmark, kept, solver)
    (arm,) = experiment("planted", "lookup", {"planted": items}, "planted", Statistics(200, 0.02, 17)).arms
    gaps = arm.cell.metrics["contains_match"].gaps
    assert (gaps.oe.value, gaps.csm.value, gaps.rm.value) == (1.0, 5 / 8, 3 / 8)
    assert (gaps.write.value, gaps.retrieval.value) == (3 / 8, 2 / 8)
    assert arm.cell.metrics["contains_match"].label == "write"


def test_oracles_leave_exactly_no_gap_when_the_reader_is_not_distracted() -> None:
    benchmark = Benchmark("planted", (HISTORY,), QUESTIONS)
    solver: Solver = Lookup()  # type: ignore[assignment]  # it solves one kind of task
    last_first = Ranking(HITS.hits[::-1])
    stores = {"h": oracle_store(HISTORY, QUESTIONS)}
    rankings = {question.id: oracle_ranking(last_first, stores["h"], question) for question in QUESTIONS}
    kept = Kept("oracle", stores, cut_rankings(benchmark, stores, rankings, Cut(1, "topk", 5000)))
    items = reference_items(benchmark, solver) + read(benchmark, kept, solver)
    (arm,) = experiment("planted", "lookup", {"oracle": items}, "oracle", Statistics(200, 0.02, 17)).arms
    gaps = arm.cell.metrics["contains_match"].gaps
    assert (gaps.oe.value, gaps.write.value, gaps.retrieval.value) == (1.0, 0.0, 0.0)


SHARES, MARGIN = (0.25, 0.5), 0.02


@pytest.fixture(scope="module")
def degraded(models: Path) -> Experiment:
    """Every setting on 48 synthetic questions with the real encoder and the extractive reader."""
    if not (models / "minilm" / "model.safetensors").is_file():
        pytest.skip("the sentence encoder is not in models/minilm")
    options = SyntheticOptions(histories=8, sessions_per_history=6, questions_per_history=6)
    pairs = list(generate(options, seed=17))
    questions = tuple(question for _, asked in pairs for question in asked)
    benchmark = Benchmark("synthetic", tuple(history for history, _ in pairs), questions)
    encoder = SentenceEncoder(models / "minilm")
    solver = ExtractiveSolver(encoder, floor=0.5, second=0.0, phrase=20)
    tools, system = Tools(solver, encoder), Summary()
    stores = {history.id: write_store(system, history, 4000, tools) for history in benchmark.histories}
    base = undamaged(benchmark, system, stores, tools)
    kept = settings(base, system, tools, Cut(2, "topk", 5000), SHARES, 17)
    shared = reference_items(benchmark, solver)
    items = {each.name: shared + read(benchmark, each, solver) for each in kept}
    return experiment("synthetic", "extractive", items, AS_WRITTEN, Statistics(2000, 0.02, 17))


def arm_of(found: Experiment, name: str) -> Arm:
    return next(arm for arm in found.arms if arm.name == name)


@pytest.mark.models
@pytest.mark.parametrize("share", SHARES)
def test_dropped_entries_raise_the_write_gap_and_not_the_retrieval_gap(degraded: Experiment, share: float) -> None:
    arm = arm_of(degraded, f"drop {share:.0%}")
    assert damaged_gap(arm.name) == "write"
    assert verdict(arm) == "only its own gap rises"
    assert arm.change is not None
    assert arm.change.write.clustered is not None
    assert arm.change.write.clustered.low > 0


@pytest.mark.models
@pytest.mark.parametrize("share", SHARES)
def test_a_spoiled_ranking_raises_the_retrieval_gap_and_leaves_the_write_gap(
    degraded: Experiment, share: float
) -> None:
    arm = arm_of(degraded, f"bottom {share:.0%}")
    assert damaged_gap(arm.name) == "retrieval"
    assert verdict(arm) == "only its own gap rises"
    assert arm.change is not None
    assert arm.change.write.value == 0.0  # the store is the same, and so are the answers from it
    assert arm.change.retrieval.clustered is not None
    assert arm.change.retrieval.clustered.low > 0


@pytest.mark.models
def test_worse_write_damage_raises_the_write_gap_more(degraded: Experiment) -> None:
    mild, severe = (arm_of(degraded, f"drop {share:.0%}").change for share in SHARES)
    assert mild is not None
    assert severe is not None
    assert (severe.write.value or 0.0) > (mild.write.value or 0.0)


@pytest.mark.models
@pytest.mark.parametrize(("name", "gap"), [(ORACLE_WRITER, "write"), (ORACLE_RETRIEVER, "retrieval")])
def test_an_oracle_leaves_no_gap_of_its_link_beyond_noise(degraded: Experiment, name: str, gap: str) -> None:
    found = getattr(arm_of(degraded, name).cell.metrics["contains_match"].gaps, gap)
    assert found.interval is not None
    assert found.interval.low <= MARGIN
    assert found.interval.high >= -MARGIN


@pytest.mark.models
def test_settings_come_in_a_fixed_order_with_equal_references(degraded: Experiment) -> None:
    names = [arm.name for arm in degraded.arms]
    assert names == [AS_WRITTEN, "drop 25%", "drop 50%", "bottom 25%", "bottom 50%", ORACLE_WRITER, ORACLE_RETRIEVER]
    assert len({arm.cell.metrics["contains_match"].gaps.oe.value for arm in degraded.arms}) == 1
    assert not degraded.unscored


def test_damage_depends_on_positions_not_on_ids() -> None:
    renamed = History("other", "g", "test", HISTORY.sessions)
    one = drop_entries(STORE, HISTORY, 0.5, generator(17, "drop", "0"))
    other = drop_entries(Store("other", "ready", STORE.entries, 0, 10_000), renamed, 0.5, generator(17, "drop", "0"))
    assert one.entries == other.entries
