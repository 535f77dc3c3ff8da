"""The people of a history: a persona is what the histories of one source group share."""

from dataclasses import dataclass

from memgauge.datasets.synthetic.draws import Draws
from memgauge.datasets.synthetic.vocabulary import CITIES, FIRST_NAMES, TIES

CAST = 7


@dataclass(frozen=True, slots=True)
class Persona:
    """The user's home town, the people the user talks about ("my friend Dana") and favourite topics."""

    city: str
    cast: tuple[str, ...]
    names: tuple[str, ...]
    topics: tuple[int, ...]


def make_persona(draws: Draws, topics: int) -> Persona:
    """A persona whose people have distinct names and ties; it favours half of `topics` topics."""
    names = draws.several(FIRST_NAMES, CAST)
    ties = draws.several(TIES, CAST)
    cast = tuple(f"my {tie} {name}" for tie, name in zip(ties, names, strict=True))
    favourites = draws.several(range(topics), (topics + 1) // 2)
    return Persona(draws.pick(CITIES), cast, tuple(names), tuple(favourites))
