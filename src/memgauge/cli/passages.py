"""`memgauge passages`: facts of ranked passages, an advised budget, and the review of a scorer."""

import argparse
import json
import os
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memgauge.errors import InputError

if TYPE_CHECKING:
    from memgauge.experiments.passage_scores import PassageScore

FOLDER = Path("data/raw/beam")


def add(commands: Any) -> None:
    """Add the commands to the parser."""
    passages = commands.add_parser("passages", help="how much ranked history does a reader need?")
    actions = passages.add_subparsers(required=True, metavar="ACTION")
    _add_facts(actions)
    _add_advise(actions)
    _add_speed(actions)
    _add_sheet(actions)
    _add_agreement(actions)


def _add_facts(actions: Any) -> None:
    facts = actions.add_parser("facts", help="rank BEAM's chats: passages, tokens, short rankings, evidence recall")
    facts.add_argument("--folder", type=Path, help="BEAM's files (default: MEMGAUGE_DATA, else data/raw/beam)")
    facts.add_argument("--tiers", nargs="+", default=["100K", "500K"], help="default: 100K 500K, paper C's cohort")
    facts.add_argument("--strip-markers", action="store_true", help="drop the annotators' marks from messages first")
    facts.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    facts.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    facts.set_defaults(run=_facts)


def _add_advise(actions: Any) -> None:
    advise = actions.add_parser("advise", help="the cheapest budget whose interval excludes a larger loss")
    advise.add_argument("--price", required=True, help="a model of prices.models in params.yaml")
    advise.add_argument("--tolerate", type=float, required=True, help="loss as a share of the full score, such as 0.02")
    _add_cell(advise)
    advise.add_argument(
        "--reference", type=int, help="passages that losses are measured against (default: params.yaml)"
    )
    advise.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    advise.set_defaults(run=_advise)


def _add_speed(actions: Any) -> None:
    speed = actions.add_parser("speed", help="tokens loaded and ranked a second, and memory, of one long chat")
    speed.add_argument("--tokens", type=int, default=1_000_000)
    speed.add_argument("--json", action="store_true", help="print one JSON object instead of a line")
    speed.set_defaults(run=_speed)


def _add_sheet(actions: Any) -> None:
    sheet = actions.add_parser("sheet", help="export the preselected sample of answers for people to rate")
    _add_cell(sheet)
    sheet.add_argument("--budgets", type=int, nargs="+", default=[3, 10], help="whose answers are rated, blinded")
    sheet.add_argument("--out", type=Path, required=True, help="the CSV file; its key is written to OUT.key.json")
    sheet.set_defaults(run=_sheet)


def _add_agreement(actions: Any) -> None:
    agreement = actions.add_parser("agreement", help="import a rated sheet and compare it with the scorer")
    _add_cell(agreement)
    agreement.add_argument("--sheet", type=Path, required=True, help="the rated CSV file, its key beside it")
    agreement.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    agreement.set_defaults(run=_agreement)


def _add_cell(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--benchmark", default="synthetic", help="default: synthetic")
    parser.add_argument("--source", default="history", help="of passage_sources (default: history)")
    parser.add_argument("--reader", default="extractive", help="default: extractive")


def _facts(options: argparse.Namespace) -> None:
    from memgauge.assets import ensure
    from memgauge.datasets.beam import read
    from memgauge.experiments.passage_facts import cohort_facts, history_facts
    from memgauge.report.passage_numbers import facts_numbers
    from memgauge.report.passage_pages import facts_page
    from memgauge.stages.passage_paths import in_order
    from memgauge.text.tokens import models_folder

    folder = options.folder or Path(os.environ.get("MEMGAUGE_DATA") or FOLDER)
    if not folder.is_dir():
        raise InputError(f"no files of BEAM in {folder}; run `dvc repro fetch@beam`, or set MEMGAUGE_DATA or --folder")
    pairs = read(folder, Counter(), tiers=tuple(options.tiers), strip_markers=options.strip_markers)
    ensure("qwen2.5", models_folder())
    found = in_order(history_facts, pairs, options.processes)
    facts = cohort_facts(each for rows in found for each in rows)
    print(json.dumps(facts_numbers(facts), indent=2) if options.json else facts_page(facts))


def _advise(options: argparse.Namespace) -> None:
    from memgauge.experiments.budget_advisor import advise
    from memgauge.experiments.passage_scores import tabulate
    from memgauge.params import load
    from memgauge.report.advice import advice_page
    from memgauge.report.passage_numbers import advice_numbers
    from memgauge.stages.experiment import statistics_of
    from memgauge.stages.passage_budgets import judge_verdict, price_of

    tree = load(Path("params.yaml"))
    price, chosen = price_of(tree["prices"], options.price), tree["passages"]
    scores = _scores(options)
    table, verdict = tabulate(scores, chosen["as_released"]), judge_verdict(scores)
    reference = chosen["reference"] if options.reference is None else options.reference
    found = advise(table, reference, price, options.tolerate, statistics_of(tree))
    if options.json:
        print(json.dumps({**advice_numbers(found), "judge": verdict}, indent=2))
    else:
        print("\n\n".join(filter(None, (advice_page(found), verdict))))


def _speed(options: argparse.Namespace) -> None:
    from dataclasses import asdict
    from tempfile import TemporaryDirectory
    from time import perf_counter

    from memgauge.experiments.passage_speed import measure_speed

    if options.tokens < 1:
        raise InputError(f"--tokens is {options.tokens}; it must be at least 1")
    with TemporaryDirectory(prefix="memgauge-speed-") as folder:
        found = measure_speed(Path(folder), options.tokens, 17, perf_counter, _memory)
    if options.json:
        print(json.dumps({**asdict(found), "tokens_per_second": found.tokens_per_second}, indent=2))
        return
    print(
        f"{found.tokens:,} tokens in {found.plans:,} plans and {found.windows:,} windows: loaded in "
        f"{found.load_seconds:.1f} s, ranked for {found.questions} questions in {found.rank_seconds:.1f} s, together "
        f"{found.tokens_per_second:,.0f} tokens a second; {found.before_mib:,.0f} MiB before loading, at most "
        f"{found.peak_mib:,.0f} MiB after ranking"
    )


def _memory() -> float:
    """The highest size of this process so far in MiB; the system counts in KiB, on macOS in bytes."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def _sheet(options: argparse.Namespace) -> None:
    from memgauge.stages.passage_review import export_sheet

    rows = export_sheet(options.benchmark, options.source, options.reader, options.budgets, options.out)
    print(f"{rows} rows to rate in {options.out}; open {options.out}.key.json only after the ratings are in")


def _agreement(options: argparse.Namespace) -> None:
    from dataclasses import asdict

    from memgauge.report.passage_pages import review_page
    from memgauge.stages.passage_review import import_sheet

    found, verdict = import_sheet(options.benchmark, options.source, options.reader, options.sheet)
    if options.json:
        print(json.dumps({**asdict(found), "judge": verdict}, indent=2))
    else:
        print(review_page(found, verdict))


def _scores(options: argparse.Namespace) -> "list[PassageScore]":
    from memgauge.experiments.passage_scores import PassageScore
    from memgauge.files import read_jsonl
    from memgauge.stages.passage_paths import scores_file

    return list(read_jsonl(scores_file(options.benchmark, options.source, options.reader), PassageScore))
