"""Stage `distil`: teach a small model the teacher's writing tasks (LoRA-A), and merge what it learned into it."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from memgauge.datasets.prepared import read_prepared
from memgauge.datasets.synthetic.generate import Fact, generate_with_facts
from memgauge.datasets.synthetic.options import SyntheticOptions
from memgauge.files import read_jsonl, write_json, write_text
from memgauge.params import Params
from memgauge.records import Benchmark, History, Question
from memgauge.seeds import generator, named_seed
from memgauge.stages.layout import BASE_A, LORA_A, METRICS, TRACES, TRAINING, checkpoints, pipeline_root
from memgauge.stages.options import options_as
from memgauge.stages.students import opening, write_histories
from memgauge.training.adapter import merge
from memgauge.training.distil import Distillation, distil
from memgauge.training.writer_check import WriterCheck, check_writer

NOTICE = """{what} of a memory writer, made by memgauge (stage `distil`).
Base model: {base} (its own NOTICE holds).
Training data: what the teacher wrote of train histories of the benchmark {benchmark}.
Licence: Apache-2.0
"""


def main(params: Params) -> None:
    """Write `models/lora_a/`, `models/base_a/` and `metrics/distil.json`; every step is logged to MLflow as it is made.

    `distil` names the base's folder (`model`), how many traces are learnt from (`rows`: train, val; null for all),
    how much is checked (`check`: histories, sessions), and the options of `Distillation`. The check lets base and
    student write the first sessions of val histories.
    """
    from memgauge.tracking import live_run, open_store

    given = dict(params["distil"])
    base, check, most = Path(given.pop("model")), given.pop("check"), given.pop("rows")
    settings = options_as(Distillation, "option of distil", given, beside=["model", "check", "rows"])
    seed = named_seed(params["seed"], "distil") % 2**32
    rows = {name: _drawn(name, most[name], params["seed"]) for name in ("train", "val")}
    open_store(pipeline_root())
    with live_run("distil", {"stage": "distil", "seed": params["seed"], **given}, {}) as log:
        done = distil(base, rows["train"], rows["val"], settings, seed, LORA_A, checkpoints(), log)
    merge(base, LORA_A, BASE_A)
    benchmark = params["prepare_training"]["benchmark"]
    for folder, what in ((LORA_A, "LoRA adapter"), (BASE_A, "Weights")):
        write_text(folder / "NOTICE.txt", NOTICE.format(what=what, base=base.name, benchmark=benchmark))
    checks = _checks(params, base, check)
    write_json(METRICS / "distil.json", {**asdict(done), **_ends(done.losses), **checks})


def _drawn(name: str, most: int | None, seed: int) -> list[dict[str, Any]]:
    """A file of traces, or so many of them drawn alike from all of it, in its order."""
    rows: list[dict[str, Any]] = list(read_jsonl(TRACES / f"{name}.jsonl", dict))
    order = generator(seed, "distil", "rows", name).permutation(len(rows))[:most]
    return [rows[at] for at in sorted(order.tolist())]


def _ends(losses: Sequence[float]) -> dict[str, float]:
    """The mean loss of the first and of the last tenth of all steps."""
    tenth = max(1, len(losses) // 10)
    return {"loss_first_tenth": sum(losses[:tenth]) / tenth, "loss_last_tenth": sum(losses[-tenth:]) / tenth}


def _checks(params: Params, base: Path, check: Params) -> dict[str, object]:
    """Valid operations and surviving facts of both writers on the same opening sessions of val histories."""
    held = read_prepared(TRAINING / "val")
    histories = [opening(history, check["sessions"]) for history in held.histories[: check["histories"]]]
    facts = _facts(params, histories)
    seen = frozenset(turn.id for history in histories for _, turn in history.turns())
    found: dict[str, object] = {}
    for name, model in (("before", base), ("after", BASE_A)):
        stores = write_histories(
            histories, params["memory.memorycpt"], model, check["write_budget_tokens"], f"check {name} training"
        )
        found[name] = _numbers(check_writer(stores, facts, _questions(held, histories), seen))
    return found


def _facts(params: Params, histories: Sequence[History]) -> list[Fact]:
    """What the generator told in these histories; of a published benchmark nothing is known."""
    if params["prepare_training"]["benchmark"] != "synthetic":
        return []
    options = options_as(SyntheticOptions, "option of the synthetic benchmark", params["benchmark.synthetic.source"])
    names = {history.id for history in histories}
    made = generate_with_facts(options, params["seed"])
    return [fact for history, _, facts in made if history.id in names for fact in facts]


def _questions(held: Benchmark, histories: Sequence[History]) -> list[Question]:
    names = {history.id for history in histories}
    return [question for question in held.questions if question.history_id in names]


def _numbers(found: WriterCheck) -> dict[str, float | None]:
    return {**asdict(found), "valid_rate": found.valid_rate, "fact_recall": found.fact_recall}
