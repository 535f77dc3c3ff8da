"""Stage `train_summariser`: GRPO teaches the summariser (LoRA-B) what tokens are worth, for one `alpha`."""

from collections.abc import Callable, Sequence
from dataclasses import asdict

from memgauge.datasets.prepared import read_prepared, stream_prepared
from memgauge.errors import InputError
from memgauge.files import write_json, write_text
from memgauge.llm.local import LocalChatModel
from memgauge.memory.base import Query, Tools
from memgauge.memory.catalogue import make_system
from memgauge.memory.memorycpt import MemoryCpt
from memgauge.params import Params
from memgauge.protocol.conditions import cut, write_store
from memgauge.records import History, Question, Split
from memgauge.seeds import generator, named_seed
from memgauge.stages.encoder import sentence_encoder
from memgauge.stages.layout import BASE_A, LORA_B, METRICS, TRAINING, checkpoints, pipeline_root
from memgauge.stages.options import options_as
from memgauge.stages.qa_cells import qwen_tokens, retrieved_text
from memgauge.stages.solving import SUBJECT, by_subject, role_solver
from memgauge.training.grpo import Grpo, Trained, train_summariser
from memgauge.training.reward import QaScore, Reward, Score, Summary
from memgauge.training.summary_rows import SummaryRow, clear_rows, summary_rows, with_targets
from memgauge.training.trained_check import Checked, check_summariser, gained, summarise_check

NOTICE = """LoRA adapter of a query-aware summariser, trained by memgauge (stage `train_summariser`).
Base model: base_a (stage `distil`; its NOTICE holds); the adapter is of use with that model only.
Training data: questions about train histories of the benchmark {benchmark}.
Licence: Apache-2.0
"""
MOST_EMPTY = 0.5  # share of empty summaries above which the reward was won by saying nothing


def main(params: Params) -> None:
    """Write `models/lora_b/` and `metrics/train_summariser.json`; every step is logged to MLflow as it is made.

    Raises InputError when training ends in empty summaries: an adapter that says nothing is no result.
    """
    from memgauge.tracking import live_run, open_store

    given = dict(params["train_summariser"])
    shown = {name: given.pop(name) for name in ("write_budget_tokens", "context_tokens", "episodes", "facts")}
    settings = options_as(Grpo, "option of train_summariser", given, beside=list(shown))
    seed = named_seed(params["seed"], "train_summariser") % 2**32
    rows, held = (_rows(params, shown, split, settings.limit_tokens) for split in ("train", "val"))
    score = _by_history(QaScore(role_solver("qa", params["role.qa"]), qwen_tokens, params["alpha"]))
    about = f"alpha {params['alpha']}, qa {params['role.qa']}"
    open_store(pipeline_root())
    logged = {"stage": "train_summariser", "alpha": params["alpha"], "seed": params["seed"]}
    with live_run(f"train_summariser alpha {params['alpha']}", logged, {}) as log:
        done = train_summariser(BASE_A, rows, held, settings, score, seed, LORA_B, checkpoints(), log, about)
    write_text(LORA_B / "NOTICE.txt", NOTICE.format(benchmark=params["prepare_training"]["benchmark"]))
    limit = settings.limit_tokens
    before, after = (
        check_summariser(LocalChatModel(BASE_A, adapter=adapter), held, score, limit)
        for adapter in (LORA_B / "warm", LORA_B)
    )
    write_json(METRICS / "train_summariser.json", {"alpha": params["alpha"], **_numbers(done, before, after, seed)})
    empty = summarise_check(after).empty
    if empty > MOST_EMPTY:
        raise InputError(
            f"{empty:.0%} of the summaries of held-out questions are empty after training; the reward pays for "
            "silence: raise alpha or beta, or give role.qa a solver that can read"
        )


def _rows(params: Params, shown: Params, split: Split, limit_tokens: int) -> list[SummaryRow]:
    """One row a question that has nothing of the test histories, with the teacher's summary where it has one."""
    teacher = role_solver("teacher", params["role.teacher"])
    options = {**params["memory.memorycpt"], "episodes": shown["episodes"], "facts": shown["facts"]}
    system = make_system("memorycpt", options)
    assert isinstance(system, MemoryCpt)
    tools = Tools(teacher, sentence_encoder())
    retrieve = _retriever(system, tools, shown)
    rows = clear_rows(
        summary_rows(stream_prepared(TRAINING / split), retrieve, split), read_prepared(TRAINING / "test")
    )
    histories = by_subject(rows, lambda row: row.history_id)
    taught = {row.question_id: row for some in histories for row in with_targets(some, teacher, limit_tokens)}
    return [taught.get(row.question_id, row) for row in rows]


def _by_history(score: Score) -> Score:
    """The same rewards, asked for history by history, which the ledger then names."""

    def scored(summaries: Sequence[Summary], rows: Sequence[SummaryRow]) -> list[Reward | None]:
        found: list[Reward | None] = []
        for some in by_subject(zip(summaries, rows, strict=True), lambda pair: pair[1].history_id):
            found += score([summary for summary, _ in some], [row for _, row in some])
        return found

    return scored


def _retriever(
    system: MemoryCpt, tools: Tools, shown: Params
) -> Callable[[History, Sequence[Question]], Sequence[str]]:
    def retrieve(history: History, questions: Sequence[Question]) -> list[str]:
        SUBJECT.set(history.id)
        store = write_store(system, history, shown["write_budget_tokens"], tools)
        queries = [Query(question.text, question.date) for question in questions]
        rankings = system.retrieve(store, queries, tools)
        return [cut(retrieved_text(store, ranking), shown["context_tokens"]) for ranking in rankings]

    return retrieve


def _numbers(done: Trained, before: Sequence[Checked], after: Sequence[Checked], seed: int) -> dict[str, object]:
    found = gained(after, before, draws=10_000, generator=generator(seed, "gained"))
    trained = asdict(done)
    return {
        "warm": {name: trained["warm"][name] for name in ("rows", "left_out", "losses", "best_step")},
        "rows": trained["rows"],
        "left_out": trained["left_out"],
        "curves": trained["curves"],
        "before": asdict(summarise_check(before)),
        "after": asdict(summarise_check(after)),
        "gained": asdict(found),
    }
