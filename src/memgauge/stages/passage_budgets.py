"""Stage `passage_budgets`: compare one reader's scores at every passage budget, and advise one."""

from collections.abc import Sequence

from memgauge.errors import InputError
from memgauge.experiments.budget_advisor import advise
from memgauge.experiments.passage_scores import PassageScore, tabulate
from memgauge.experiments.passage_study import study
from memgauge.files import read_jsonl
from memgauge.llm.prices import PriceRow, check_prices, find_price
from memgauge.params import Params
from memgauge.report.passage_figures import study_figure
from memgauge.report.passage_numbers import advice_numbers, study_numbers
from memgauge.report.passage_pages import study_page
from memgauge.stages.experiment import statistics_of, write_outputs
from memgauge.stages.passage_paths import scores_file
from memgauge.stages.source_verdict import source_verdict
from memgauge.stages.table import HISTORY


def main(params: Params, benchmark: str, source: str, reader: str) -> None:
    """Write `metrics/experiments/passage_budgets/BENCHMARK-SOURCE-READER.*`."""
    chosen, statistics = params["passages"], statistics_of(params)
    reference, released = chosen["reference"], chosen["as_released"]
    scores = list(read_jsonl(scores_file(benchmark, source, reader), PassageScore))
    found = study(scores, chosen["primary"], reference, statistics, released)
    price = price_of(params["prices"], chosen["price"])
    advice = advise(tabulate(scores, released), reference, price, float(chosen["tolerate"]), statistics)
    verdict = judge_verdict(scores)
    numbers = {**study_numbers(found), "judge": verdict, "advice": advice_numbers(advice)}
    name, system = f"{benchmark}, {source}, reader {reader}", None if source == HISTORY else source
    page = study_page(name, system, found, advice, verdict, statistics.draws)
    write_outputs("passage_budgets", f"{benchmark}-{source}-{reader}", numbers, page, study_figure(found))


def judge_verdict(scores: Sequence[PassageScore]) -> str | None:
    """What is known of the judge; None where no score is a judge's."""
    return source_verdict() if any(each.kind == "rubric" for each in scores) else None


def price_of(prices: Params, name: str) -> PriceRow:
    """A row of `prices`; raises InputError for a name that it does not have."""
    rows = check_prices(prices)
    row = find_price(rows, name)
    if row is None:
        raise InputError(f"price {name!r} is not in prices.models; choose from {', '.join(rows)}, or add it")
    return row
