"""Shared fixtures: where real benchmark files and real models are, or why a test is skipped."""

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
os.environ.setdefault("MEMGAUGE_MODELS", str(REPOSITORY / "models"))
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
if "PYTEST_XDIST_WORKER" in os.environ:  # workers share the cores: threads of one would wait for those of the other
    os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real benchmark files: MEMGAUGE_DATA, else `../shared/data` beside the repository."""
    folder = Path(os.environ.get("MEMGAUGE_DATA") or REPOSITORY.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip("real benchmark data not found: set MEMGAUGE_DATA")
    return folder


@pytest.fixture(scope="session")
def models() -> Path:
    """The folder of converted models and vocabularies."""
    return Path(os.environ["MEMGAUGE_MODELS"])
