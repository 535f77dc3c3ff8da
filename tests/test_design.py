"""The architecture is a test: layers, forbidden imports, and the words of the project."""

import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent


@pytest.mark.parametrize(
    "command",
    [
        ["lint-imports"],
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["mypy"],
    ],
    ids=lambda command: " ".join(command),
)
def test_checker_is_content(command: list[str]) -> None:
    done = subprocess.run(
        [str(BIN / command[0]), *command[1:]], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("heavy", ["torch", "transformers", "mlflow", "matplotlib", "sklearn", "trl"])
def test_help_imports_nothing_heavy(heavy: str) -> None:
    code = f"import sys, memgauge.cli, memgauge.stages.__main__; sys.exit({heavy!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


LIGHT = ["score", "diagnose", "report", "prepare", "tabulate_verdicts"]
LIGHT += ["match_cost", "compare", "agree", "attribute", "show_cases"]


@pytest.mark.parametrize("stage", LIGHT)
def test_light_stage_imports_no_torch_and_no_mlflow(stage: str) -> None:
    code = f"import sys, memgauge.stages.{stage}; sys.exit(bool({{'torch', 'mlflow'}} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
