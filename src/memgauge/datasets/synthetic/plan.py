"""Which threads a history gets and in which exchanges their statements are told."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memgauge.datasets.synthetic.absent import ABSENT
from memgauge.datasets.synthetic.draws import Draws
from memgauge.datasets.synthetic.events import EVENTS
from memgauge.datasets.synthetic.options import SyntheticOptions
from memgauge.datasets.synthetic.people import Persona
from memgauge.datasets.synthetic.single import ASSISTANT_FACTS, PREFERENCE_FACTS, USER_FACTS
from memgauge.datasets.synthetic.tallies import TALLIES
from memgauge.datasets.synthetic.threads import Exhausted, Kind, Scene, Statement, Thread
from memgauge.datasets.synthetic.updates import UPDATES
from memgauge.errors import InputError

CATEGORIES: tuple[tuple[Kind, ...], ...] = (
    USER_FACTS,
    TALLIES,
    UPDATES,
    EVENTS,
    ASSISTANT_FACTS,
    PREFERENCE_FACTS,
    ABSENT,
)
TRIES = 30


@dataclass(frozen=True, slots=True)
class Placed:
    """A thread and the exchange number (session * exchanges + exchange) of each of its statements."""

    thread: Thread
    slots: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """Threads in question order and, by exchange number, what has to be told there."""

    threads: tuple[Placed, ...]
    told: dict[int, Statement]
    kinds: dict[int, str]


class Slots:
    """Free exchanges of a history; taking some costs the same however long the history is."""

    def __init__(self, draws: Draws, sessions: int, exchanges: int) -> None:
        self._draws = draws
        self._exchanges = exchanges
        self._free = list(range(sessions * exchanges))

    def __len__(self) -> int:
        return len(self._free)

    def take(self, count: int) -> tuple[int, ...]:
        """`count` free exchanges in history order, in different sessions as long as there are enough."""
        for _ in range(TRIES):
            positions = [self._draws.below(len(self._free)) for _ in range(count)]
            if len({self._free[position] // self._exchanges for position in positions}) == count:
                break
        else:
            positions = self._spread(count)
        taken = tuple(sorted(self._free[position] for position in positions))
        for position in sorted(positions, reverse=True):
            self._free[position] = self._free[-1]
            self._free.pop()
        return taken

    def give_back(self, taken: Sequence[int]) -> None:
        """Undo a `take`."""
        self._free.extend(taken)

    def _spread(self, count: int) -> list[int]:
        """The first free exchange of as many sessions as possible, then any others."""
        order = sorted(range(len(self._free)), key=self._free.__getitem__)
        firsts: dict[int, int] = {}
        for position in order:
            firsts.setdefault(self._free[position] // self._exchanges, position)
        chosen = list(firsts.values())[:count]
        return chosen + [position for position in order if position not in chosen][: count - len(chosen)]


def plan_history(
    options: SyntheticOptions,
    number: int,
    draws: Draws,
    persona: Persona,
    moments: Sequence[datetime],
    asked: datetime,
) -> Plan:
    """Threads for every question, categories in turn, starting elsewhere in every history."""
    exchanges = options.turns_per_session // 2
    slots = Slots(draws, len(moments), exchanges)
    scene = Scene(draws, persona, (), asked.date(), set())
    threads = []
    told: dict[int, Statement] = {}
    kinds: dict[int, str] = {}
    count = options.questions_per_history
    for question in range(count):
        category = CATEGORIES[(number * count + question) % len(CATEGORIES)]
        placed = _place(scene, category, slots, moments, exchanges)
        threads.append(placed)
        told.update(zip(placed.slots, placed.thread.statements, strict=True))
        kinds.update(dict.fromkeys(placed.slots, placed.thread.kind))
    for placed in threads:  # distractors only fill what the questions left free
        for aside in placed.thread.asides[: len(slots)]:
            (slot,) = slots.take(1)
            told[slot] = aside
            kinds[slot] = placed.thread.kind
    return Plan(tuple(threads), told, kinds)


def _place(
    scene: Scene, category: tuple[Kind, ...], slots: Slots, moments: Sequence[datetime], exchanges: int
) -> Placed:
    """Build one thread of the category; a kind whose vocabulary is used up gives way to the next."""
    start = scene.draws.below(len(category))
    for step in range(len(category)):
        kind = category[(start + step) % len(category)]
        taken = slots.take(scene.draws.pick(kind.sizes))
        scene.days = tuple(moments[slot // exchanges].date() for slot in taken)
        try:
            return Placed(kind.build(scene), taken)
        except Exhausted:
            slots.give_back(taken)
    raise InputError("questions_per_history is too large for the vocabulary of the synthetic benchmark; ask fewer")
