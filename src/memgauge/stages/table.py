"""Every stage of the pipeline: the axes it is spread over and the parameters it reads.

`dvc.yaml` declares the same keys; a test holds the two together, so that no stage reads what DVC does not watch.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from memgauge.asset_table import ASSETS
from memgauge.datasets.catalogue import READERS
from memgauge.errors import InputError, unknown_name
from memgauge.llm.prices import check_prices
from memgauge.memory.catalogue import SYSTEMS
from memgauge.params import Params, select, unread
from memgauge.params_shape import check_types

BRACES = re.compile(r"\{([^{}]+)\}")


@dataclass(frozen=True, slots=True)
class Stage:
    """`axes` name the command's arguments, in order; `params` may mention in braces an axis or a key of params.yaml."""

    axes: tuple[str, ...]
    params: tuple[str, ...] = ()

    def keys(self, arguments: dict[str, str], tree: Params) -> tuple[str, ...]:
        """The parameter keys of one cell; raises InputError for a key in braces that params.yaml does not have.

        >>> stage = Stage(("system",), ("seed", "memory.{system}", "memory.{weigh.system}"))
        >>> stage.keys({"system": "summary"}, {"weigh": {"system": "epc"}})
        ('seed', 'memory.summary', 'memory.epc')
        """

        def named(match: re.Match[str]) -> str:
            return arguments.get(match[1]) or str(select(tree, [match[1]])[match[1]])

        return tuple(BRACES.sub(named, key) for key in self.params)


BUDGET, RECENT = "benchmark.{benchmark}.write_budget_tokens", "benchmark.{benchmark}.recent_tokens"
ASKED_ROLES = ("role.judge", "role.qa")
HISTORY = "history"  # the source of passages that is no memory system
STUDENTS = ("trained", "untrained")  # who writes the stores of MemoryCPT
ARM_PARAMS = ("role.writer", "role.reader.{reader}", "retrieval")  # of experiments that retrieve and read arms
# Groups of the experiments and of training, logged with their results.
TRACKED = (
    *("distil", "train_summariser", "tune_reader", "degrade", "sweep", "ablate", "weigh"),
    *("match_cost", "break_down", "attribute", "show_cases"),
    *("passages", "retention", "write_student", "find_evidence"),
)

STAGES: dict[str, Stage] = {
    "digest_code": Stage(()),
    "assets": Stage(("asset",)),
    "fetch": Stage(("benchmark",), ("seed", "benchmark.{benchmark}.source")),
    "prepare": Stage(("benchmark",), ("benchmark.{benchmark}.source", "benchmark.{benchmark}.select")),
    "equip": Stage((), ("role.writer", "role.judge", "role.finder", "role.teacher")),
    "equip_readers": Stage((), ("readers", "retention.readers", "role.qa", "role.reader")),
    "write": Stage(
        ("benchmark", "system"),
        (BUDGET, "memory.{system}", "role.writer"),
    ),
    "retrieve": Stage(("benchmark", "system"), ("memory.{system}", "retrieval", "role.writer")),
    "refer": Stage(("benchmark", "reader"), (RECENT, "role.reader.{reader}")),
    "read": Stage(("benchmark", "system", "reader"), ("role.reader.{reader}",)),
    "score": Stage(("benchmark", "reader"), ("systems",)),
    "judge": Stage(("benchmark", "reader"), ("systems", "role.judge")),
    "qualify": Stage((), ("role.judge",)),
    "tabulate_verdicts": Stage(("benchmark",), ("systems", "readers")),
    "tune_reader": Stage((), ("seed", "benchmark.synthetic.source", "tune_reader")),
    "find_evidence": Stage(("benchmark",), ("role.finder", "find_evidence")),
    "read_silver": Stage(("benchmark", "reader"), ("role.reader.{reader}",)),
    "compare_silver": Stage(("benchmark", "reader"), ("seed", "systems", "stats")),
    "run_degrade": Stage(("benchmark", "reader"), ("seed", "memory.{degrade.system}", *ARM_PARAMS, "degrade")),
    "run_sweep": Stage(
        ("benchmark", "reader", "system"), ("variant_histories", "memory.{system}", *ARM_PARAMS, "sweep.budgets")
    ),
    "run_ablate": Stage(
        ("benchmark", "reader"),
        ("variant_histories", BUDGET, "memory.{ablate.system}", "memory.{ablate.reference}", *ARM_PARAMS, "ablate"),
    ),
    "run_weigh": Stage(
        ("benchmark", "reader"),
        ("variant_histories", BUDGET, "memory.{weigh.system}", "memory.{weigh.reference}", *ARM_PARAMS, "weigh"),
    ),
    "degrade": Stage(("benchmark", "reader"), ("seed", "stats", "degrade")),
    "sweep": Stage(("benchmark", "reader"), ("seed", "stats", "sweep")),
    "ablate": Stage(("benchmark", "reader"), ("seed", "stats", "ablate")),
    "weigh": Stage(("benchmark", "reader"), ("seed", "stats", "weigh")),
    "match_cost": Stage(("benchmark",), ("seed", "systems", "readers", "stats", "match_cost")),
    "break_down": Stage(("benchmark",), ("seed", "systems", "readers", "stats", "break_down")),
    "compare": Stage(("benchmark",), ("seed", "systems", "readers", "stats")),
    "agree": Stage(("benchmark",), ("systems", "readers")),
    "attribute": Stage(("benchmark",), ("systems", "readers", "attribute")),
    "show_cases": Stage(("benchmark",), ("systems", "readers", "show_cases")),
    "rank_passages": Stage(("benchmark",), ("passages.budgets",)),
    "rank_entries": Stage(("benchmark", "system"), ("memory.{system}", "passages.budgets", "role.writer")),
    "read_passages": Stage(("benchmark", "source", "reader"), ("passages.budgets", "role.reader.{reader}")),
    "score_passages": Stage(("benchmark", "source", "reader"), ("passages.judge_sees_question", "role.judge")),
    "qualify_source": Stage((), ("role.judge",)),
    "passage_budgets": Stage(("benchmark", "source", "reader"), ("seed", "prices", "stats", "passages")),
    "make_stimuli": Stage((), ("seed", "retention.families")),
    "track_states": Stage(("reader",), ("retention.ask", "retention.policies", "role.reader.{reader}")),
    "retention": Stage((), ("retention.families", "retention.readers")),
    "prepare_training": Stage(("benchmark",), ("seed", "benchmark.{benchmark}.source", "prepare_training")),
    "collect_traces": Stage((), ("seed", "memory.memorycpt", "role.teacher", "collect_traces")),
    "distil": Stage((), ("seed", "benchmark.synthetic.source", "memory.memorycpt", "prepare_training", "distil")),
    "train_summariser": Stage(
        (), ("alpha", "seed", "memory.memorycpt", "prepare_training", "role.qa", "role.teacher", "train_summariser")
    ),
    "write_student": Stage(
        ("benchmark", "student"), (BUDGET, "memory.memorycpt", "ask_qa", "distil.model", "write_student")
    ),
    "summarise_retrieved": Stage(
        ("benchmark",), ("memory.memorycpt", "role.summariser", "ask_qa", "summarise_retrieved")
    ),
    "ask_qa": Stage(
        ("benchmark", "system"),
        (BUDGET, "memory.{system}", "retrieval", "role.judge", "role.qa", "role.writer", "ask_qa"),
    ),
    "ask_qa_student": Stage(
        ("benchmark",),
        (RECENT, "memory.memorycpt", "retrieval", *ASKED_ROLES, "role.summariser", "ask_qa", "distil.model"),
    ),
    "ask_qa_depths": Stage(("benchmark",), ("memory.memorycpt", "retrieval", *ASKED_ROLES, "ask_qa", "ask_qa_depths")),
    "qpc": Stage((), ("seed", "benchmarks", "qpc_systems", "prices", "stats", "qpc")),
    "diagnose": Stage(("benchmark",), ("seed", "systems", "readers", "retrieval", "stats")),
    "report": Stage((), ("benchmarks", "systems", "memory")),
    "track": Stage(
        (),
        (
            *("alpha", "seed", "benchmarks", "systems", "readers", "benchmark", "role", "memory", "retrieval", "stats"),
            *TRACKED,
        ),
    ),
}

# What a stage's model calls look at while they run (`stages.solving`): it changes no output.
RUNNING = ("llm",)
# Axes of grids that no stage reads as a value.
AXES = ("variant_readers", "passage_sources", "passage_systems")
AXIS_KINDS = {"benchmarks": "benchmark", "systems": "system", "qpc_systems": "system", "readers": "reader"}


def check_params(tree: Params) -> None:
    """Raises InputError for a key that no stage reads (a misspelt one would change nothing) or a wrong value."""
    patterns = [BRACES.sub("{}", key) for stage in STAGES.values() for key in stage.params]
    if stray := unread(tree, [*patterns, *RUNNING, *AXES]):
        raise InputError(f"params.yaml has keys that no stage reads: {', '.join(stray)}; correct or delete them")
    check_types(tree)
    check_prices(tree["prices"])
    for axis, kind in (
        ("benchmarks", "benchmark"),
        ("systems", "system"),
        ("qpc_systems", "system"),
        ("readers", "reader"),
    ):
        for name in tree[axis]:
            check_name(kind, name, tree)
    _check_sources(tree)
    for name in tree["retention"]["readers"]:
        check_name("reader", name, tree)
    for name in tree["retention"]["ask"]:
        if name not in tree["retention"]["readers"]:
            raise InputError(
                f"params.yaml: retention.ask names {name!r}, which is not among `retention.readers`; "
                "add it there, or take it out of retention.ask"
            )
    for name in tree["variant_readers"]:
        if name not in tree["readers"]:
            raise InputError(f"params.yaml: variant_readers names {name!r}, which is not among `readers`; add it there")


def _check_sources(tree: Params) -> None:
    """DVC cannot join lists: the sources repeat the systems."""
    systems, sources = tree["passage_systems"], tree["passage_sources"]
    if absent := [name for name in systems if name not in tree["systems"]]:
        raise InputError(
            f"params.yaml: passage_systems names {absent[0]!r}, which is not among `systems`; add it there"
        )
    if sources != [HISTORY, *systems]:
        raise InputError(
            f"params.yaml: passage_sources is {sources}; it must be {HISTORY} and then passage_systems, {systems}"
        )


def check_name(axis: str, name: str, tree: Params) -> None:
    """Raises InputError for a name that its table does not hold, with those it does."""
    choices: dict[str, tuple[str, Iterable[str]]] = {
        "asset": ("asset", ASSETS),
        "benchmark": ("benchmark", READERS.keys() & tree["benchmark"].keys()),
        "system": ("memory system", SYSTEMS.keys() & tree["memory"].keys()),
        "reader": ("reader", tree["role"]["reader"]),
        "source": ("source of passages", tree["passage_sources"]),
        "student": ("student", STUDENTS),
    }
    kind, known = choices[axis]
    if name not in known:
        raise unknown_name(kind, name, sorted(known))
