"""Threads that tempt: something close to what the question asks is told, the thing itself never is."""

from memgauge.datasets.synthetic import events, wording_events
from memgauge.datasets.synthetic.single import aside, fresh_key, user_fact
from memgauge.datasets.synthetic.threads import Kind, Scene, Thread
from memgauge.datasets.synthetic.updates import changed_value
from memgauge.datasets.synthetic.wording_changing import CHANGING
from memgauge.datasets.synthetic.wording_lasting import LASTING


def someone_elses(scene: Scene) -> Thread:
    """Only another person's value is told; the user's is asked. The trap is that value."""
    updating = scene.draws.chance(40)
    table = CHANGING if updating else LASTING
    start = scene.draws.below(len(table))
    attribute, key = fresh_key(scene, table[start:] + table[:start])
    told = aside(scene, attribute.others, key, attribute.values)
    question = scene.say(attribute.asked, k=key)
    kind = "knowledge-update" if updating else "single-session-user"
    return Thread(attribute.name, (told,), question, kind, (), (), trap=told.value)


def sibling_key(scene: Scene) -> Thread:
    """The user tells about one thing and is asked about another of its sort; the told value is the trap."""
    near = user_fact(scene) if scene.draws.chance(60) else changed_value(scene)
    table = next(row for row in LASTING + CHANGING if row.name == near.kind)
    _, key = fresh_key(scene, (table,))
    question = scene.say(table.asked, k=key)
    return Thread(near.kind, near.statements, question, near.type, (), (), trap=near.statements[-1].value)


def missing_event(scene: Scene) -> Thread:
    """One of the two events whose distance is asked was never told."""
    near = events.one_event(scene)
    told = near.statements[0].key
    never = scene.fresh("event", tuple(events.ROWS))
    nouns = scene.draws.several((told, never), 2)
    question = scene.say(wording_events.EVENT_BETWEEN, a=nouns[0], b=nouns[1])
    return Thread("two_events", near.statements, question, events.TYPE, (), ())


ABSENT = (Kind((1,), someone_elses), Kind((1,), sibling_key), Kind((1,), missing_event))
