"""The review of a scorer from the command line: a sheet out, rated rows in (no stage: people work in between)."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from memgauge.datasets.prepared import read_prepared
from memgauge.errors import InputError
from memgauge.experiments.passage_evidence import tier_of
from memgauge.experiments.passage_reading import PassageAnswer
from memgauge.experiments.passage_scores import PassageScore
from memgauge.files import read_bytes, read_json, read_jsonl, write_json, write_text
from memgauge.params import load
from memgauge.protocol.questions import evidence_texts
from memgauge.protocol.review_agreement import ReviewFindings, review_findings
from memgauge.protocol.review_sheet import KeyRow, Sampled, choose_sample, make_sheet, read_sheet
from memgauge.stages.layout import PREPARED
from memgauge.stages.passage_paths import answers_file, scores_file
from memgauge.stages.source_verdict import source_verdict


def key_file(sheet: Path) -> Path:
    """Where the key of a sheet lies."""
    return sheet.with_name(f"{sheet.name}.key.json")


def export_sheet(benchmark: str, source: str, reader: str, budgets: Sequence[int], out: Path) -> int:
    """Write the sheet and its key; the number of rows. Raises InputError for a budget that was not read."""
    prepared = read_prepared(PREPARED / benchmark)
    answers: dict[str, dict[int, str]] = {}
    for answer in read_jsonl(answers_file(benchmark, source, reader), PassageAnswer):
        answers.setdefault(answer.question_id, {})[answer.budget] = answer.text
    read = [question for question in prepared.questions if question.id in answers]
    known = sorted({budget for each in answers.values() for budget in each})
    if absent := [budget for budget in budgets if budget not in known]:
        raise InputError(f"no answer was read at {absent[0]} passages; choose from {', '.join(map(str, known))}")
    seed = load(Path("params.yaml"))["seed"]
    tiers = {history.id: tier_of(history.id) for history in prepared.histories}
    chosen = set(choose_sample(read, tiers, seed))
    evidence = evidence_texts(prepared)
    sample = [
        Sampled(
            question,
            tuple(evidence[question.id]),
            {budget: answers[question.id][budget] for budget in budgets},
        )
        for question in read
        if question.id in chosen
    ]
    text, key = make_sheet(sample, seed)
    write_text(out, text)
    write_json(key_file(out), key)
    return len(key)


def import_sheet(benchmark: str, source: str, reader: str, sheet: Path) -> tuple[ReviewFindings, str]:
    """The agreement of a rated sheet with the stored scores, and the judge's verdict beside it."""
    try:
        text = read_bytes(sheet).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{sheet} is not UTF-8 ({error.reason}); save it as CSV in UTF-8") from error
    place = key_file(sheet)
    try:
        key = msgspec.convert(read_json(place), list[KeyRow])
    except msgspec.ValidationError as error:
        raise InputError(f"{place} is no key: {error}; use the one written with the sheet") from error
    review = read_sheet(text, key, str(sheet))
    tree = load(Path("params.yaml"))
    scores = read_jsonl(scores_file(benchmark, source, reader), PassageScore)
    marks = {(each.question_id, each.budget): each.marks or (each.score,) for each in scores}
    found = review_findings(review, marks, tree["stats"]["draws"], tree["seed"])
    return found, source_verdict()
