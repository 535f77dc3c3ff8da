"""Retention conversations: what the design promises for any seed, and three checks that can each refuse."""

from collections import Counter
from dataclasses import replace

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgauge.datasets.retention.backward import look_back
from memgauge.datasets.retention.events import Event
from memgauge.datasets.retention.families import draw_family
from memgauge.datasets.retention.grammar import read_back
from memgauge.datasets.retention.replay import replay
from memgauge.datasets.retention.stimuli import Stimulus, check_stimulus, make_stimuli
from memgauge.datasets.retention.wording import WORDS
from memgauge.errors import InputError
from memgauge.tasks.track_state import SLOTS, State

SEEDS = st.integers(0, 2**32)


def test_sixteen_families_make_128_stimuli_of_every_kind_alike() -> None:
    stimuli = make_stimuli(17)
    assert len(stimuli) == len({each.id for each in stimuli}) == 128
    kinds = Counter((each.vocabulary, each.wrapper, each.variant) for each in stimuli)
    assert len(kinds) == 8
    assert set(kinds.values()) == {16}


@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_a_family_has_the_papers_shape(seed: int) -> None:
    family = draw_family(seed, 3)
    kinds = [step.kind for step in family.steps]
    assert kinds[:3] == ["assign"] * 3
    assert {step.slot for step in family.steps[:3]} == set(SLOTS)
    assert 6 <= family.offered - 3 <= 18
    assert set(kinds[3 : family.offered]) <= {"update", "offer"}
    offer, accepted = family.steps[family.offered], family.steps[family.accepted]
    assert (offer.kind, accepted.kind, offer.slot, accepted.slot) == ("offer", "accept", "item", "item")
    assert offer.number == accepted.number
    assert 3 <= len(kinds[family.accepted + 1 :]) <= 7
    assert set(kinds[family.accepted + 1 :]) == {"offer"}
    assert list(family.minutes) == sorted(set(family.minutes))


@given(SEEDS)
@settings(max_examples=20, deadline=None)
def test_variants_differ_in_the_acceptance_alone_and_wrappers_share_sentences(seed: int) -> None:
    stimuli = {each.id: each for each in make_stimuli(seed, families=2)}
    for each in stimuli.values():
        twin = stimuli[each.id.replace("reference", "direct")]
        differing = [place for place in range(len(each.lines)) if each.lines[place] != twin.lines[place]]
        assert differing == ([] if each is twin else [each.offered + 1])
        assert each.target == twin.target
        other = stimuli[each.id.replace("clock", "elapsed")]
        assert [line.split(": ", 1)[1] for line in each.lines] == [line.split(": ", 1)[1] for line in other.lines]


@given(SEEDS)
@settings(max_examples=20, deadline=None)
def test_replay_and_look_back_agree_on_any_selection_of_events(seed: int) -> None:
    for each in make_stimuli(seed, families=1):
        for start in range(len(each.events)):
            for kept in (each.events[start:], each.events[:start], each.events[start::2]):
                assert replay(kept).state == look_back(kept)


@given(SEEDS)
@settings(max_examples=20, deadline=None)
def test_equal_numbers_are_equal_values_in_both_vocabularies(seed: int) -> None:
    def pattern(stimulus: Stimulus) -> list[int]:
        values = [(event.slot, event.value) for event in stimulus.events]
        return [values.index(value) for value in values]

    travel, reservation = (make_stimuli(seed, families=1)[place] for place in (0, 4))
    assert (travel.vocabulary, reservation.vocabulary) == ("travel", "reservation")
    assert pattern(travel) == pattern(reservation)


def test_without_the_acceptance_the_target_would_be_another() -> None:
    for each in make_stimuli(17, families=16):
        rest = [event for place, event in enumerate(each.events) if place != each.offered + 1]
        assert replay(rest).state.item != each.target.item


def test_values_of_one_vocabulary_are_all_different() -> None:
    for slots in WORDS.values():
        words = [word for values in slots.values() for word in values]
        assert len(set(words)) == len(words) == 24


A_OFFER = Event("e1", "offer", "item", "tram")


@pytest.mark.parametrize(
    ("events", "item", "unresolved"),
    [
        ([A_OFFER, Event("e2", "accept", "item", offer="e1")], "tram", ()),
        ([Event("e2", "accept", "item", offer="e1"), A_OFFER], None, ("item",)),  # an offer made later is no offer
        ([A_OFFER, Event("e2", "accept", "place", offer="e1")], None, ("place",)),  # another slot's offer
        ([A_OFFER], None, ()),  # nobody accepts
        ([Event("e0", "assign", "item", "taxi"), Event("e2", "accept", "item", offer="e1")], None, ("item",)),
        ([Event("e2", "accept", "item", offer="e1"), Event("e3", "update", "item", "taxi")], "taxi", ()),
        ([Event("e2", "accept", "item", offer="e1"), Event("e3", "offer", "item", "tram")], None, ("item",)),
    ],
)
def test_an_acceptance_counts_only_with_its_own_earlier_offer(
    events: list[Event], item: str | None, unresolved: tuple[str, ...]
) -> None:
    found = replay(events)
    assert (found.state.item, found.unresolved) == (item, unresolved)
    assert look_back(events) == found.state


def test_a_seed_gives_the_same_stimuli_and_another_seed_others() -> None:
    first, again, other = make_stimuli(17, 2), make_stimuli(17, 2), make_stimuli(18, 2)
    assert msgspec.json.encode(first) == msgspec.json.encode(again) != msgspec.json.encode(other)
    assert make_stimuli(17, 16)[: len(first)] == first  # more families leave the first ones as they are


def test_stimuli_survive_their_file() -> None:
    stimuli = make_stimuli(17, 1)
    assert msgspec.json.decode(msgspec.json.encode(stimuli), type=list[Stimulus]) == stimuli


def test_each_check_refuses_what_it_is_for() -> None:
    stimulus = make_stimuli(17, 1)[1]
    check_stimulus(stimulus)
    with pytest.raises(InputError, match="target"):
        check_stimulus(replace(stimulus, target=replace(stimulus.target, place="nowhere")))
    with pytest.raises(InputError, match="read back"):
        check_stimulus(replace(stimulus, events=stimulus.events[:-1]))
    with pytest.raises(InputError, match="no line"):
        check_stimulus(replace(stimulus, lines=("e1: hello", *stimulus.lines[1:])))
    lost = tuple(event for event in stimulus.events if event.slot != "place")
    with pytest.raises(InputError):
        check_stimulus(replace(stimulus, events=lost, target=State("tram", None, None)))


@pytest.mark.parametrize(
    "line",
    [
        "[Mon 08:00] e2 user: For the trip, set item to tram.",  # not the first number
        "[Mon 08:00] e1 user: For the trip, set item to zeppelin.",  # no such value
        "[Mon 08:00] e1 user: For the trip, set item to west.",  # a value of another slot
        "[Mon 08:00] e1 assistant: For the trip, set item to tram.",  # not for the assistant to say
        "[Mon 08:00] e1 user: For the booking, set item to tram.",  # the other vocabulary
        "[Mon 24:00] e1 user: For the trip, set item to tram.",
        "e1 (user, 0 min in): For the trip, set item to tram.",  # the other wrapper
        "[Mon 08:00] e1 user: For the trip, set item to tram",
    ],
)
def test_the_grammar_refuses_what_is_nearly_a_line(line: str) -> None:
    with pytest.raises(InputError, match="make the stimuli again"):
        read_back([line], "travel", "clock")


def test_the_grammar_wants_time_to_pass() -> None:
    lines = [f"e{n} (user, 5 min in): For the trip, set item to tram." for n in (1, 2)]
    assert len(read_back(lines[:1], "travel", "elapsed")) == 1
    with pytest.raises(InputError):
        read_back(lines, "travel", "elapsed")


def test_no_family_is_an_error() -> None:
    with pytest.raises(InputError, match="families is 0"):
        make_stimuli(17, 0)
