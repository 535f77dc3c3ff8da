"""What stages that run variants of systems do alike: write and retrieve them, and let a reader read them."""

from collections.abc import Sequence
from dataclasses import replace

from tqdm import tqdm

from memgauge.memory.base import Tools
from memgauge.metrics.scoring import ScoredItem
from memgauge.params import Params
from memgauge.protocol.variants import Cut, Kept, Once, Variant, keep, read
from memgauge.records import Benchmark
from memgauge.stages.encoder import sentence_encoder
from memgauge.stages.items import reference_items
from memgauge.stages.shared import asked
from memgauge.stages.solving import role_solver


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
    return {each.name: shared + read(limited, each, solver) for each in bar}


def keep_variants(benchmark: Benchmark, params: Params, variants: Sequence[Variant], label: str) -> list[Kept]:
    """Write and retrieve every variant; the readers share what was kept."""
    tools, cut = writer_tools(params), cut_of(params)
    bar = tqdm(variants, desc=f"{label} {benchmark.name}", unit="arm", delay=2)
    return [keep(benchmark, variant, tools, cut) for variant in bar]


def writer_tools(params: Params) -> Tools:
    """The writer's solver, which solves equal tasks of several variants once, and the shared encoder."""
    return Tools(Once(role_solver("writer", params["role.writer"])), sentence_encoder())


def cut_of(params: Params) -> Cut:
    """How the harness cuts rankings."""
    return Cut(**params["retrieval"])
