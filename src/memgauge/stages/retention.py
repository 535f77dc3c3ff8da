"""Stage `retention`: what message retention costs readers, in tables and pictures."""

from memgauge.errors import InputError
from memgauge.experiments.retention import Outcome
from memgauge.experiments.retention_endpoints import contest, tallies
from memgauge.files import read_jsonl, write_bytes, write_json, write_text
from memgauge.params import Params
from memgauge.report.retention_figures import group_figure, outcome_figure, slot_figure
from memgauge.report.retention_pages import retention_numbers, retention_page
from memgauge.stages.layout import METRICS
from memgauge.stages.make_stimuli import RETENTION


def main(params: Params) -> None:
    """Write `metrics/retention.json` and `.md`, the pictures `retention.png`, `retention_groups.png`, `_slots.png`."""
    outcomes = {reader: _outcomes(reader) for reader in params["retention.readers"]}
    found = {reader: tallies(each) for reader, each in outcomes.items()}
    contests = {reader: contest(each, "user_history", "recency") for reader, each in outcomes.items()}
    counters = {reader: each[0].counter for reader, each in outcomes.items()}
    write_json(METRICS / "retention.json", retention_numbers(found))
    write_text(METRICS / "retention.md", retention_page(found, contests, counters, params["retention.families"]))
    write_bytes(METRICS / "retention.png", [outcome_figure(found)])
    write_bytes(METRICS / "retention_groups.png", [group_figure(found)])
    write_bytes(METRICS / "retention_slots.png", [slot_figure(found)])


def _outcomes(reader: str) -> list[Outcome]:
    path = RETENTION / "outcomes" / f"{reader}.jsonl"
    found = list(read_jsonl(path, Outcome))
    if not found:
        raise InputError(f"{path} holds no outcome; repeat `track_states@{reader}`")
    return found
