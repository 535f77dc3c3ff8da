"""Stage `judge_references`: verdicts on the answers under the shared conditions (see `judge`)."""

from memgauge.params import Params
from memgauge.stages import judge
from memgauge.stages.layout import REFERENCES


def main(params: Params, benchmark: str, reader: str) -> None:
    """Write `data/verdicts/BENCHMARK/READER/references.jsonl`."""
    judge.main(params, benchmark, REFERENCES, reader)
