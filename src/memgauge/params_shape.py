"""The shape of `params.yaml`: what each group holds, checked before any stage runs."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from memgauge.errors import InputError

Count = Annotated[int, Meta(ge=1)]
Share = Annotated[float, Meta(ge=0, le=1)]
Names = Annotated[list[str], Meta(min_length=1)]


class BenchmarkParams(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One benchmark: budgets in cl100k_base tokens, where it comes from, what is kept of it."""

    write_budget_tokens: Count
    recent_tokens: Count
    source: dict[str, Any]
    select: dict[str, Any]


class Roles(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The solver of each role; readers by name."""

    writer: dict[str, Any]
    reader: dict[str, Any]
    judge: dict[str, Any]
    finder: dict[str, Any]
    teacher: dict[str, Any]
    summariser: dict[str, Any]
    qa: dict[str, Any]


class Retrieval(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the harness cuts a ranking."""

    k: Count
    mode: Literal["topk", "fill"]
    read_budget_tokens: Count


class Stats(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Bootstrap draws and the margin of the diagnosis rule."""

    draws: Count
    margin: Annotated[float, Meta(ge=0, lt=1)]


class Llm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where replies of language models come from; `tape` is a name below data/tapes, read in mode replay."""

    mode: Literal["live", "replay"]
    tape: str | None


class Degrade(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Controlled degradation: whose stores and rankings, and how much of them."""

    system: str
    shares: Annotated[list[Share], Meta(min_length=1)]


class Sweep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Write budgets by system; the first system is the reference."""

    systems: Names
    budgets: Annotated[list[Count], Meta(min_length=1)]


class Arms(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One system's arms: options that differ from its own, by name."""

    system: str
    reference: str
    arms: dict[str, dict[str, Any]]


class MatchCost(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Systems in the order of comparison."""

    systems: Annotated[list[str], Meta(min_length=2)]


class Pair(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Two systems of the grid."""

    first: str
    second: str


class FindEvidence(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many turns a finder of silver evidence is shown for a question, and their tokens in all."""

    candidates: Count
    candidate_tokens: Count


class Attribute(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many questions are quoted a system and link."""

    examples: Count


class ShowCases(Pair, frozen=True, forbid_unknown_fields=True):
    """Two systems of the grid, and how many questions are quoted in either direction."""

    examples: Count


class PrepareTraining(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whose train and val histories MemoryCPT learns from, and how many of each; None for all."""

    benchmark: str
    source: dict[str, Any]
    train: Count | None
    val: Count | None


class CollectTraces(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The teacher's write budget, and the share of histories whose traces validate."""

    write_budget_tokens: Count
    val_share: Annotated[float, Meta(gt=0, lt=1)]


class WriteStudent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The benchmarks whose stores the student writes, and how many sessions of a history it reads; None for all."""

    benchmarks: list[str]
    sessions: Count | None


class SummariseRetrieved(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the summariser is shown and asked for, in tokens."""

    context_tokens: Count
    limit_tokens: Count


class Depths(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """(episodes, facts) of each depth."""

    depths: Annotated[list[tuple[Count, Count]], Meta(min_length=1)]


class Passages(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Budgets in passages a question, what they are compared with, how they are scored and priced."""

    budgets: Annotated[list[Count], Meta(min_length=2)]
    reference: Count
    primary: Count
    judge_sees_question: bool
    as_released: bool
    price: str
    tolerate: Share


class AskRetention(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a slow reader gets of the stimuli: the first families, of some timestamp wrappers; None for all."""

    families: Count | None = None
    wrappers: Annotated[list[Literal["clock", "elapsed"]], Meta(min_length=1)] | None = None


class Retention(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Families of stimuli, who reads them, policies beside the paper's arms, and what slow readers get."""

    families: Count
    readers: Names
    policies: list[str]
    ask: dict[str, AskRetention]


class Qpc(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The row of prices that each role is billed by."""

    billed_as: dict[str, str | None]


class Tree(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What `params.yaml` must look like; options of solvers, systems and benchmarks are checked by those."""

    alpha: Annotated[float, Meta(ge=0, le=1)]
    seed: Annotated[int, Meta(ge=0)]
    benchmarks: Names
    systems: Names
    qpc_systems: Names
    readers: Names
    benchmark: dict[str, Any]
    role: Roles
    llm: Llm
    prices: dict[str, Any]
    memory: dict[str, Any]
    retrieval: Retrieval
    stats: Stats
    variant_readers: Names
    variant_histories: Count | None
    passage_sources: Names
    passage_systems: list[str]
    tune_reader: dict[str, Any]
    prepare_training: PrepareTraining
    collect_traces: CollectTraces
    distil: dict[str, Any]
    train_summariser: dict[str, Any]
    write_student: WriteStudent
    summarise_retrieved: SummariseRetrieved
    ask_qa: dict[str, Any]
    ask_qa_depths: Depths
    qpc: Qpc
    passages: Passages
    retention: Retention
    find_evidence: FindEvidence
    degrade: Degrade
    sweep: Sweep
    ablate: Arms
    weigh: Arms
    match_cost: MatchCost
    break_down: Pair
    attribute: Attribute
    show_cases: ShowCases


def check_types(tree: dict[str, Any]) -> None:
    """Raises InputError naming the key, its value and the rule for the first value of the wrong kind.

    >>> check_types({"alpha": "high"})
    Traceback (most recent call last):
    memgauge.errors.InputError: params.yaml: alpha is 'high'; expected `float`, got `str`; correct it
    """
    checked = _convert(tree, Tree, "")
    for name, value in checked.benchmark.items():
        _convert(value, BenchmarkParams, f"benchmark.{name}")
    for group, options in (("memory", checked.memory), ("role.reader", checked.role.reader)):
        for name, value in options.items():
            _convert(value, dict[str, Any], f"{group}.{name}")
    axes = ("benchmarks", "systems", "qpc_systems", "readers", "passage_sources")
    lists = {axis: getattr(checked, axis) for axis in axes} | {"retention.readers": checked.retention.readers}
    for axis, names in lists.items():
        if len(set(names)) < len(names):
            raise InputError(f"params.yaml: {axis} is {names}; each name must occur once")


def _convert(value: Any, kind: Any, prefix: str) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        rule, _, place = str(error).partition(" - at `$")
        inner = place.strip("`").lstrip(".").partition("[")[0]  # an item of a list or mapping: the whole is shown
        key = ".".join(filter(None, (prefix, inner)))
        found = f"{key} is {_found(value, inner)!r}; " if key else ""
        raise InputError(f"params.yaml: {found}{rule[0].lower()}{rule[1:]}; correct it") from error


def _found(tree: Any, key: str) -> Any:
    node: Any = tree
    for part in filter(None, key.split(".")):
        node = node.get(part) if isinstance(node, dict) else node
    return node
