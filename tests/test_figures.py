"""The loss figure: same bytes every time, readable size, bars and whiskers where the numbers are."""

import os
import struct
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from memgauge.errors import InputError
from memgauge.protocol.diagnosis import Cell, CellName, Diagnosis, Gaps
from memgauge.report.figures import COLUMN_INCHES, REMAINS, RETRIEVAL, WRITE, loss_figure
from memgauge.stats.intervals import Estimate, Interval


def around(value: float, half: float = 0.05) -> Estimate:
    return Estimate(value, 100, Interval(value - half, value + half))


def cell_of(system: str, oe: float, csm: float, rm: float, reader: str = "extractive") -> Cell:
    found = Diagnosis(
        metric="contains_match",
        references={"NM": Estimate(0.02, 100), "TFC": around(0.2), "OE": around(oe)},
        gaps=Gaps(around(oe), around(csm), around(rm), around(oe - csm), around(csm - rm)),
        reading=around(1 - oe),
        label="write",
        label_shares=None,
        label_shares_clustered=None,
        labels_by_margin={},
        bounds={},
    )
    return Cell(
        name=CellName("synthetic", reader, system),
        metrics={"contains_match": found},
        by_type={},
        outcomes=(),
        oracle_right_retrieved_wrong=Estimate(None, 0),
        recall={},
        refusals={},
        refusals_by_type={},
        context_tokens={},
        questions=100,
        scored=100,
        groups=10,
        abstention=0,
        unscorable={},
        missing={},
    )


CELLS = [cell_of("verbatim", 0.6, 0.3, 0.2), cell_of("summary", 0.6, 0.65, 0.4)]


def size_of(png: bytes) -> tuple[int, int]:
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", png[16:24])  # type: ignore[return-value]


def pixels_of(png: bytes, folder: Path) -> np.ndarray:
    from matplotlib.image import imread

    path = folder / "figure.png"
    path.write_bytes(png)
    return (imread(path)[:, :, :3] * 255).round().astype(int)


def share_of(pixels: np.ndarray, colour: str) -> int:
    wanted = [int(colour[start : start + 2], 16) for start in (1, 3, 5)]
    return int((pixels == wanted).all(axis=2).sum())


def test_same_cells_give_the_same_bytes_in_this_and_in_another_process() -> None:
    assert loss_figure(CELLS) == loss_figure(CELLS)
    assert loss_figure(CELLS, kind="svg") == loss_figure(CELLS, kind="svg")
    script = (
        "import sys, hashlib; sys.path.insert(0, sys.argv[1]);"
        "from test_figures import CELLS, loss_figure; print(hashlib.sha256(loss_figure(CELLS)).hexdigest())"
    )
    hashes = {
        subprocess.run(
            [sys.executable, "-c", script, str(Path(__file__).parent)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(hashes) == 1


def test_no_date_and_no_library_version_in_the_file() -> None:
    assert b"matplotlib" not in loss_figure(CELLS)
    assert b"<dc:date>" not in loss_figure(CELLS, kind="svg")


def test_width_is_one_column_and_height_grows_with_systems_and_readers() -> None:
    one, two = size_of(loss_figure(CELLS[:1])), size_of(loss_figure(CELLS))
    readers = size_of(loss_figure([*CELLS, cell_of("verbatim", 0.6, 0.3, 0.2, "other")]))
    assert {one[0], two[0], readers[0]} == {round(COLUMN_INCHES * 300)}
    assert one[1] < two[1] < readers[1]


def test_coloured_areas_are_proportional_to_the_gaps(tmp_path: Path) -> None:
    pixels = pixels_of(loss_figure([cell_of("verbatim", 0.9, 0.5, 0.2)]), tmp_path)
    write, retrieval, remains = (share_of(pixels, colour) for colour in (WRITE, RETRIEVAL, REMAINS))
    # Each bar also has one small square of its colour in the legend and loses some area to its whisker.
    assert write / retrieval == pytest.approx(0.4 / 0.3, rel=0.12)
    assert write / remains == pytest.approx(0.4 / 0.2, rel=0.2)


def test_nothing_is_cut_at_the_edges(tmp_path: Path) -> None:
    long_name = cell_of("a system of some name", 0.98, 0.99, 0.97)
    long_metric = replace(long_name, metrics={"contains_match_strict": long_name.metrics["contains_match"]})
    for cells, metric in ((CELLS, "contains_match"), ([long_metric], "contains_match_strict")):
        pixels = pixels_of(loss_figure(cells, metric), tmp_path)
        for edge in (pixels[:2], pixels[-2:], pixels[:, :2], pixels[:, -2:]):
            assert (edge == 255).all()


def test_a_negative_gap_is_drawn_as_wide_as_a_positive_one(tmp_path: Path) -> None:
    lost = share_of(pixels_of(loss_figure([cell_of("a", 0.6, 0.4, 0.2)]), tmp_path), WRITE)
    gained = share_of(pixels_of(loss_figure([cell_of("a", 0.4, 0.6, 0.2)]), tmp_path), WRITE)
    assert gained == pytest.approx(lost, rel=0.1)


def test_undefined_intervals_are_simply_not_drawn() -> None:
    bare = Estimate(0.5, 1)
    cell = cell_of("one question", 0.5, 0.5, 0.5)
    found = cell.metrics["contains_match"]
    gaps = Gaps(bare, bare, bare, Estimate(0.0, 1), Estimate(0.0, 1))
    plain = replace(cell, metrics={"contains_match": replace(found, gaps=gaps)})
    assert size_of(loss_figure([plain]))[1] > 0
    assert loss_figure([plain]) != loss_figure([cell])


def test_an_unscored_metric_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="no cell has the metric 'token_f1'"):
        loss_figure(CELLS, metric="token_f1")


def test_importing_the_figures_does_not_import_matplotlib() -> None:
    script = "import sys, memgauge.report.figures; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
