"""Where stages read and write: every path of the pipeline in one place, relative to the repository's top."""

import os
from pathlib import Path

CODE = Path("data/code")
RAW = Path("data/raw")
PREPARED = Path("data/prepared")
STORES = Path("data/stores")
CONTEXTS = Path("data/contexts")
ANSWERS = Path("data/answers")
SCORES = Path("data/scores")
ARMS = Path("data/arms")
VERDICTS = Path("data/verdicts")
TRAINING = Path("data/training")
TRACES = Path("data/traces")
STUDENT = Path("data/student")
QA = Path("data/qa")
METRICS = Path("metrics")
TAPES = Path("data/tapes")
SILVER = Path("data/silver")
MODELS = Path("models")
BASE_A, LORA_A, LORA_B = MODELS / "base_a", MODELS / "lora_a", MODELS / "lora_b"
SOLVERS = Path("data/solvers")
REFERENCES = "references"  # stands in the place of a system for the answers all systems share


def pipeline_root() -> Path:
    """The real repository, also from a temporary experiment's copy (DVC exports DVC_ROOT)."""
    return Path(os.environ.get("DVC_ROOT") or ".").resolve()


def shared_files() -> Path:
    """What all cells and experiments share beside DVC's outputs: vectors, model calls, the ledger."""
    return pipeline_root() / ".dvc" / "tmp" / "memgauge"


def embedding_cache() -> Path:
    """Sentence vectors; safe to delete."""
    return shared_files() / "embeddings.sqlite"


def checkpoints() -> Path:
    """Where training keeps what a killed run goes on from."""
    return shared_files() / "checkpoints"


def replies_file() -> Path:
    """The response store: deleting it means paying again."""
    return shared_files() / "replies.sqlite"


def ledger_file() -> Path:
    """The append-only ledger of all runs."""
    return shared_files() / "ledger.sqlite"


def tape_file(name: str) -> Path:
    """A tape by name."""
    return TAPES / f"{name}.jsonl.zst"
