"""Threads that no single session answers: counts, lists, sums, comparisons, and facts in two steps."""

from memgauge.datasets.synthetic import wording_events as e
from memgauge.datasets.synthetic.spoken_dates import WORDS
from memgauge.datasets.synthetic.threads import Kind, Scene, Statement, Thread
from memgauge.datasets.synthetic.vocabulary import CITIES, FIRST_NAMES, JOBS

TYPE = "multi-session"


def tally(scene: Scene) -> Thread:
    """Things of one category told one at a time, asked as a number or as a list.

    One that came to nothing and one of another person are told in asides and do not count.
    """
    category = scene.fresh("tally", tuple(e.TALLIES))
    items, told, nearly, others, verb = e.TALLIES[category]
    chosen = scene.draws.several(items, len(scene.days) + 2)
    counted, missed, foreign = chosen[:-2], chosen[-2], chosen[-1]
    statements = tuple(Statement(scene.say(told, i=item), category, item) for item in counted)
    person = scene.draws.pick(scene.persona.cast)
    asides = (
        Statement(scene.say((nearly,), i=missed), category, missed, owner="nobody"),
        Statement(scene.say((others,), p=person, i=foreign), category, foreign, owner=person),
    )
    if scene.draws.chance(60):
        question = scene.say(e.TALLY_COUNT, c=category, v=verb)
        golds: tuple[str, ...] = (str(len(counted)), WORDS[len(counted)])
    else:
        question = scene.say(e.TALLY_LIST, c=category, v=verb)
        golds = (_join(counted), ", ".join(counted))
    return Thread("tally", statements, question, TYPE, golds, tuple(range(len(statements))), asides)


def _join(items: list[str]) -> str:
    return ", ".join(items[:-1]) + " and " + items[-1]


def spending(scene: Scene) -> Thread:
    """Purchases of one category with prices, asked as a sum or (two of them) as a comparison."""
    category = scene.fresh("spending", tuple(e.SPENDINGS))
    items = scene.draws.several(e.SPENDINGS[category], len(scene.days))
    amounts = scene.draws.several(range(11, 96), len(items) + 1)
    statements = tuple(
        Statement(scene.say(e.SPENDING_TOLD, i=item, v=f"${amount}", c=category), item, f"${amount}")
        for item, amount in zip(items, amounts[:-1], strict=True)
    )
    person = scene.draws.pick(scene.persona.cast)
    foreign = f"${amounts[-1]}"
    said = scene.say(e.SPENDING_OTHERS, p=person, v=foreign, c=category)
    asides = (Statement(said, category, foreign, owner=person),)
    if len(items) == 2 and scene.draws.chance(60):
        question = scene.say(e.SPENDING_MORE, a=items[0], b=items[1])
        golds: tuple[str, ...] = (items[0] if amounts[0] > amounts[1] else items[1],)
    else:
        total = sum(amounts[:-1])
        question = scene.say(e.SPENDING_TOTAL, c=category)
        golds = (f"${total}", f"{total} dollars")
    return Thread("spending", statements, question, TYPE, golds, tuple(range(len(items))), asides)


def two_steps(scene: Scene) -> Thread:
    """Who somebody is, and where that person lives or works, in different sessions."""
    role = scene.fresh("role", e.ROLES)
    name = scene.fresh("name", tuple(name for name in FIRST_NAMES[1::2] if name not in scene.persona.names))
    home = scene.draws.chance(50)
    told, asked, pool = (e.ROLE_HOME, e.ROLE_HOME_ASKED, CITIES) if home else (e.ROLE_WORK, e.ROLE_WORK_ASKED, JOBS)
    value = scene.draws.pick(pool)
    statements = (
        Statement(scene.say(e.ROLE_TOLD, k=role, n=name), role, name),
        Statement(scene.say(told, n=name, v=value), name, value, owner=name),
    )
    return Thread("two_steps", statements, scene.say(asked, k=role), TYPE, (value,), (0, 1))


TALLIES = (Kind((2, 3, 4), tally), Kind((2, 3), spending), Kind((2,), two_steps))
