"""The budget advisor: the cheapest budget whose interval excludes a larger loss, and how firm that advice is."""

from dataclasses import replace

import numpy as np
import pytest

from memgauge.errors import InputError
from memgauge.experiments.budget_advisor import advise
from memgauge.experiments.passage_contrasts import contrast
from memgauge.experiments.passage_scores import PassageScore, tabulate
from memgauge.experiments.significance import Statistics
from memgauge.llm.prices import FREE, check_prices
from memgauge.report.advice import advice_page, advice_sentence
from memgauge.report.passage_numbers import advice_numbers

FEW = Statistics(draws=2_000, margin=0.02, seed=17)
PRICE = check_prices({"unit": "USD per 1M tokens", "models": {"m": {"input": 1, "output": 10}}})["m"]


def score(name, budget, value, group):
    """100 input tokens a passage and 10 output tokens."""
    return PassageScore(
        question_id=name,
        history_id=group,
        group=group,
        tier="all",
        ability="x",
        abstention=False,
        budget=budget,
        passages=budget,
        status="ok",
        kind="token_f1",
        score=value,
        contains_match=None,
        as_released=value,
        marks=(),
        input_tokens=100 * budget,
        output_tokens=10,
        estimated=False,
        judge_tokens=0,
        recall=None,
    )


def advised(loss, tolerate, groups=30):
    """Budget 3 loses `loss` on every question; budget 5 nothing."""
    rows = {3: 0.8 - loss, 5: 0.8, 10: 0.8}
    scores = [score(f"q{at}", b, v, f"g{at % groups}") for at in range(60) for b, v in rows.items()]
    return advise(tabulate(scores), 10, PRICE, tolerate, FEW)


def test_the_cheapest_budget_within_the_tolerance_is_advised() -> None:
    assert advised(loss=0.01, tolerate=0.02).advised == 3
    assert advised(loss=0.05, tolerate=0.02).advised == 5
    found = advised(loss=0.05, tolerate=0.02)
    assert [each.share for each in found.choices] == [0.0, 1.0, 0.0]
    # 3 passages: 300 tokens at 1 and 10 at 10 USD per 1M = 0.0004 USD a question
    assert found.choices[0].usd == pytest.approx(0.4)
    assert found.choices[0].cost_share == pytest.approx(400 / 1100)


def costs(shares):
    """Advice where group g<at> sends `low` tokens at 3 passages and `high` at 10, over five questions each."""
    scores = [
        replace(score(f"q{at}-{number}", budget, 0.5, f"g{at}"), input_tokens=tokens, output_tokens=0)
        for at, pair in enumerate(shares)
        for number in range(5)
        for budget, tokens in zip((3, 10), pair, strict=True)
    ]
    return advise(tabulate(scores), 10, PRICE, 0.0, FEW).choices[0]


def test_the_interval_of_a_cost_share_redraws_whole_groups() -> None:
    """Of two groups a quarter of the draws holds only the first, a quarter only the second."""
    found = costs([(200, 1_000), (800, 1_000)])
    assert found.cost_share == pytest.approx(0.5)
    assert found.cost_interval is not None
    assert (found.cost_interval.low, found.cost_interval.high) == pytest.approx((0.2, 0.8))


def test_a_cost_share_redraws_both_budgets_together() -> None:
    """Half the cost in either group, however large: redrawn apart, the share would scatter from 1/6 to 3/2."""
    found = costs([(100, 200), (300, 600)])
    assert found.cost_interval is not None
    assert (found.cost_interval.low, found.cost_interval.high) == pytest.approx((0.5, 0.5))


def test_an_uncertain_advice_says_so() -> None:
    stream = np.random.default_rng(2)
    scores = []
    for at in range(40):
        low = float(stream.choice([0.0, 0.5, 1.0]))
        scores += [score(f"q{at}", 3, low, f"g{at}"), score(f"q{at}", 10, 0.5, f"g{at}")]
    change = contrast(tabulate(scores), 3, 10, FEW).change
    assert change.clustered is not None
    found = advise(tabulate(scores), 10, PRICE, -change.clustered.low / 100, FEW)
    assert found.choice.budget == 3
    assert 0.3 < found.choice.share < 0.7  # the interval ends at the limit, so about half the draws agree
    assert sum(each.share for each in found.choices) == pytest.approx(1.0)
    assert f"{100 * found.choice.share:.0f} %" in advice_sentence(found)
    assert "advised in draws" in advice_page(found)
    assert advice_numbers(found)["share_of_draws"] == found.choice.share


def test_with_one_source_group_only_the_reference_can_be_advised() -> None:
    found = advised(loss=0.0, tolerate=0.02, groups=1)
    assert found.advised == 10
    assert "no cheaper budget" in advice_sentence(found)


def test_free_tokens_have_no_shares_of_cost() -> None:
    scores = [score(f"q{at}", b, 0.5, f"g{at}") for at in range(4) for b in (3, 10)]
    found = advise(tabulate(scores), 10, FREE, 0.0, FEW)
    assert found.advised == 3
    assert found.choice.cost_share is None


@pytest.mark.parametrize("tolerate", [-0.1, 1.5, float("nan")])
def test_a_tolerance_outside_the_scale_is_refused(tolerate) -> None:
    with pytest.raises(InputError, match="tolerate"):
        advised(0.0, tolerate)
