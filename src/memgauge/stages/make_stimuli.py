"""Stage `make_stimuli`: the conversations of the retention experiment, every target checked three ways."""

from pathlib import Path

from memgauge.datasets.retention.stimuli import make_stimuli
from memgauge.files import write_jsonl
from memgauge.params import Params

RETENTION = Path("data/retention")


def main(params: Params) -> None:
    """Write `data/retention/stimuli.jsonl`, eight stimuli a family."""
    write_jsonl(RETENTION / "stimuli.jsonl", make_stimuli(params["seed"], params["retention.families"]))
