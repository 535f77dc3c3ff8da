"""BudgetMem's router: the reward by hand, PPO on a toy problem, prices that move it, the same bytes each time."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memgauge.errors import InputError
from memgauge.llm.prices import PriceRow
from memgauge.memory.base import Tools
from memgauge.memory.budgetmem import Budgetmem
from memgauge.memory.budgetmem_modules import TIERS
from memgauge.memory.budgetmem_pipeline import MODULES, Chooser, Fixed, Outcome
from memgauge.memory.budgetmem_policy import SETTINGS, WEIGHTS, read_policy
from memgauge.metrics.cost import AsIfAsked
from memgauge.records import History, Question, Session, Turn
from memgauge.seeds import generator
from memgauge.solvers.extractive.lexicon import content_stems
from memgauge.solvers.extractive.solver import ExtractiveSolver
from memgauge.text.tokens import count_tokens
from memgauge.training.router import RouterTraining, module_vectors, save, train_router, untrained
from memgauge.training.router_check import check_router, check_tiers
from memgauge.training.router_episodes import (
    Cut,
    PipelineEpisodes,
    Played,
    Remembered,
    Seen,
    f1_of,
    pipeline_questions,
    priced,
)

FAST = RouterTraining(epochs=30, learning_rate=3e-3, width=32)
USD = (0.0, 1e-6, 4e-6)  # of one module at each tier


class StemEncoder:
    """Bags of stems over 256 places."""

    def encode(self, texts: Sequence[str]) -> Any:
        rows = np.zeros((len(texts), 256), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for stem in content_stems(text):
                row[sum(map(ord, stem)) * 7 % 256] += 1
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


class Toy:
    """Questions of two kinds, told apart by their vectors; `quality` of a kind and the tiers chosen for it."""

    def __init__(self, quality: Callable[[int, tuple[int, ...]], float], questions: int = 64) -> None:
        self.questions = questions
        self._quality = quality
        self.kinds = [at % 2 for at in range(questions)]
        noise = generator(1, "toy").normal(0, 0.1, (questions, 16)).astype(np.float32)
        self.states = noise + np.eye(2, 16, dtype=np.float32)[self.kinds]

    def play(self, places: Sequence[int], chooser: Chooser) -> list[Played]:
        chosen = [chooser.choose(module, self.states[list(places)]) for module in MODULES]
        tiers = list(zip(*chosen, strict=True))
        return [
            Played(one, self._quality(self.kinds[place], one), sum(USD[tier] for tier in one))
            for place, one in zip(places, tiers, strict=True)
        ]


TOY_MODULES = np.eye(5, 8, dtype=np.float32)


def shares(toy: Toy, chooser: Chooser, module: str, kind: int | None = None) -> list[float]:
    places = [at for at in range(toy.questions) if kind is None or toy.kinds[at] == kind]
    played = toy.play(places, chooser)
    at = list(MODULES).index(module)
    return [sum(one.tiers[at] == tier for one in played) / len(played) for tier in range(len(TIERS))]


# --- the reward


def test_costs_are_scaled_between_percentiles_of_past_roots() -> None:
    seen = Seen(100).with_played([Played((), 0.0, (at / 100) ** 2) for at in range(100)])
    low, high = np.percentile(np.arange(100) / 100, [5, 95])
    assert seen.scaled_costs([0.0, 1.0]).tolist() == [0.0, 1.0]
    np.testing.assert_allclose(seen.scaled_costs([0.25]), [(0.5 - low) / (high - low)])


def test_only_the_newest_costs_count() -> None:
    seen = Seen(2).with_played([Played((), 0.1, 9.0)]).with_played([Played((), 0.2, 1.0), Played((), 0.3, 4.0)])
    assert (seen.roots, seen.qualities) == ((1.0, 2.0), (0.2, 0.3))


def test_the_reward_by_hand() -> None:
    played = [Played((), 0.0, 0.0), Played((), 0.5, 1.0)]
    seen = Seen(10).with_played(played)
    # both costs lie outside the percentiles, so they scale to 0 and 1: spread .5, against .25 of the qualities
    np.testing.assert_allclose(seen.rewards(played, 1.0, 0.4), [0.4, 0.5 * 2])


def test_equal_costs_or_qualities_leave_the_other_term() -> None:
    played = [Played((), 0.0, 1.0), Played((), 0.5, 1.0)]
    np.testing.assert_allclose(Seen(9).with_played(played).rewards(played, 1.0, 0.4), [0.4, 0.9])
    played = [Played((), 0.5, 0.0), Played((), 0.5, 1.0)]
    np.testing.assert_allclose(Seen(9).with_played(played).rewards(played, 1.0, 0.4), [0.9, 0.5])


# --- learning


def test_training_finds_the_tier_that_is_clearly_best() -> None:
    toy = Toy(lambda kind, tiers: float(tiers[-1] == 1))
    before = untrained(TOY_MODULES, FAST, 3)
    trained = train_router(toy, TOY_MODULES, FAST, 3)
    assert shares(toy, trained.policy, "summary")[1] > 0.95
    assert shares(toy, trained.policy, "entity")[0] > 0.95  # no use, so the cheapest
    start = check_router(toy, before, trained.seen, FAST)
    end = check_router(toy, trained.policy, trained.seen, FAST)
    assert end.reward > start.reward
    assert end.reward >= max(one.reward for one in check_tiers(toy, trained.seen, FAST).values())
    assert trained.steps[-1].entropy < trained.steps[0].entropy <= np.log(3) + 1e-6
    assert trained.steps[0].entropy > 0.95 * np.log(3)  # all tiers are tried alike at first


def test_the_tier_may_depend_on_the_question() -> None:
    toy = Toy(lambda kind, tiers: float(tiers[0] == (2 if kind else 0)))
    options = RouterTraining(epochs=40, learning_rate=3e-3, width=32, cost_weight=0.1)
    policy = train_router(toy, TOY_MODULES, options, 5).policy
    assert shares(toy, policy, "filter", 0)[0] > 0.9
    assert shares(toy, policy, "filter", 1)[2] > 0.9


def test_a_higher_price_weight_picks_cheaper_tiers() -> None:
    toy = Toy(lambda kind, tiers: sum(tiers) / 10)
    usd = []
    for weight in (0.0, 0.5, 5.0):
        options = RouterTraining(epochs=30, learning_rate=3e-3, width=32, cost_weight=weight)
        trained = train_router(toy, TOY_MODULES, options, 7)
        usd.append(check_router(toy, trained.policy, trained.seen, options).usd)
    assert usd[0] >= usd[1] >= usd[2]
    assert usd[0] > 3 * max(usd[2], 1e-7)


def test_one_batch_one_pass_moves_every_weight_of_the_policy() -> None:
    options = RouterTraining(epochs=1, batch=64, passes=2, width=32)
    toy = Toy(lambda kind, tiers: float(tiers[0] == 1))
    before, after = untrained(TOY_MODULES, options, 1), train_router(toy, TOY_MODULES, options, 1).policy
    assert set(before.tensors) == set(after.tensors)
    for name, tensor in before.tensors.items():
        assert np.array_equal(tensor, after.tensors[name]) == (name == "modules"), name


# --- the files


def test_training_twice_writes_the_same_bytes_and_they_choose_as_before(tmp_path: Path) -> None:
    toy = Toy(lambda kind, tiers: float(tiers[-1] == 1), 32)
    options = RouterTraining(epochs=3, width=16)
    for name in ("a", "b"):
        trained = train_router(toy, TOY_MODULES, options, 42)
        save(trained, tmp_path / name, options, 42)
    for file in (WEIGHTS, SETTINGS):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
    read = read_policy(tmp_path / "a")
    for module in MODULES:
        assert np.array_equal(read.logits(module, toy.states), trained.policy.logits(module, toy.states))
    assert not any("value" in name for name in read.tensors)
    other = train_router(toy, TOY_MODULES, options, 43)
    save(other, tmp_path / "c", options, 43)
    assert (tmp_path / "c" / WEIGHTS).read_bytes() != (tmp_path / "a" / WEIGHTS).read_bytes()


def test_the_networks_of_training_and_of_the_test_agree() -> None:
    """numpy's logits give the probabilities that torch's log-probabilities say."""
    import torch

    from memgauge.training import router

    tensors = router._start(TOY_MODULES, 16, 9)
    toy = Toy(lambda kind, tiers: 0.0, 8)
    states = torch.tensor(np.stack([toy.states] * 5))
    policy = untrained(TOY_MODULES, RouterTraining(width=16), 9)
    choices = torch.tensor([policy.choose(module, toy.states) for module in MODULES])
    joint, _, _ = router._read(tensors, states, choices)
    expected = np.zeros(8)
    for module in MODULES:
        logits = policy.logits(module, toy.states)
        expected += logits.max(axis=1) - np.log(np.exp(logits).sum(axis=1))
    np.testing.assert_allclose(joint.detach().numpy(), expected, rtol=1e-5)


def test_a_router_of_another_encoder_or_of_broken_files_is_refused(tmp_path: Path) -> None:
    options = RouterTraining(epochs=1, width=16)
    save(train_router(Toy(lambda kind, tiers: 0.0, 4), TOY_MODULES, options, 1), tmp_path, options, 1)
    with pytest.raises(InputError, match="takes vectors of 8 numbers, not 10"):
        read_policy(tmp_path).choose("filter", np.zeros((1, 20), dtype=np.float32))
    (tmp_path / WEIGHTS).write_bytes(b"garbage")
    with pytest.raises(InputError, match="is no safetensors file"):
        read_policy(tmp_path)
    (tmp_path / SETTINGS).write_text('{"modules": {}}')
    with pytest.raises(InputError, match="describes other modules"):
        read_policy(tmp_path)
    with pytest.raises(InputError, match="cannot read"):
        read_policy(tmp_path / "absent")


@pytest.mark.parametrize(
    "options",
    [
        {"epochs": 0},
        {"width": 15},
        {"batch": True},
        {"cost_weight": -0.1},
        {"learning_rate": float("nan")},
        {"clip": "x"},
    ],
)
def test_options_are_checked(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(options))):
        RouterTraining(**options)


def test_no_question_is_an_error() -> None:
    with pytest.raises(InputError, match="no questions"):
        train_router(Toy(lambda kind, tiers: 0.0, 0), TOY_MODULES, FAST, 1)


# --- the pipeline as episodes

SAYINGS = [("Ann", "I moved to Lisbon."), ("Bob", "I like green tea."), ("Ann", "I adopted a dog called Rex.")]
QUESTIONS = (
    Question("q0", "h", "Where did Ann move to?", "t", ("Lisbon",)),
    Question("q1", "h", "What is Ann's dog called?", "t", ("Rex",)),
    Question("q2", "h", "Who is Cy?", "t", (), abstention=True),
)


def history(split: Any) -> History:
    turns = tuple(Turn(f"t{at}", speaker, text) for at, (speaker, text) in enumerate(SAYINGS))
    return History("h", "g", split, (Session("s", "2023-05-08", turns),))


def episodes() -> PipelineEpisodes:
    tools = Tools(Remembered(AsIfAsked(ExtractiveSolver(StemEncoder()), count_tokens)), StemEncoder())
    cut = Cut(1000, 5, "topk", 1000)
    asked, questions = pipeline_questions([(history("train"), QUESTIONS)], "train", Budgetmem(), tools, cut)
    row = PriceRow("m", Decimal("0.1"), Decimal("0.2"))
    return PipelineEpisodes(asked, Budgetmem(), tools, f1_of(questions, tools.solver), priced(row, row))


def test_a_high_tier_costs_what_a_model_would_have_been_asked() -> None:
    played = {tier: episodes().play([0, 1], Fixed(tier)) for tier in TIERS}
    assert [one.tiers for one in played["high"]] == [(2,) * 5] * 2
    assert all(high.usd > low.usd > 0 for high, low in zip(played["high"], played["low"], strict=True))
    assert all(0 <= one.quality <= 1 for one in (*played["low"], *played["high"]))
    assert max(one.quality for one in played["low"]) > 0


def test_prices_by_hand_and_uncounted_tokens_are_an_error() -> None:
    row = PriceRow("m", Decimal("0.1"), Decimal("0.2"))
    counts = {
        "summariser_tasks": 1,
        "summariser_calls": 1,
        "summariser_input_tokens": 1000,
        "summariser_output_tokens": 100,
    }
    text = "one two three"
    expected = (1000 * 0.1 + 100 * 0.2 + count_tokens(text) * 0.1) / 1e6
    assert priced(row, row)(Outcome(text, (), counts)) == pytest.approx(expected)
    with pytest.raises(InputError, match="were not counted"):
        priced(row, row)(Outcome(text, (), {"summariser_tasks": 1}))


def test_unanswerable_questions_and_other_splits_are_no_episodes() -> None:
    assert episodes().questions == 2
    tools = Tools(ExtractiveSolver(StemEncoder()), StemEncoder())
    with pytest.raises(InputError, match="give only train histories"):
        pipeline_questions([(history("test"), QUESTIONS)], "train", Budgetmem(), tools, Cut(9, 9, "topk", 9))


def test_the_router_trains_on_the_pipeline() -> None:
    options = RouterTraining(epochs=2, width=16)
    trained = train_router(episodes(), module_vectors(StemEncoder()), options, 1)
    assert len(trained.steps) == 2
    assert check_router(episodes(), trained.policy, trained.seen, options).quality > 0
