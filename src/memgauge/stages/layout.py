"""Where stages read and write: every path of the pipeline in one place, relative to the repository's top."""

import os
from pathlib import Path

RAW = Path("data/raw")
PREPARED = Path("data/prepared")
STORES = Path("data/stores")
CONTEXTS = Path("data/contexts")
ANSWERS = Path("data/answers")
SCORES = Path("data/scores")
METRICS = Path("metrics")
MODELS = Path("models")
SOLVERS = Path("data/solvers")
REFERENCES = "references"  # stands in the place of a system for the answers all systems share


def pipeline_root() -> Path:
    """The real repository, also from a temporary experiment's copy (DVC exports DVC_ROOT)."""
    return Path(os.environ.get("DVC_ROOT") or ".").resolve()


def embedding_cache() -> Path:
    """One file of sentence vectors that all cells and experiments share; safe to delete."""
    return pipeline_root() / ".dvc" / "tmp" / "memgauge" / "embeddings.sqlite"
