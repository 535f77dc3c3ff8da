"""The only module that imports mlflow: one parent run a pipeline run, one child run a cell.

Undefined values are left out and named in the tag `undefined`; values too long become an artifact and a digest.
"""

import contextlib
import hashlib
import json
import math
import re
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import mlflow
from tqdm import tqdm

from memgauge.errors import InputError

EXPERIMENT = "memgauge"
LONGEST_PARAMETER = 6000  # MLflow's limit on the length of a parameter's value
PARAMETERS_A_BATCH = 100  # MLflow's limit on the parameters of one request


@dataclass(frozen=True, slots=True)
class Cell:
    """What is logged of one cell: flat parameters, metrics by name (None when undefined), tags, curves step by step."""

    name: str
    params: Mapping[str, object]
    metrics: Mapping[str, float | None]
    tags: Mapping[str, str] = field(default_factory=dict)
    steps: Sequence[Mapping[str, float | None]] = ()


def open_store(root: Path) -> str:
    """Point mlflow at the SQLite store below `root`, by an absolute address that every experiment shares."""
    address = f"sqlite:///{root / 'mlflow.db'}"
    mlflow.set_tracking_uri(address)
    if mlflow.get_experiment_by_name(EXPERIMENT) is None:
        mlflow.create_experiment(EXPERIMENT, artifact_location=(root / "mlartifacts").as_uri())
    mlflow.set_experiment(EXPERIMENT)
    return address


def log_pipeline(name: str, tags: Mapping[str, str], cells: list[Cell], artifacts: list[Path]) -> str:
    """Log a parent run with its artifacts and one child run a cell; returns the parent's run id."""
    with _ending_well(), mlflow.start_run(run_name=name, tags=dict(tags)) as parent:
        for path in artifacts:
            mlflow.log_artifact(str(path), artifact_path=path.parent.name)
        for cell in tqdm(cells, desc="track", unit="run", delay=2):
            with mlflow.start_run(run_name=cell.name, nested=True, tags=dict(cell.tags)):
                _log_cell(cell)
        return str(parent.info.run_id)


@contextlib.contextmanager
def live_run(
    name: str, params: Mapping[str, object], tags: Mapping[str, str]
) -> Iterator[Callable[[int, Mapping[str, float | None]], None]]:
    """A run that is logged while it works: what is yielded takes a step's number and its metrics.

    It ends FINISHED, FAILED after an exception, KILLED when the process is terminated.
    """
    with _ending_well(), mlflow.start_run(run_name=name, tags=dict(tags)):
        _log_params(params)
        yield _log_step


def _log_step(step: int, metrics: Mapping[str, float | None]) -> None:
    mlflow.log_metrics(metric_names(metrics)[0], step=step)


def recorded(root: Path, stage: str, benchmark: str) -> list[dict[str, Any]]:
    """The finished runs of one stage and benchmark, newest first: parameters as text, metrics as numbers, one mapping.

    Raises InputError without a store.
    """
    if not (root / "mlflow.db").is_file():
        raise InputError(f"no recorded runs in {root / 'mlflow.db'}; run `dvc repro` first")
    open_store(root)
    found = mlflow.search_runs(
        experiment_names=[EXPERIMENT],
        filter_string=f"params.stage = '{stage}' and params.benchmark = '{benchmark}' and status = 'FINISHED'",
        order_by=["attributes.start_time DESC"],
        output_format="list",
    )
    return [{**run.data.params, **run.data.metrics} for run in found]


def _log_cell(cell: Cell) -> None:
    _log_params(cell.params)
    defined, undefined = metric_names(cell.metrics)
    mlflow.log_metrics(defined)
    for number, metrics in enumerate(cell.steps):
        _log_step(number, metrics)
    if undefined:
        mlflow.set_tag("undefined", ", ".join(undefined))


def _log_params(params: Mapping[str, object]) -> None:
    short, long = _split_long({key: str(value) for key, value in params.items()})
    for start in range(0, len(short), PARAMETERS_A_BATCH):
        mlflow.log_params(dict(list(short.items())[start : start + PARAMETERS_A_BATCH]))
    if long:
        mlflow.log_dict(long, "long_params.json")


def _split_long(params: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    long = {key: value for key, value in params.items() if len(value) > LONGEST_PARAMETER}
    digests = {key: f"sha256:{hashlib.sha256(value.encode()).hexdigest()}" for key, value in long.items()}
    return {**params, **digests}, long


def metric_names(metrics: Mapping[str, float | None]) -> tuple[dict[str, float], list[str]]:
    """Names MLflow accepts, split into defined values and the names of undefined ones.

    >>> metric_names({"recall@5": 0.5, "rm": None})
    ({'recall_at_5': 0.5}, ['rm'])
    """
    defined: dict[str, float] = {}
    undefined: list[str] = []
    for name, value in metrics.items():
        safe = re.sub(r"[^\w./ -]", "_", name.replace("@", "_at_"))
        if safe in defined or safe in undefined:
            raise InputError(f"metrics {name!r} and another share the MLflow name {safe!r}; rename one")
        if value is None or not math.isfinite(value):
            undefined.append(safe)
        else:
            defined[safe] = float(value)
    return defined, undefined


@contextlib.contextmanager
def _ending_well() -> Iterator[None]:
    """A terminated process leaves its runs KILLED; MLflow itself marks an exception as FAILED."""

    def stop(number: int, frame: FrameType | None) -> None:
        while mlflow.active_run():
            mlflow.end_run("KILLED")
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def flatten(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested mappings as dotted names; lists as JSON text.

    >>> flatten({"a": {"b": 1}, "c": [1, 2]})
    {'a.b': 1, 'c': '[1, 2]'}
    """
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        if isinstance(value, Mapping):
            flat |= flatten(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = json.dumps(value) if isinstance(value, list) else value
    return flat
