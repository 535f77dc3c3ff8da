"""Threads whose latest telling counts: changed values, dropped or kept habits, moved appointments."""

from datetime import timedelta

from memgauge.datasets.synthetic import wording_events as e
from memgauge.datasets.synthetic import wording_habits as w
from memgauge.datasets.synthetic.single import aside, different, fresh_key
from memgauge.datasets.synthetic.spoken_dates import date_golds, say_future
from memgauge.datasets.synthetic.threads import Kind, Scene, Statement, Thread
from memgauge.datasets.synthetic.wording_changing import CHANGING

TYPE = "knowledge-update"


def changed_value(scene: Scene) -> Thread:
    """A value told once and replaced once or twice; all tellings are evidence, the last one is gold."""
    start = scene.draws.below(len(CHANGING))
    attribute, key = fresh_key(scene, CHANGING[start:] + CHANGING[:start])
    values: list[str] = []
    for _ in scene.days:
        values.append(different(scene, attribute.values, *values))
    if attribute.order:
        values.sort(key=attribute.values.index, reverse=attribute.order < 0)
    tellings = [attribute.told] + [attribute.updates] * (len(values) - 1)
    statements = tuple(
        Statement(scene.say(templates, k=key, v=value), key, value)
        for templates, value in zip(tellings, values, strict=True)
    )
    asides = (aside(scene, attribute.others, key, attribute.values, values[-1]),) if scene.draws.chance(50) else ()
    question = scene.say(attribute.asked, k=key)
    evidence = tuple(range(len(statements)))
    return Thread(attribute.name, statements, question, TYPE, (values[-1],), evidence, asides, updates=True)


def habit(scene: Scene) -> Thread:
    """A habit that ends (gold no) or is confirmed (gold yes), equally often."""
    key = scene.fresh("habit", tuple(row[0] for row in w.HABITS))
    said, asked = next(row[1:] for row in w.HABITS if row[0] == key)
    ended = scene.draws.chance(50)
    later = w.HABIT_ENDED if ended else w.HABIT_KEPT
    first = Statement(scene.say(w.HABIT_TOLD, h=said), key, "yes")
    second = Statement(scene.say(later, h=said), key, "no" if ended else "yes")
    person = scene.draws.pick(scene.persona.cast)
    asides = (Statement(scene.say(w.HABIT_OTHERS, p=person, h=said), key, "", owner=person),)
    question = scene.say(w.HABIT_ASKED, q=asked)
    golds = ("No",) if ended else ("Yes",)
    return Thread("habit", (first, second), question, TYPE, golds, (0, 1), asides, updates=True)


def appointment(scene: Scene) -> Thread:
    """An appointment told with a relative day, then moved; the gold is the date of the last telling."""
    key = scene.fresh("appointment", e.APPOINTMENTS)
    first, second = scene.days
    planned, old = say_future(scene.draws, first)
    if old <= second:  # it would be over before it is moved
        old = second + timedelta(days=scene.draws.between(2, 20))
        planned = f"on {old.day} {old:%B} {old.year}"
    moved, new = say_future(scene.draws, second)
    while new == old:
        moved, new = say_future(scene.draws, second)
    statements = (
        Statement(scene.say(e.APPOINTMENT_TOLD, k=key, w=planned), key, old.isoformat()),
        Statement(scene.say(e.APPOINTMENT_MOVED, k=key, w=moved), key, new.isoformat()),
    )
    person = scene.draws.pick(scene.persona.cast)
    asides = (Statement(scene.say(e.APPOINTMENT_OTHERS, p=person, k=key), key, "", owner=person),)
    question = scene.say(e.APPOINTMENT_ASKED, k=key)
    return Thread("appointment", statements, question, TYPE, date_golds(new), (0, 1), asides, updates=True)


UPDATES = (
    Kind((2, 2, 3), changed_value),
    Kind((2, 2, 3), changed_value),
    Kind((2,), habit),
    Kind((2,), appointment),
)
