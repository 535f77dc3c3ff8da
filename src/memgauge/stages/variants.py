"""What stages that run variants of systems do alike: write and retrieve them, and let a reader read them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tqdm import tqdm

from memgauge.memory.base import Tools
from memgauge.metrics.scoring import ScoredItem
from memgauge.params import Params
from memgauge.protocol.questions import by_history
from memgauge.protocol.variants import Cut, Kept, Once, Variant, keep, read
from memgauge.records import Benchmark
from memgauge.stages.encoder import sentence_encoder
from memgauge.stages.items import reference_items
from memgauge.stages.shared import asked
from memgauge.stages.solving import by_subject, role_solver


def variant_items(
    benchmark: Benchmark, params: Params, reader: str, kept: Sequence[Kept], label: str
) -> dict[str, list[ScoredItem]]:
    """One reader's items of every kept variant, read in this process, with the shared conditions of the same questions.

    The grid's own items hold the questions of all its histories; here only those of `benchmark` that were asked.
    """
    options = params[f"role.reader.{reader}"]
    solver = Once(role_solver(f"reader.{reader}", options))
    groups = asked(options, benchmark.questions).values()
    limited = replace(benchmark, questions=tuple(question for group in groups for question in group))
    asked_ids = {question.id for question in limited.questions}
    shared = [item for item in reference_items(benchmark.name, reader) if item.question_id in asked_ids]
    bar = tqdm(kept, desc=f"{label} {benchmark.name} {reader}", unit="arm", delay=2)
    return {
        each.name: shared + [item for one in history_by_history(limited) for item in read(one, each, solver)]
        for each in bar
    }


def keep_variants(benchmark: Benchmark, params: Params, variants: Sequence[Variant], label: str) -> list[Kept]:
    """Write and retrieve every variant; the readers share what was kept."""
    tools, cut = writer_tools(params), cut_of(params)
    bar = tqdm(variants, desc=f"{label} {benchmark.name}", unit="arm", delay=2)
    found = []
    for variant in bar:
        parts = [keep(one, variant, tools, cut) for one in history_by_history(benchmark)]
        stores = {name: store for part in parts for name, store in part.stores.items()}
        contexts = {name: context for part in parts for name, context in part.contexts.items()}
        found.append(Kept(variant.name, stores, contexts))
    return found


def history_by_history(benchmark: Benchmark) -> Iterator[Benchmark]:
    """The benchmark cut into histories, each the ledger's subject while it is worked on."""
    groups = by_history(benchmark.questions)
    for histories in by_subject(benchmark.histories, lambda history: history.id):
        questions = tuple(groups.get(histories[0].id, ()))
        yield replace(benchmark, histories=tuple(histories), questions=questions)


def writer_tools(params: Params) -> Tools:
    """The writer's solver, which solves equal tasks of several variants once, and the shared encoder."""
    return Tools(Once(role_solver("writer", params["role.writer"])), sentence_encoder())


def cut_of(params: Params) -> Cut:
    """How the harness cuts rankings."""
    return Cut(**params["retrieval"])
