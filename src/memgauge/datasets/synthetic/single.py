"""Threads told in one exchange: facts of the user, advice of the assistant, preferences."""

from memgauge.datasets.synthetic import wording_habits as w
from memgauge.datasets.synthetic.threads import Kind, Scene, Statement, Thread
from memgauge.datasets.synthetic.vocabulary import CITIES, MINUTES, VENUES
from memgauge.datasets.synthetic.wording_lasting import LASTING, Attribute


def aside(scene: Scene, templates: tuple[str, ...], key: str, pool: tuple[str, ...], *taken: str) -> Statement:
    """The same told of another person with a value other than `taken`: a distractor."""
    person = scene.draws.pick(scene.persona.cast)
    other = different(scene, pool, *taken)
    return Statement(scene.say(templates, p=person, k=key, v=other), key, other, owner=person)


def different(scene: Scene, pool: tuple[str, ...], *taken: str) -> str:
    """A value of the pool that is none of `taken` and is no part of one, nor the reverse."""
    value = scene.draws.pick(pool)
    while any(value in one or one in value for one in taken):
        value = scene.draws.pick(pool)
    return value


def user_fact(scene: Scene) -> Thread:
    """An attribute with one value for ever; three times in four somebody else has one too."""
    start = scene.draws.below(len(LASTING))
    attribute, key = fresh_key(scene, LASTING[start:] + LASTING[:start])
    value = scene.draws.pick(attribute.values)
    told = Statement(scene.say(attribute.told, k=key, v=value), key, value)
    asides = (aside(scene, attribute.others, key, attribute.values, value),) if scene.draws.chance(75) else ()
    question = scene.say(attribute.asked, k=key)
    return Thread(attribute.name, (told,), question, "single-session-user", (value,), (0,), asides)


def fresh_key(scene: Scene, attributes: tuple[Attribute, ...]) -> tuple[Attribute, str]:
    """The first attribute with an unused key, and that key; a key names one thing in the whole history."""
    for attribute in attributes[:-1]:
        if any(f"key:{key}" not in scene.used for key in attribute.keys):
            return attribute, scene.fresh("key", attribute.keys)
    return attributes[-1], scene.fresh("key", attributes[-1].keys)


def preference(scene: Scene) -> Thread:
    """A taste; asked for as a recommendation."""
    key = scene.fresh("preference", tuple(w.PREFERENCES))
    values = w.PREFERENCES[key]
    value = scene.draws.pick(values)
    told = Statement(scene.say(w.PREFERENCE_TOLD, k=key, v=value), key, value)
    asides = (aside(scene, w.PREFERENCE_OTHERS, key, values, value),) if scene.draws.chance(60) else ()
    question = scene.say(w.PREFERENCE_ASKED, k=key)
    return Thread("preference", (told,), question, "single-session-preference", (value,), (0,), asides)


def _advice(scene: Scene, kind: str, key: str, value: str, request: str, reply: str, question: str) -> Thread:
    told = Statement(request, key, value, reply=reply, speaker="assistant", owner="assistant")
    return Thread(kind, (told,), question, "single-session-assistant", (value,), (0,))


def venue(scene: Scene) -> Thread:
    """A place the assistant recommends, next to one it mentions only in passing."""
    key = scene.fresh("venue", w.VENUE_KINDS)
    city = scene.draws.pick(CITIES)
    value = scene.draws.pick(VENUES)
    second = different(scene, VENUES, value)
    words = {"k": key, "c": city, "v": value, "w": second}
    said, reply, asked = (scene.say(table, **words) for table in (w.VENUE_REQUEST, w.VENUE_REPLY, w.VENUE_ASKED))
    return _advice(scene, "venue", f"{key} in {city}", value, said, reply, asked)


def dish(scene: Scene) -> Thread:
    """A cooking time the assistant gives."""
    key = scene.fresh("dish", w.DISHES)
    value = scene.draws.pick(MINUTES)
    said, reply, asked = (scene.say(table, k=key, v=value) for table in (w.DISH_REQUEST, w.DISH_REPLY, w.DISH_ASKED))
    return _advice(scene, "dish", key, value, said, reply, asked)


def listing(scene: Scene) -> Thread:
    """A numbered list by the assistant; one entry is asked for by its place."""
    key = scene.fresh("list", tuple(w.LISTS))
    items = scene.draws.several(w.LISTS[key], 5)
    place = scene.draws.below(5)
    numbered = ", ".join(f"({number}) {item}" for number, item in enumerate(items, 1))
    reply = scene.say(w.LIST_REPLY, k=key, v=numbered)
    asked = scene.say(w.LIST_ASKED, k=key, n=str(place + 1), o=w.ORDINALS[place])
    return _advice(scene, "list", key, items[place], scene.say(w.LIST_REQUEST, k=key), reply, asked)


USER_FACTS = (Kind((1,), user_fact),)
PREFERENCE_FACTS = (Kind((1,), preference),)
ASSISTANT_FACTS = (Kind((1,), venue), Kind((1,), dish), Kind((1,), listing))
