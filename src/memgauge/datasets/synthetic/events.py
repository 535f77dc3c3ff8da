"""Threads about when something happened, how long ago, in what order and how far apart."""

from datetime import date

from memgauge.datasets.synthetic import wording_events as e
from memgauge.datasets.synthetic.spoken_dates import date_golds, days_golds, say_past
from memgauge.datasets.synthetic.threads import Kind, Scene, Statement, Thread

TYPE = "temporal-reasoning"
ROWS = {noun: (said, asked) for said, asked, noun in e.EVENTS}


def _happened(scene: Scene, today: date, other: date | None) -> tuple[Statement, date]:
    """One event told on `today` with a spoken day that differs from `other`."""
    noun = scene.fresh("event", tuple(ROWS))
    spoken, day = say_past(scene.draws, today)
    while day == other:
        spoken, day = say_past(scene.draws, today)
    capital = spoken[0].upper() + spoken[1:]
    said = scene.say(e.EVENT_TOLD, e=ROWS[noun][0], w=spoken, W=capital)
    return Statement(said, noun, day.isoformat()), day


def _others(scene: Scene, noun: str) -> tuple[Statement, ...]:
    if not scene.draws.chance(40):
        return ()
    person = scene.draws.pick(scene.persona.cast)
    said = scene.say(e.EVENT_OTHERS, p=person, e=ROWS[noun][0].replace(" my ", " the "))
    return (Statement(said, noun, "", owner=person),)


def one_event(scene: Scene) -> Thread:
    """The date of an event told with a spoken day, or its distance in days from the day of asking."""
    told, day = _happened(scene, scene.days[0], None)
    words = {"q": ROWS[told.key][1], "n": told.key}
    if scene.draws.chance(65):
        question, golds = scene.say(e.EVENT_DATE, **words), date_golds(day)
    else:
        question, golds = scene.say(e.EVENT_AGO, **words), days_golds((scene.asked - day).days)
    return Thread("event", (told,), question, TYPE, golds, (0,), _others(scene, told.key))


def two_events(scene: Scene) -> Thread:
    """The order of two events, or the days between them; the order of telling may be the other one."""
    first, early = _happened(scene, scene.days[0], None)
    second, late = _happened(scene, scene.days[1], early)
    nouns = scene.draws.several((first.key, second.key), 2)
    if scene.draws.chance(40):
        question = scene.say(e.EVENT_FIRST, a=nouns[0], b=nouns[1])
        golds: tuple[str, ...] = (first.key if early < late else second.key,)
    else:
        question = scene.say(e.EVENT_BETWEEN, a=nouns[0], b=nouns[1])
        golds = days_golds(abs((late - early).days))
    return Thread("two_events", (first, second), question, TYPE, golds, (0, 1), _others(scene, first.key))


EVENTS = (Kind((1,), one_event), Kind((2,), two_events))
