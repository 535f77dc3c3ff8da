"""What the QPC documents, metric files and pictures say: units, n/a for unknown, published slips, nothing cut off."""

import json
import math
import struct
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from memgauge.errors import InputError
from memgauge.experiments.alpha_sweep import by_alpha, read_runs
from memgauge.experiments.amortisation import curve
from memgauge.experiments.depth_sweep import DEPTHS, DepthPoint
from memgauge.experiments.qpc import Asked, QpcCell, costs_of
from memgauge.experiments.qpc_quality import qualities
from memgauge.experiments.qpc_summaries import summaries_of
from memgauge.llm.prices import PriceRow
from memgauge.metrics.cost import Billing, Tokens
from memgauge.report.figures import COLUMN_INCHES
from memgauge.report.qpc_figures import alpha_figure, amortisation_figure, cost_share_figure, depth_figure
from memgauge.report.qpc_numbers import amortisation_numbers, qpc_numbers
from memgauge.report.qpc_pages import alpha_page, amortisation_page, depth_page, qpc_page
from memgauge.report.qpc_published import published_qpc_table
from memgauge.report.qpc_tables import (
    alpha_table,
    break_even_table,
    cost_parts,
    depth_table,
    qpc_table,
    share_table,
    tokens_table,
)
from memgauge.report.qpc_training_figure import training_figure

SMALL = PriceRow("qwen2.5-7b", Decimal("0.04"), Decimal("0.10"))
LARGE = PriceRow("qwen3-14b", Decimal("0.10"), Decimal("0.24"))
BILLING = {
    "writer": Billing("smollm2", SMALL),
    "summariser": Billing("smollm2", SMALL),
    "qa": Billing("extractive", LARGE, "as if"),
    "manager": Billing("gpt-x", None),
}
WRITER = {"writer": Tokens(40, 40, 100_000, 0, 4_000)}


def question(at: int, tokens: dict[str, Tokens], f1: float | None, **more: Any) -> Asked:
    history = f"h{at % 2}"
    return Asked(f"q{at}", history, history, ("single", "temporal")[at % 3 == 0], f1, tokens, answer="Oslo", **more)


def cell(system: str, store: dict[str, Tokens], online: dict[str, Tokens], f1: float, **more: Any) -> QpcCell:
    made = {"summary": "moved to Oslo", "summary_tokens": 5} if "summariser" in online else {}
    rows = tuple(question(at, online, None if at == 5 else f1 + at % 2 / 4, **made) for at in range(12))
    label = more.pop("label", "nothing to train")
    return QpcCell("synthetic", system, label, BILLING, {"h0": store, "h1": store}, rows, **more)


QA_SHORT, QA_LONG = Tokens(1, 1, 70, 0, 5), Tokens(1, 1, 3000, 0, 5)
CELLS = [
    cell("memorycpt", WRITER, {"summariser": Tokens(1, 1, 4000, 0, 12), "qa": QA_SHORT}, 0.5, label="trained"),
    cell("memorycpt without QAR", WRITER, {"qa": QA_LONG}, 0.45, label="trained", kind="ablation"),
    cell("no_memory", {}, {"qa": Tokens(1, 1, 8000, 0, 5)}, 0.3),
    cell("memory_r1", {"manager": Tokens(9, 9, 900, 0, 90)}, {"qa": QA_SHORT}, 0.4, label="untrained"),
]
COSTS = [costs_of(each) for each in CELLS]
FOUND = qualities(CELLS, 300, 17, "memorycpt")
BY_TYPE = [*qualities(CELLS, 300, 17, question_type="single"), *qualities(CELLS, 300, 17, question_type="temporal")]
CURVES = [curve(each, found.f1.value) for each, found in zip(COSTS, FOUND, strict=True)]
ALPHAS = [
    {
        "alpha": alpha,
        "f1": f1,
        "cost_usd": usd,
        "qpc": f1 / usd / 1e4,
        "qpc_qa": qa,
        "summary_tokens": n,
        "empty_share": e,
    }
    for alpha, f1, usd, qa, n, e in (
        (0.2, 0.21, 3.1e-4, 3.1, 4.0, 0.1),
        (0.4, 0.33, 3.2e-4, 4.4, 6.0, 0.0),
        (0.6, 0.41, 3.3e-4, 5.1, 8.0, 0.0),
        (0.8, 0.48, 3.46e-4, 5.95, 9.0, 0.0),
        (1.0, 0.485, 4.4e-4, 3.6, 31.0, 0.0),
    )
]
RUNS = read_runs([*ALPHAS, {**ALPHAS[3], "f1": 0.46, "qpc_qa": 5.5}])
POINTS = [
    DepthPoint(*depth, f1, judge, usd)
    for depth, f1, judge, usd in zip(
        DEPTHS,
        (0.3, 0.41, 0.46, 0.478, 0.47),
        (0.5, 0.64, 0.73, 0.755, 0.74),
        (4e-5, 8e-5, 1.5e-4, 3.4e-4, 5.3e-4),
        strict=True,
    )
]
STEPS = [
    {
        "step": at + 1,
        "reward": 0.3 + 0.3 * (1 - math.exp(-at / 20)) + 0.05 * math.sin(at),
        "f1": 0.2 + 0.3 * (1 - math.exp(-at / 20)) + 0.05 * math.cos(2 * at),
        "saving": 0.6 + 0.002 * at,
        "completion_tokens": 40 - 25 * (1 - math.exp(-at / 15)) + 3 * math.sin(3 * at),
        "kl": None if at < 2 else 0.001 * at,
        "unscorable": 0.1 * (at % 7 == 0),
        "empty": float("nan") if at == 4 else 0.02,
    }
    for at in range(60)
]


def row_of(table: str, *starts: str) -> list[str]:
    prefix = "| " + " | ".join(starts) + " |"
    (line,) = [line for line in table.splitlines() if line.startswith(prefix)]
    return [each.strip() for each in line.strip("|").split(" | ")]


def column_of(table: str, name: str, *starts: str) -> str:
    header = [each.strip() for each in table.splitlines()[0].strip("|").split(" | ")]
    return row_of(table, *starts)[header.index(name)]


def test_the_table_holds_quality_cost_and_label_of_every_system() -> None:
    table = qpc_table(FOUND)
    # Six questions a store: 100,000 x .04 + 4,000 x .10 per 1M = .0044 USD, a sixth of it a question.
    assert column_of(table, "write (1e-4 USD)", "memorycpt") == "7.33"
    # 4000 x .04 + 12 x .10 + 70 x .10 + 5 x .24 = 169.4 per 1M.
    assert column_of(table, "online (1e-4 USD)", "memorycpt") == "1.69"
    assert column_of(table, "cost (1e-4 USD)", "memorycpt") == "9.03"
    assert column_of(table, "label", "memory_r1") == "untrained"
    assert column_of(table, "part", "memorycpt without QAR") == "ablation"
    assert (column_of(table, "n", "no_memory"), column_of(table, "missing", "no_memory")) == ("12", "1")
    assert column_of(table, "write (1e-4 USD)", "no_memory") == "0"
    assert "judge" not in table
    assert "LoCoMo" not in table


def test_an_unknown_price_is_shown_as_such_and_never_as_zero() -> None:
    table = qpc_table(FOUND)
    for name in ("write (1e-4 USD)", "cost (1e-4 USD)", "QPC [95 %]", "QPC against the base [95 %]"):
        assert column_of(table, name, "memory_r1") == "n/a"
    assert column_of(table, "QPC (QA)", "memory_r1") != "n/a"
    page = qpc_page([*FOUND, *BY_TYPE], COSTS, [], 300, "memorycpt")
    assert "manager: gpt-x, price unknown" in page
    assert "qa: extractive as qwen3-14b, tokens as if asked" in page
    assert "Differences are to memorycpt" in page


def test_tokens_are_split_by_stage_and_role() -> None:
    table = tokens_table(COSTS)
    assert row_of(table, "memorycpt", "offline", "writer")[3:] == [
        *("store", "2", "40.0", "40.0", "100000.0", "0.0", "4000.0", "44.0", "smollm2 as qwen2.5-7b")
    ]
    assert row_of(table, "memorycpt", "online", "summariser")[3:10] == [
        "question",
        "12",
        "1.0",
        "1.0",
        "4000.0",
        "0.0",
        "12.0",
    ]
    unmetered = costs_of(cell("x", {"writer": Tokens(tasks=6)}, {"qa": QA_SHORT}, 0.5))
    assert row_of(tokens_table([unmetered]), "x", "offline", "writer")[5:11] == ["6.0", *["n/a"] * 5]


def test_parts_add_up_to_the_cost() -> None:
    for each in COSTS[:3]:
        assert sum((usd or Fraction(0) for usd in cost_parts(each).values()), Fraction(0)) == each.cost
    table = share_table(COSTS)
    assert column_of(table, "write", "memorycpt") == "81.2 %"
    assert column_of(table, "QA of online", "memorycpt") == "4.8 %"
    assert column_of(table, "summariser", "no_memory") == ""
    assert column_of(table, "write", "memory_r1") == "n/a"


def test_break_even_says_who_is_cheaper_from_when() -> None:
    table = break_even_table(COSTS)
    # .0044 USD more to write, 801.2 - 169.4 per 1M less a question: 6.96 questions.
    assert column_of(table, "no_memory", "memorycpt") == "from 7"
    assert column_of(table, "memorycpt", "no_memory") == "not dearer up to 6"
    assert column_of(table, "memorycpt without QAR", "memorycpt") == "always"
    assert column_of(table, "memorycpt", "memorycpt without QAR") == "never"
    assert column_of(table, "memory_r1", "memorycpt") == "n/a"
    assert column_of(table, "memorycpt", "memorycpt") == ""


def test_published_rows_carry_their_verdicts_and_slips() -> None:
    table = published_qpc_table()
    assert "| memorycpt | 0.479 | 0.755 | 3.46 | 0.138 | 0.1384 | exact |" in table
    assert "| memorycpt without QAD | 0.370 | 0.583 | 2.21 | 0.131 | 0.1674 | conflict |" in table
    assert "| memorycpt without FS | n/a | n/a | 8.35 | 0.053 | n/a | open |" in table
    assert table.count("Known slip: ") == 8
    assert "inferred" in table


def test_documents_name_the_judges_errors_beside_judged_scores() -> None:
    rate = {"rate": 0.25, "judged": 8}
    judge = {"judge": "j", "variant": "strict", "qualified": False, "false_accepts": rate, "false_rejects": rate}
    made = [found for each in CELLS if (found := summaries_of(each)) is not None]
    verdict = "Judge j is not qualified to rescore against sources: it passed 22 of 31 cases."
    page = qpc_page(FOUND, COSTS, made, 300, None, {"j strict": judge}, verdict)
    assert f"- {verdict}" in page
    assert "- Judge j, strict: false accepts 0.250, false rejects 0.250, not qualified." in page
    assert "| memorycpt | 12 | 5.0 | 0.0 % | 0.0 % | 33 % | 100 % |" in page
    assert "Differences" not in page
    assert "| no_memory | 2 | 6.0 | 0 | " in amortisation_page(CURVES)
    assert "peaks at alpha 0.8" in alpha_page("synthetic", by_alpha(RUNS))
    assert "| 8/20* |" in depth_page("synthetic", POINTS)


def test_sweep_tables() -> None:
    table = alpha_table(by_alpha(RUNS))
    assert row_of(table, "0.8*")[1:4] == ["2", "0.470", "3.46"]
    assert row_of(table, "0.2*")[-1] == "10.0 %"
    assert row_of(depth_table(POINTS), "20/50")[1:] == ["0.478", "0.755", "3.40"]


def test_metric_files_are_flat_numbers_with_null_for_unknown() -> None:
    tree = qpc_numbers([*FOUND, *BY_TYPE], [found for each in CELLS if (found := summaries_of(each)) is not None])
    assert json.loads(json.dumps(tree, allow_nan=False)) == tree
    ours: Any = tree["synthetic"]
    assert set(ours) == {"memorycpt", "memorycpt_without_QAR", "no_memory", "memory_r1"}
    assert ours["memorycpt"]["cost_e4"] == pytest.approx(9.0273, abs=1e-4)
    assert ours["memorycpt"]["qpc"] == pytest.approx(FOUND[0].f1.value / ours["memorycpt"]["cost_e4"])
    assert ours["memorycpt"]["type"]["temporal"]["n"] == 4
    assert ours["memorycpt"]["summary"]["mean_tokens"] == 5.0
    assert ours["memory_r1"]["cost_e4"] is None
    assert ours["memory_r1"]["qpc"] is None
    assert ours["no_memory"]["write_e4"] == 0


def test_amortisation_file_has_the_curve_and_the_break_evens() -> None:
    tree: Any = amortisation_numbers(CURVES)["synthetic"]
    assert json.loads(json.dumps(tree, allow_nan=False)) == tree
    assert next(iter(tree["memorycpt"]["cost_e4"])) == "n_1"
    assert list(tree["memorycpt"]["cost_e4"])[-1] == "n_inf"
    assert tree["memorycpt"]["cost_e4"]["n_inf"] == pytest.approx(1.694)
    assert tree["memorycpt"]["stores"] == 2
    assert tree["memorycpt"]["cheaper_from"] == {"memorycpt_without_QAR": 1, "no_memory": 7, "memory_r1": None}


FIGURES = {
    "alpha": lambda: alpha_figure(RUNS),
    "depth": lambda: depth_figure({"synthetic": POINTS}),
    "amortisation": lambda: amortisation_figure(CURVES),
    "cost_share": lambda: cost_share_figure(COSTS),
    "training": lambda: training_figure(STEPS),
}


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_one_column_wide_the_same_every_time_and_cut_nothing(name: str, tmp_path: Path) -> None:
    from matplotlib.image import imread

    png = FIGURES[name]()
    assert png == FIGURES[name]()
    assert struct.unpack(">II", png[16:24])[0] == round(COLUMN_INCHES * 300)
    assert b"matplotlib" not in png
    (tmp_path / "figure.png").write_bytes(png)
    pixels = imread(tmp_path / "figure.png")[:, :, :3]
    for edge in (pixels[:2], pixels[-2:], pixels[:, :2], pixels[:, -2:]):
        assert (edge == 1.0).all()


def test_panels_without_numbers_are_left_out() -> None:
    unpriced = read_runs([{**each, "cost_usd": None, "qpc": None, "qpc_qa": None} for each in ALPHAS])
    assert size_of(alpha_figure(unpriced)) < size_of(alpha_figure(RUNS))
    assert size_of(training_figure([{"step": 1, "reward": 0.5}])) < size_of(training_figure(STEPS))
    with pytest.raises(InputError, match="nothing to draw"):
        training_figure([{"step": 1, "reward": None}])
    with pytest.raises(InputError, match="nothing to draw"):
        amortisation_figure([CURVES[3]])
    with pytest.raises(InputError, match="nothing to draw"):
        cost_share_figure([COSTS[3]])


def size_of(png: bytes) -> int:
    return int(struct.unpack(">II", png[16:24])[1])


def test_importing_the_report_does_not_import_matplotlib() -> None:
    script = (
        "import sys, memgauge.report.qpc_pages, memgauge.report.qpc_figures, memgauge.report.qpc_training_figure;"
        "sys.exit('matplotlib' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
