"""Every stage of the pipeline: the axes it is spread over and the parameters it reads.

`dvc.yaml` declares the same keys; a test holds the two together, so that no stage reads what DVC does not watch.
"""

from dataclasses import dataclass

from memgauge.errors import InputError
from memgauge.params import Params, unread


@dataclass(frozen=True, slots=True)
class Stage:
    """`axes` name the command's arguments, in order; `params` may mention them in braces."""

    axes: tuple[str, ...]
    params: tuple[str, ...] = ()

    def keys(self, arguments: dict[str, str]) -> tuple[str, ...]:
        """The parameter keys of one cell.

        >>> Stage(("system",), ("seed", "memory.{system}")).keys({"system": "summary"})
        ('seed', 'memory.summary')
        """
        return tuple(key.format(**arguments) for key in self.params)


STAGES: dict[str, Stage] = {
    "assets": Stage(("asset",)),
    "fetch": Stage(("benchmark",), ("seed", "benchmark.{benchmark}.source")),
    "prepare": Stage(("benchmark",), ("benchmark.{benchmark}.source", "benchmark.{benchmark}.select")),
    "write": Stage(
        ("benchmark", "system"),
        ("benchmark.{benchmark}.write_budget_tokens", "memory.{system}", "role.writer"),
    ),
    "retrieve": Stage(("benchmark", "system"), ("memory.{system}", "retrieval", "role.writer")),
    "refer": Stage(("benchmark", "reader"), ("benchmark.{benchmark}.recent_tokens", "role.reader.{reader}")),
    "read": Stage(("benchmark", "system", "reader"), ("role.reader.{reader}",)),
    "score": Stage(("benchmark", "system", "reader")),
    "score_references": Stage(("benchmark", "reader")),
    "diagnose": Stage(("benchmark",), ("seed", "systems", "readers", "stats")),
    "report": Stage((), ("benchmarks",)),
    "track": Stage((), ("benchmarks", "systems", "readers")),
}

# Top-level keys of the contract that wait for the part that reads them.
RESERVED = ("alpha",)


def check_params(tree: Params) -> None:
    """Raises InputError for a key that no stage reads: a misspelt one would otherwise change nothing."""
    patterns = [key for stage in STAGES.values() for key in stage.params]
    if stray := unread(tree, [*patterns, *RESERVED]):
        raise InputError(f"params.yaml has keys that no stage reads: {', '.join(stray)}; correct or delete them")
