"""Stage `track`: log every cell as an MLflow run under one parent run of the pipeline."""

import hashlib
import os
import subprocess
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from memgauge.files import read_json
from memgauge.params import Params
from memgauge.stages.layout import METRICS, MODELS, PREPARED, SOLVERS, pipeline_root
from memgauge.tracking import Cell, flatten, log_pipeline, open_store

# Records of the whole pipeline, each a run of its own.
SINGLE = ("tune_reader", "judge", "distil", "train_summariser", "retention", "source_judge")
# The options that decided a record, where they are not the group of its own name.
OPTIONS = {
    "passage_budgets": "passages",
    "compare_silver": "find_evidence",
    **dict.fromkeys(("judge", "judged", "source_judge"), "role.judge"),
}


def main(params: Params) -> None:
    """Log to `mlflow.db` at the top of the real repository; temporary experiments share it."""
    root = pipeline_root()
    open_store(root)
    cells = [cell for benchmark in params["benchmarks"] for cell in _cells(benchmark, params)]
    cells += experiments(params)
    cells += [_trained(name, params) for name in params["write_student"]["benchmarks"] if name in params["benchmarks"]]
    commit = _commit(root)
    name = os.environ.get("DVC_EXP_NAME") or commit[:10]
    tags = {"commit": commit, "experiment": os.environ.get("DVC_EXP_NAME", "")}
    run_id = log_pipeline(name, tags, cells, artifacts(params))
    for benchmark in params["benchmarks"]:
        print(_first_table((METRICS / "tables" / f"{benchmark}.md").read_text(encoding="utf-8")))
    print(f"all tables are in {METRICS / 'diagnosis.md'}")
    print(f"logged {len(cells)} cells under run {run_id}; look at them with `memgauge ui`")


def artifacts(params: Params) -> list[Path]:
    """The pages and pictures of this run's benchmarks that are there."""
    found = [METRICS / "diagnosis.md", METRICS / "diagnosis.json"]
    found += [METRICS / "tables" / f"{benchmark}.md" for benchmark in params["benchmarks"]]
    found += [METRICS / "figures" / f"{benchmark}.png" for benchmark in params["benchmarks"]]
    found += sorted((METRICS / "qpc").glob("*"))
    found += [path for path in sorted(METRICS.glob("retention*")) if path.suffix in (".md", ".png")]
    found += [path.with_suffix(ending) for path in _recorded(params) for ending in (".md", ".png")]
    return [path for path in found if path.is_file()]


def _cells(benchmark: str, params: Params) -> Iterator[Cell]:
    recorded: dict[str, Any] = read_json(METRICS / "cells" / f"{benchmark}.json")
    data = _digest(sorted((PREPARED / benchmark).glob("*.jsonl")))
    for reader in params["readers"]:
        role = params["role"]["reader"][reader]
        for system in params["systems"]:
            metrics = flatten(recorded[reader][system])
            yield Cell(
                name=f"{benchmark}-{system}-{reader}",
                params={
                    "benchmark": benchmark,
                    "system": system,
                    "reader": reader,
                    "seed": params["seed"],
                    **flatten(params["memory"][system], "memory."),
                    **flatten(params["retrieval"], "retrieval."),
                    **flatten(params["benchmark"][benchmark], "benchmark."),
                    **flatten(role, "reader."),
                    **flatten(params["role"]["writer"], "writer."),
                },
                metrics={key: value for key, value in metrics.items() if _is_number(value)},
                tags={"data_sha256": data, "solver_sha256": _solver(reader), **_reader_tags(role)},
            )


def _trained(benchmark: str, params: Params) -> Cell:
    """MemoryCPT under this alpha: F1, cost, QPC and the training curves in one run, to be compared by alpha."""
    own: dict[str, Any] = read_json(METRICS / "qpc.json")[benchmark]["memorycpt"]
    trained: dict[str, Any] = read_json(METRICS / "train_summariser.json")
    usd = None if own["cost_e4"] is None else own["cost_e4"] / 1e4
    metrics = {name: own[name] for name in ("f1", "qpc", "qpc_qa", "judge_strict", "judge_generous", "cost_e4")}
    metrics |= {
        "cost_usd": usd,
        "summary_tokens": own["summary"]["mean_tokens"],
        "empty_share": own["summary"]["empty_share"],
        "reward_before": trained["before"]["reward"],
        "reward_after": trained["after"]["reward"],
    }
    options = {"stage": "qpc", "benchmark": benchmark, "alpha": params["alpha"], "seed": params["seed"]}
    options |= flatten(params["train_summariser"], "train_summariser.")
    return Cell(f"qpc {benchmark}", options, metrics, steps=trained["curves"])


def _recorded(params: Params) -> list[Path]:
    """The records of experiments and judging, of the benchmarks of this run only: another run may have left more."""
    found = [*METRICS.glob("experiments/*/*.json"), *METRICS.glob("judged/*.json")]
    return sorted(path for path in found if path.stem.split("-")[0] in params["benchmarks"])


def experiments(params: Params) -> Iterator[Cell]:
    """One run an experiment with its own parameters, one for the training of the reader, one for the judge."""
    single = [METRICS / f"{name}.json" for name in SINGLE]
    for path in [*_recorded(params), *single]:
        stage = path.parent.name if path not in single else path.stem
        numbers = {key: value for key, value in flatten(read_json(path)).items() if _is_number(value)}
        name = stage if path in single else f"{stage} {path.stem}"
        yield Cell(name, {"stage": stage, "seed": params["seed"], **_own_options(stage, params)}, numbers)


def _own_options(stage: str, params: Params) -> dict[str, Any]:
    """The options behind one record, by the names that they have in `params.yaml`."""
    group = OPTIONS.get(stage, stage)
    found: Any = params
    for part in group.split("."):
        found = found.get(part, {})
    return flatten(found, f"{group}.")


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _first_table(page: str) -> str:
    """The first headed part of a page: the diagnosis by the primary metric."""
    return page.split("\n## ")[1]


def _solver(reader: str) -> str:
    """The hash of what the reader is made of, adapters and endpoints included (stage `equip_readers`)."""
    return _digest([SOLVERS / "reader" / f"{reader}.json"])


def _reader_tags(role: Params) -> dict[str, str]:
    """Hashes of what answered: prompt, weights and adapter of a language model, the encoder of the extractive solver.

    Nobody knows the weights behind an endpoint, so it has no hash of them.
    """
    if "model" not in role:
        return {"model": role["solver"], "model_sha256": _digest([MODELS / "minilm" / "model.safetensors"])}
    prompt = files("memgauge.prompts").joinpath("answer_question.txt").read_bytes()
    tags = {"model": str(role["model"]), "prompt_sha256": hashlib.sha256(prompt).hexdigest()}
    if "endpoint" not in role:
        folders = [Path(role[part]) for part in ("model", "adapter") if role.get(part)]
        tags["model_sha256"] = _digest([file for folder in folders for file in sorted(folder.glob("*.safetensors"))])
    return tags


def _digest(paths: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()


def _commit(root: Path) -> str:
    found = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=False)
    return found.stdout.strip() or "uncommitted"
