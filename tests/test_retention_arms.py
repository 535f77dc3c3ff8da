"""Retention arms: what each policy keeps for any seed, prompts of equal length, and what outcomes count as."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgauge.datasets.retention.stimuli import Stimulus, make_stimuli
from memgauge.errors import InputError
from memgauge.experiments.retention import NINE, Asked, Outcome, arm_plans, requests, run_arms
from memgauge.experiments.retention_endpoints import contest, is_sufficient, support_of, tallies
from memgauge.experiments.retention_matching import Counter, contents, match, pad, reader_counter
from memgauge.experiments.retention_policies import POLICIES, Line, kept_positions, make_policy
from memgauge.records import Result
from memgauge.solvers.extractive.track_state import read_state
from memgauge.tasks.base import Message, Task
from memgauge.tasks.track_state import State, TrackState

PLANS = arm_plans(["reference_following"])
SEEDS = st.integers(0, 2**32)


@lru_cache(1 << 14)
def words(text: str) -> int:
    return len(text.split())


def prompt_words(messages: Sequence[Message]) -> int:
    return sum(words(message["content"]) for message in messages)


WORDS = Counter("words", words, prompt_words)


@dataclass(frozen=True)
class Reader:
    """Reads as the extractive solver does; replies listed by place in `failing` never come."""

    failing: frozenset[int] = frozenset()

    def solve(self, tasks: Sequence[Task[Any]]) -> list[Result[Any]]:
        found: list[Result[Any]] = []
        for place, task in enumerate(tasks):
            assert isinstance(task, TrackState)
            lost = place in self.failing
            found.append(Result(None, "provider_error") if lost else Result(read_state(task.history), "ok"))
        return found


def outcomes_of(seed: int, families: int, counter: Counter = WORDS, reader: Reader | None = None) -> list[Outcome]:
    return run_arms(make_stimuli(seed, families), PLANS, reader or Reader(), counter)


def sufficient(outcomes: Sequence[Outcome], arm: str) -> tuple[int, int]:
    """Direct and reference cases whose retained text settles the state."""
    own = [each for each in outcomes if each.arm == arm]
    direct = sum(is_sufficient(each) for each in own if each.variant == "direct")
    return direct, sum(is_sufficient(each) for each in own if each.variant == "reference")


def check_design(outcomes: Sequence[Outcome], each_way: int) -> None:
    assert sufficient(outcomes, "full_history") == (each_way, each_way)
    assert sufficient(outcomes, "user_history") == (each_way, 0)
    recency = sufficient(outcomes, "recency")
    assert recency[0] == recency[1]
    assert 0 <= recency[0] <= each_way
    assert sufficient(outcomes, "oracle_removed") == (each_way, 0)
    assert sufficient(outcomes, "oracle_restored") == (each_way, each_way)
    assert sufficient(outcomes, "reference_following") == (each_way, each_way)


@given(SEEDS)
@settings(max_examples=6, deadline=None)
def test_what_each_arm_can_support_follows_from_the_design_for_any_seed(seed: int) -> None:
    check_design(outcomes_of(seed, families=16), each_way=64)


@pytest.mark.models
@pytest.mark.parametrize("seed", [1, 17])
def test_the_design_holds_in_real_tokens(seed: int, models: Path) -> None:
    if not (models / "cl100k_base").is_dir():
        pytest.skip("models/cl100k_base is not there")
    check_design(outcomes_of(seed, 2, reader_counter({"solver": "extractive"})), each_way=8)


def check_lengths(stimulus: Stimulus, asked: Sequence[Asked], counter: Counter) -> None:
    by_arm = {each.arm: each for each in asked}
    for each in asked:
        assert each.prompt_tokens == counter.prompt(each.task.messages())
    assert by_arm["recency"].prompt_tokens == by_arm["user_history"].prompt_tokens
    assert by_arm["full_guidance"].prompt_tokens == by_arm["full_placebo"].prompt_tokens
    assert by_arm["oracle_removed"].prompt_tokens == by_arm["oracle_restored"].prompt_tokens
    assert by_arm["oracle_removed"].prompt_tokens > by_arm["user_history"].prompt_tokens
    last = by_arm["recency"].kept
    assert last == tuple(range(last[0], len(stimulus.lines)))
    assert set(by_arm["oracle_restored"].kept) == {*by_arm["user_history"].kept, stimulus.offered}


@given(SEEDS)
@settings(max_examples=10, deadline=None)
def test_matched_prompts_are_of_one_length(seed: int) -> None:
    for stimulus in make_stimuli(seed, families=1):
        check_lengths(stimulus, requests(stimulus, PLANS, WORDS), WORDS)


@pytest.mark.models
@pytest.mark.parametrize("name", ["cl100k_base", "smollm2"])
def test_matched_prompts_are_of_one_length_in_real_tokens(name: str, models: Path) -> None:
    if not (models / name).is_dir():
        pytest.skip(f"models/{name} is not there")
    options = {"solver": "language_model", "model": str(models / name)}
    counter = reader_counter(options if name == "smollm2" else {"solver": "extractive"})
    for stimulus in make_stimuli(17, families=1)[1::3]:
        check_lengths(stimulus, requests(stimulus, PLANS, counter), counter)


def test_recency_is_the_longest_suffix_that_fits() -> None:
    for stimulus in make_stimuli(17, families=8):
        by_arm = {each.arm: each for each in requests(stimulus, PLANS, WORDS)}
        recency = by_arm["recency"]
        if recency.kept[0] > 0:
            longer = TrackState("\n".join(stimulus.lines[recency.kept[0] - 1 :]))
            assert pad(longer, recency.prompt_tokens, WORDS) is None


def test_a_reader_sees_lines_of_the_history_and_no_gold() -> None:
    stimulus = make_stimuli(17, families=1)[1]
    canary = replace(stimulus, target=State("CANARY", "CANARY", "CANARY"))
    for each, other in zip(requests(canary, PLANS, WORDS), requests(stimulus, PLANS, WORDS), strict=True):
        assert each.task == other.task
        assert "CANARY" not in str(each.task.messages())
        assert set(each.task.history.splitlines()) <= set(stimulus.lines)


def test_nine_arms_of_the_paper_and_one_for_each_further_policy() -> None:
    assert len(NINE) == 9
    assert [plan.constrained for plan in NINE].count(False) == 2
    assert [plan.name for plan in PLANS[9:]] == ["reference_following"]
    with pytest.raises(InputError, match="second arm 'recency'"):
        arm_plans(["recency"])
    with pytest.raises(InputError, match=r"unknown retention policy 'foo'.*reference_following"):
        arm_plans(["foo"])


class OnlyLast:
    """A user's own policy."""

    name: ClassVar[str] = "only_last"
    matched: ClassVar[bool] = False

    def keep(self, lines: Sequence[Line], budget_tokens: int) -> list[int]:
        return [len(lines) - 1]


class TooMuch(OnlyLast):
    name: ClassVar[str] = "too_much"
    matched: ClassVar[bool] = True

    def keep(self, lines: Sequence[Line], budget_tokens: int) -> list[int]:
        return list(range(len(lines)))


class Shuffled(OnlyLast):
    def keep(self, lines: Sequence[Line], budget_tokens: int) -> list[int]:
        return [1, 0]


class Nothing:
    pass


@pytest.fixture
def plugin(monkeypatch: pytest.MonkeyPatch) -> str:
    """This file as an importable module."""
    import sys

    monkeypatch.setitem(sys.modules, "own_policies", sys.modules[__name__])
    return "own_policies"


def test_a_users_own_policy_is_an_arm(plugin: str) -> None:
    stimuli = make_stimuli(17, 1)
    outcomes = run_arms(stimuli, arm_plans([f"{plugin}:OnlyLast"]), Reader(), WORDS)
    own = [each for each in outcomes if each.arm == "only_last"]
    assert [(each.kept, each.response) for each in own] == [(1, State(None, None, None))] * 8


def test_a_policy_that_cannot_be_used_is_told(plugin: str) -> None:
    stimulus = make_stimuli(17, 1)[0]
    with pytest.raises(InputError, match="cannot be found"):
        make_policy(f"{plugin}:Absent")
    with pytest.raises(InputError, match="cannot be found"):
        make_policy("no_such_module:Name")
    with pytest.raises(InputError, match="has no name, matched, keep"):
        make_policy(f"{plugin}:Nothing")
    with pytest.raises(InputError, match="positions must grow"):
        requests(stimulus, arm_plans([f"{plugin}:Shuffled"]), WORDS)
    with pytest.raises(InputError, match="keeps too much"):
        requests(stimulus, arm_plans([f"{plugin}:TooMuch"]), WORDS)


@pytest.mark.parametrize("name", sorted(POLICIES))
@given(speakers=st.lists(st.sampled_from(["user", "assistant"]), max_size=12), budget=st.integers(0, 60))
def test_policies_keep_existing_positions_of_any_conversation(name: str, speakers: list[Any], budget: int) -> None:
    lines = [Line(speaker, f"e{place} of e{place // 2}", 5) for place, speaker in enumerate(speakers)]
    kept = kept_positions(POLICIES[name], lines, budget)
    if name == "recency":
        assert 5 * len(kept) <= budget


def test_filler_brings_a_prompt_to_the_token_and_says_when_it_cannot() -> None:
    task = TrackState("e1: a b c")
    length = prompt_words(task.messages())
    assert pad(task, length, WORDS) == task
    assert pad(task, length - 1, WORDS) is None
    assert pad(task, length + 1, WORDS) is None  # no room for the label and one word
    padded = pad(task, length + 7, WORDS)
    assert padded is not None
    assert prompt_words(padded.messages()) == length + 7
    first, second = match([task, TrackState("e1: a b c d")], WORDS)
    assert prompt_words(first.messages()) == prompt_words(second.messages()) == length + 3


def test_cl100k_counts_where_the_reader_does_not_run_here() -> None:
    for options in ({"solver": "extractive"}, {"solver": "language_model", "model": "m", "endpoint": "http://x"}):
        counter = reader_counter(options)
        assert (counter.name, counter.prompt) == ("cl100k_base", contents)


def outcome(response: State | None, arm: str = "a", family: int = 0, **changes: Any) -> Outcome:
    target = State("tram", "west", "one night")
    status = "parse_error" if response is None else "ok"
    made = Outcome("s", family, "reference", arm, status, response, target, target, (), 9, 18, 100, "words")
    return replace(made, **changes)


def test_a_tally_by_hand() -> None:
    outcomes = [
        outcome(State("Tram ", "west", "one night")),
        outcome(State(None, "west", "one night"), visible=State(None, "west", "one night"), unresolved=("item",)),
        outcome(State(None, "west", None)),
        outcome(State("taxi", "west", "one night"), visible=State(None, None, "one night")),
        outcome(None),
    ]
    (found,) = tallies(outcomes)
    assert (found.n, found.correct, found.missing, found.sufficient) == (5, 1, 1, 3)
    assert list(found.groups.values()) == [1, 1, 1, 1, 1]
    assert found.slots["item"] == {"match": 1, "null": 2, "other value": 1, "missing": 1}
    assert found.slots["duration"] == {"match": 3, "null": 1, "other value": 0, "missing": 1}
    assert found.slots_matched == pytest.approx((3 + 2 + 1 + 2) / 12)
    assert found.support == {"supported": 1, "unsupported": 2, "unresolved": 1, "missing": 1}
    assert (found.prompt_tokens, found.kept, found.messages, found.families) == (500, 45, 90, 1)


def test_a_null_that_the_text_supports_is_supported_and_still_not_right() -> None:
    each = outcome(State(None, "west", "one night"), visible=State(None, "west", "one night"))
    assert support_of(each) == "supported"
    assert tallies([each])[0].correct == 0


def test_replies_that_never_come_are_missing_and_only_widen_the_range() -> None:
    whole = {(each.arm, each.variant): each for each in tallies(outcomes_of(17, 2))}
    holed = outcomes_of(17, 2, reader=Reader(failing=frozenset(range(0, 160, 7))))
    for each in tallies(holed):
        full = whole[each.arm, each.variant]
        assert each.n == full.n
        assert each.sufficient == full.sufficient
        assert each.correct <= full.correct <= each.correct + each.missing
    assert sum(each.missing for each in tallies(holed)) == len(range(0, 160, 7))


def test_the_reader_without_a_model_is_right_exactly_where_the_text_suffices() -> None:
    for each in tallies(outcomes_of(17, 4)):
        assert each.correct == each.sufficient
        assert each.support["unsupported"] == 0


def test_families_are_compared_by_their_right_states() -> None:
    right, wrong = State("tram", "west", "one night"), State("taxi", "west", "one night")
    outcomes = [
        *(outcome(right, "a", 0), outcome(right, "a", 0), outcome(right, "b", 0), outcome(None, "b", 0)),
        *(outcome(wrong, "a", 1), outcome(right, "b", 1)),
        *(outcome(wrong, "a", 2), outcome(None, "b", 2)),
    ]
    direct, reference = contest(outcomes, "a", "b")
    assert (direct.more, direct.equal, direct.fewer) == (0, 0, 0)
    assert (reference.more, reference.equal, reference.fewer) == (1, 1, 1)
