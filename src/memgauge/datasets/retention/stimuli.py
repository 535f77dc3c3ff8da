"""The stimuli of a seed: every family in both vocabularies, wrappers and variants, each target checked three ways."""

from dataclasses import dataclass

from memgauge.datasets.retention.backward import look_back
from memgauge.datasets.retention.events import Event
from memgauge.datasets.retention.families import Family, draw_family
from memgauge.datasets.retention.grammar import read_back
from memgauge.datasets.retention.replay import replay
from memgauge.datasets.retention.wording import (
    VARIANTS,
    VOCABULARIES,
    WRAPPERS,
    Variant,
    Vocabulary,
    Wrapper,
    events_of,
    line_of,
)
from memgauge.errors import InputError
from memgauge.tasks.track_state import State

FAMILIES = 16  # paper C


@dataclass(frozen=True, slots=True)
class Stimulus:
    """One conversation: its events with their lines, and the state that the whole of it settles.

    `offered` is the place of the offer that the reference variant accepts; a reader is shown lines only.
    """

    id: str
    family: int
    vocabulary: Vocabulary
    wrapper: Wrapper
    variant: Variant
    events: tuple[Event, ...]
    lines: tuple[str, ...]
    offered: int
    target: State


def make_stimuli(seed: int, families: int = FAMILIES) -> list[Stimulus]:
    """Eight stimuli a family, by family, vocabulary, wrapper and variant; paper C's 16 families give 128.

    Raises InputError when fewer than one family is asked for.
    """
    if families < 1:
        raise InputError(f"families is {families}; there must be at least 1")
    stimuli = [
        _stimulus(family, vocabulary, wrapper, variant)
        for family in (draw_family(seed, number) for number in range(families))
        for vocabulary in VOCABULARIES
        for wrapper in WRAPPERS
        for variant in VARIANTS
    ]
    for stimulus in stimuli:
        check_stimulus(stimulus)
    return stimuli


def check_stimulus(stimulus: Stimulus) -> None:
    """Raises InputError unless forward replay, backward checker and grammar all agree on events and target."""
    where = f"stimulus {stimulus.id}"
    if read_back(stimulus.lines, stimulus.vocabulary, stimulus.wrapper) != stimulus.events:
        raise InputError(f"{where}: its lines read back as other events; make the stimuli again")
    forward, backward = replay(stimulus.events), look_back(stimulus.events)
    if not forward.state == backward == stimulus.target or forward.unresolved:
        raise InputError(f"{where}: its target is {stimulus.target}, replayed {forward.state}, looked back {backward}")
    if None in (stimulus.target.item, stimulus.target.place, stimulus.target.duration):
        raise InputError(f"{where}: its whole history leaves a slot open; make the stimuli again")


def _stimulus(family: Family, vocabulary: Vocabulary, wrapper: Wrapper, variant: Variant) -> Stimulus:
    events = events_of(family, vocabulary, variant)
    lines = tuple(
        line_of(event, minute, vocabulary, wrapper) for event, minute in zip(events, family.minutes, strict=True)
    )
    name = f"{family.number:02}-{vocabulary}-{wrapper}-{variant}"
    target = replay(events).state
    return Stimulus(name, family.number, vocabulary, wrapper, variant, events, lines, family.offered, target)
