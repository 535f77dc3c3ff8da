"""What the experiments print and draw, and their stages from files to files on a small synthetic benchmark."""

import importlib
import json
import struct
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from memgauge.datasets.prepared import read_prepared
from memgauge.datasets.synthetic.generate import generate
from memgauge.datasets.synthetic.options import SyntheticOptions
from memgauge.errors import InputError
from memgauge.files import read_json, read_jsonl, write_json, write_jsonl
from memgauge.memory.base import Tools
from memgauge.metrics.scoring import ScoredItem, score_item
from memgauge.params import select
from memgauge.protocol.answering import answer
from memgauge.protocol.attribution import Attributed
from memgauge.protocol.conditions import complete, oracle
from memgauge.protocol.questions import evidence_texts
from memgauge.protocol.variants import Cut, Variant, keep, read
from memgauge.records import Answer, Benchmark, Question
from memgauge.report.experiment_canvas import draw
from memgauge.report.experiment_figures import Dot, Point, dot_figure, line_figure, scatter_figure, share_figure
from memgauge.report.experiment_numbers import key_of
from memgauge.report.experiment_published import (
    direction,
    findings,
    findings_table,
    published_values,
    rows_table,
    slips,
)
from memgauge.report.figures import COLUMN_INCHES
from memgauge.report.published import published
from memgauge.solvers.extractive.solver import ExtractiveSolver
from memgauge.stages.experiment import check_systems
from memgauge.stages.items import MEAN, read_arms, with_mean
from memgauge.stages.table import Stage
from memgauge.stats.intervals import Estimate, Interval
from memgauge.text.words import words

EXPERIMENTS = ("degrade", "sweep", "ablate", "weigh", "match_cost", "break_down", "compare", "agree")
STAGES = (*EXPERIMENTS, "attribute", "show_cases")


class HashEncoder:
    """Unit vectors of hashed words."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.zeros((len(texts), 64), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in words(text):
                vectors[row, sha256(word.encode()).digest()[0] % 64] += 1
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.divide(vectors, lengths, out=vectors, where=lengths > 0)


def around(value: float) -> Estimate:
    return Estimate(value, 50, Interval(value - 0.05, value + 0.05))


DOTS = {"b, r": [Dot("an arm", {"CSM": around(0.1), "RM": Estimate(None, 0)}, {"CSM": 0.05})]}
LINES = {"CSM, b, r": {"summary": [(1000, around(0.2)), (2000, around(0.3))]}}
SHARES = {"b, r": {"verbatim": {"lost at write": 6, "kept": 4}, "nothing": {"lost at write": 0, "kept": 0}}}
POINTS = {"b, r": [Point("summary", False, 0.2, 0.3), Point("summary", True, 0.1, 0.2)]}
DRAWINGS: dict[str, Callable[[], bytes]] = {
    "dots": lambda: dot_figure(DOTS, "change"),
    "lines": lambda: line_figure(LINES, {"CSM, b, r": {"OE": 0.9, "TFC": 0.1}}, "tokens", "score"),
    "shares": lambda: share_figure(SHARES, "share"),
    "points": lambda: scatter_figure(POINTS, "one", "other"),
}


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_figure_is_one_column_wide_the_same_every_time_and_not_cut(name: str, tmp_path: Path) -> None:
    from matplotlib.image import imread

    png = DRAWINGS[name]()
    assert png == DRAWINGS[name]()
    assert b"matplotlib" not in png
    assert struct.unpack(">I", png[16:20])[0] == round(COLUMN_INCHES * 300)
    (tmp_path / "figure.png").write_bytes(png)
    pixels = imread(tmp_path / "figure.png")[:, :, :3]
    for edge in (pixels[:2], pixels[-2:], pixels[:, :2], pixels[:, -2:]):
        assert (edge == 1.0).all()


def test_nothing_to_draw_is_an_error_that_says_where_to_look() -> None:
    with pytest.raises(InputError, match="nothing to draw"):
        draw([], lambda figure, axes: None)


def test_every_experiment_with_a_published_number_has_findings_in_its_unit() -> None:
    found = {name: findings(name) for name in EXPERIMENTS}
    assert all(found.values())
    for each in (one for rows in found.values() for one in rows):
        assert each.benchmark == "longmemeval"
        assert each.value is None or -100 <= each.value <= 100


def test_findings_that_follow_from_the_printed_tables_agree_with_them() -> None:
    stored = {(row.table, row.budget_tokens, row.system): row.csm for row in published().rows}
    for each in findings("sweep"):
        pair, budget = each.item.rsplit(", ", 1)
        first, second = pair.split(" - ")
        assert each.value == stored["sweep", int(budget), first] - stored["sweep", int(budget), second]
    for each in findings("match_cost"):
        first, second = each.item.split(" - ")
        assert each.value == stored["cost", 5000, first] - stored["cost", 5000, second]
    assert findings("compare")[0].value == stored["main", 5000, "epc"] - stored["main", 5000, "summary"]


@pytest.mark.parametrize(
    ("reported", "ours", "said"),
    [
        (5, Estimate(0.2, 9, Interval(0.1, 0.3)), "same"),
        (5, Estimate(-0.2, 9, Interval(-0.3, -0.1)), "opposite"),
        (5, Estimate(0.2, 9, Interval(-0.1, 0.3)), "not decided here"),
        (0, Estimate(0.2, 9, Interval(-0.1, 0.3)), "same (none shown)"),
        (0, Estimate(0.2, 9, Interval(0.1, 0.3)), "opposite"),
        (5, Estimate(0.0, 9, Interval(0.0, 0.0)), "no difference here"),
        (5, Estimate(0.2, 1), "n/a"),
        (None, Estimate(0.2, 9, Interval(0.1, 0.3)), "n/a"),
        (5, None, "n/a"),
    ],
)
def test_direction_against_the_paper(reported: float | None, ours: Estimate | None, said: str) -> None:
    assert direction(reported, ours) == said


def test_known_slips_stand_below_the_published_numbers() -> None:
    table = findings_table("sweep", {}, slips("sweep"))
    assert table.count("Known slip: ") == 2
    assert "printed W on gaps .10 and .08" in table


def test_printed_rows_show_their_conflicts_with_a_star() -> None:
    lines = rows_table("sweep").splitlines()
    (epc,) = [line for line in lines if "| 2000 | epc |" in line]
    assert epc.endswith("| 0.53 | 0.44 | 0.36 | 0.10* | 0.08 | write* |")
    assert sum("*" in line for line in lines) == 12
    assert "*" not in rows_table("cost")


def test_published_values_stand_in_figures_of_their_own_benchmark_only() -> None:
    assert published_values("ablate", "longmemeval", "over full")["no_self_questioning"] == -0.05
    assert published_values("ablate", "synthetic", "over full") == {}


BY_READER = ("degrade", "sweep", "ablate", "weigh")


def params(readers: Sequence[str] = ("plain",)) -> dict[str, Any]:
    arms = {"no_dates": {"date": 0.0}, "no_names": {"entity": 0.0}}
    return {
        "seed": 17,
        "variant_histories": None,
        "readers": list(readers),
        "systems": ["summary", "extractive"],
        "role.writer": {"solver": "extractive"},
        **{f"role.reader.{name}": {"solver": "extractive"} for name in readers},
        **{f"memory.{name}": {} for name in ("summary", "extractive", "verbatim")},
        "retrieval": {"k": 2, "mode": "topk", "read_budget_tokens": 5000},
        "stats": {"draws": 200, "margin": 0.02},
        "benchmark.synthetic.write_budget_tokens": 800,
        "degrade": {"system": "summary", "shares": [0.25, 0.5]},
        "sweep": {"systems": ["summary", "verbatim"], "budgets": [400, 800]},
        "sweep.budgets": [400, 800],
        "ablate": {"system": "extractive", "reference": "summary", "arms": arms},
        "weigh": {"system": "extractive", "reference": "summary", "arms": arms},
        "match_cost": {"systems": ["summary", "extractive"]},
        "break_down": {"first": "extractive", "second": "summary"},
        "attribute": {"examples": 2},
        "show_cases": {"first": "extractive", "second": "summary", "examples": 2},
    }


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the grid's files of two systems and two equal readers, and a hash in place of the encoder."""
    folder = tmp_path_factory.mktemp("grid")
    options = SyntheticOptions(histories=3, sessions_per_history=6, questions_per_history=5, filler="short")
    pairs = list(generate(options, seed=17))
    prepared = Benchmark(
        "synthetic", tuple(history for history, _ in pairs), tuple(each for _, asked in pairs for each in asked)
    )
    encoder = HashEncoder()
    solver = ExtractiveSolver(encoder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for module in ("variants", "solving", "break_down"):
            patch.setattr(f"memgauge.stages.{module}.sentence_encoder", lambda: encoder)
        write_jsonl(folder / "data/prepared/synthetic/histories.jsonl", prepared.histories)
        write_jsonl(folder / "data/prepared/synthetic/questions.jsonl", prepared.questions)
        write_json(folder / "data/prepared/synthetic/quirks.json", {})
        write_grid(folder / "data", prepared, Tools(solver, encoder))
        yield folder


def write_grid(data: Path, prepared: Benchmark, tools: Tools) -> None:
    histories = {history.id: history for history in prepared.histories}
    evidence = evidence_texts(prepared)
    shown = [oracle(question, histories[question.history_id]) for question in prepared.questions]
    references = [
        score_item(question, found, histories[question.history_id].group, evidence[question.id], "", [], False)
        for question, found in zip(prepared.questions, answer(prepared.questions, shown, tools.solver), strict=True)
    ]
    for system in ("summary", "extractive"):
        kept = keep(prepared, Variant(system, system, {}, 800), tools, Cut(2, "topk", 5000))
        items = read(prepared, kept, tools.solver)
        contexts = [complete(each, kept.stores[each.history_id]) for each in prepared.questions]
        contexts += [kept.contexts[each.id] for each in prepared.questions]
        answers = answer(prepared.questions * 2, contexts, tools.solver)
        write_jsonl(data / f"stores/synthetic/{system}.jsonl", kept.stores.values())
        for reader in ("plain", "twin"):
            write_jsonl(data / f"answers/synthetic/{reader}/{system}.jsonl", answers)
            write_jsonl(data / f"scores/synthetic/{reader}/{system}.jsonl", items)
            write_jsonl(data / f"scores/synthetic/{reader}/references.jsonl", references)


def outputs(grid: Path, stage: str) -> list[bytes]:
    folder = grid / "metrics" / "experiments" / stage
    return [(folder / f"{name_of(stage)}.{ending}").read_bytes() for ending in ("json", "md", "png")]


def name_of(stage: str, reader: str = "plain") -> str:
    return f"synthetic-{reader}" if stage in BY_READER else "synthetic"


def run_arms(stage: str, chosen: dict[str, Any], reader: str) -> None:
    """All cells of the stage that makes the arms of another."""
    main = importlib.import_module(f"memgauge.stages.run_{stage}").main
    for axes in [(system,) for system in chosen["sweep"]["systems"]] if stage == "sweep" else [()]:
        main(chosen, "synthetic", reader, *axes)


def run(stage: str, chosen: dict[str, Any]) -> None:
    """The stage; one that reads for itself is run for each of the readers."""
    main = importlib.import_module(f"memgauge.stages.{stage}").main
    for reader in chosen["readers"] if stage in BY_READER else ():
        run_arms(stage, chosen, reader)
    for axes in [("synthetic", reader) for reader in chosen["readers"]] if stage in BY_READER else [("synthetic",)]:
        main(chosen, *axes)


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_writes_its_three_outputs_the_same_every_time(grid: Path, stage: str) -> None:
    run(stage, params())
    first = outputs(grid, stage)
    run(stage, params())
    assert outputs(grid, stage) == first
    page = first[1].decode("utf-8")
    assert page.startswith("# ")
    assert page.endswith("\n")
    assert "nan" not in page
    check_tables(page)
    assert all(value is None or isinstance(value, int | float) for value in leaves(read_json_of(grid, stage)))


@pytest.mark.parametrize("stage", ["sweep", "ablate"])
def test_arms_of_the_first_history_hold_the_shared_conditions_of_its_questions_only(grid: Path, stage: str) -> None:
    run_arms(stage, {**params(), "variant_histories": 1}, "plain")
    history = read_prepared(Path("data/prepared/synthetic")).histories[0].id
    for arm in read_arms(stage, "synthetic", "plain", "verbatim" if stage == "sweep" else None):
        conditions: dict[str, set[str]] = {}
        for item in arm.items:
            conditions.setdefault(item.condition, set()).add(item.question_id)
            assert item.history_id == history
        assert set(conditions) == {"OE", "CSM", "RM"}
        assert conditions["OE"] == conditions["CSM"] == conditions["RM"]


def test_attribution_is_told_question_by_question_with_the_scores_it_rests_on(grid: Path) -> None:
    run("attribute", params())
    file = grid / "metrics" / "experiments" / "attribute" / "synthetic.jsonl"
    first = file.read_bytes()
    records = list(read_jsonl(file, Attributed))
    counted: dict[tuple[str, str, str], int] = {}
    for each in records:
        link, marks = each.attribution.link, {None: "?", 1.0: "+"}
        pattern = "".join(marks.get(each.contains_match[condition], "-") for condition in ("OE", "CSM", "RM"))
        assert pattern == each.attribution.pattern
        assert each.status.keys() == {"OE", "CSM", "RM"}
        assert each.span_recall.keys() == each.turn_recall.keys() == {"CSM", "RM"}
        counted[each.reader, each.system, link] = counted.get((each.reader, each.system, link), 0) + 1
    for reader, by_system in read_json_of(grid, "attribute").items():
        for system, numbers in by_system.items():
            for link, count in numbers["with_recall"].items():
                assert counted.get((reader, system, link), 0) == count
    names = [(each.reader, each.system, each.attribution.question_id) for each in records]
    assert len(set(names)) == len(names) == sum(counted.values()) > 0
    run("attribute", params())
    assert file.read_bytes() == first


def read_json_of(grid: Path, stage: str, reader: str = "plain") -> Any:
    return read_json(grid / "metrics" / "experiments" / stage / f"{name_of(stage, reader)}.json")


def leaves(tree: Any) -> Iterator[Any]:
    if isinstance(tree, dict):
        for key, value in tree.items():
            assert key == key_of(key)
            yield from leaves(value)
    else:
        yield tree


def check_tables(page: str) -> None:
    """Every row of every table has as many cells as the head of its table."""
    width = 0
    for line in page.splitlines():
        cells = line.replace("\\|", "").count(" | ")
        if not line.startswith("| "):
            width = 0
        elif width:
            assert cells == width, line
        else:
            width = cells


@pytest.mark.parametrize("stage", EXPERIMENTS)
def test_two_equal_readers_have_a_mean_equal_to_each(grid: Path, stage: str) -> None:
    run(stage, params(("plain", "twin")))
    if stage in BY_READER:
        twins = [json.dumps(read_json_of(grid, stage, reader)) for reader in ("plain", "twin")]
        assert twins[0].replace("plain", "twin") == twins[1]
        return
    tree = read_json_of(grid, stage)
    for node in tree.values() if stage == "match_cost" else [tree]:
        if MEAN.replace(" ", "_") in node:
            assert node[MEAN.replace(" ", "_")] == node["plain"] == node["twin"]


def test_the_undamaged_arm_is_the_grids_own_cell(grid: Path) -> None:
    run("degrade", params())
    run("match_cost", params())
    damaged, whole = read_json_of(grid, "degrade"), read_json_of(grid, "match_cost")
    assert damaged["plain"]["as_written"] == whole["arms"]["plain"]["summary"]


def test_the_sweep_at_the_grids_budget_is_the_grids_own_cell(grid: Path) -> None:
    run("sweep", params())
    run("match_cost", params())
    swept, whole = read_json_of(grid, "sweep"), read_json_of(grid, "match_cost")
    assert swept["800"]["plain"]["summary"] == whole["arms"]["plain"]["summary"]


def test_an_experiment_on_a_system_outside_the_grid_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="break_down names system 'epc', which is not among `systems`"):
        check_systems("break_down", ["epc"], ["summary"])
    tree = {"degrade": {"system": "epc"}, "memory": {"summary": {}}}
    with pytest.raises(InputError, match=r"no key 'memory\.epc'"):
        select(tree, Stage((), ("memory.{degrade.system}",)).keys({}, tree))


def test_readers_of_different_questions_have_no_mean() -> None:
    def scored(question: str) -> ScoredItem:
        plain = Question(question, "h", "?", "fact", ("x",))
        return score_item(plain, Answer(question, "CSM", "x", "ok", 1), "g", [], "", [], False)

    one, other = [scored("a"), scored("b")], [scored("a")]
    assert list(with_mean({"whole": {"s": one}, "twin": {"s": one}})) == ["whole", "twin", MEAN]
    assert list(with_mean({"whole": {"s": one}, "limited": {"s": other}})) == ["whole", "limited"]
