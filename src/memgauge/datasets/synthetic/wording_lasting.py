"""Wording of facts with one value for ever: how they are told, told of other people, and asked."""

from dataclasses import dataclass

from memgauge.datasets.synthetic.vocabulary import (
    BOOKS,
    CITIES,
    COLOURS,
    FIRST_NAMES,
    JOBS,
    MINUTES,
    PET_NAMES,
    PRICES,
    SHOPS,
    SUBJECTS,
    words,
)


@dataclass(frozen=True, slots=True)
class Attribute:
    """Keys that can have a value, and how it is told ({k}, {v}), told of a person {p}, changed, and asked.

    With `order` 1 a value changes only to one further on in `values`, with -1 only to an earlier one.
    """

    name: str
    keys: tuple[str, ...]
    values: tuple[str, ...]
    told: tuple[str, ...]
    others: tuple[str, ...]
    asked: tuple[str, ...]
    updates: tuple[str, ...] = ()
    order: int = 0


LASTING = (
    Attribute(
        "pet",
        words(
            """cat, rabbit, hamster, parrot, tortoise, gecko, ferret, guinea pig, budgie, hedgehog,
            canary, iguana"""
        ),
        PET_NAMES,
        (
            "After a week of arguing, the {k} is officially called {v}.",
            "{v} is the newest member of the household, a very shy {k}.",
            "I adopted a {k} and named it {v}.",
            "My {k} {v} has learned to open the bread bin, so that's life now.",
        ),
        (
            "{p} has a {k} too, a grumpy one that answers to {v}.",
            "{p} is minding a {k} named {v} this month.",
        ),
        ("What is the name of my {k}?", "What did I end up calling my {k}?", "Which name does my {k} have?"),
    ),
    Attribute(
        "price",
        words(
            """toaster, desk lamp, rain jacket, sleeping bag, blender, office chair, carry-on, yoga mat,
            coffee grinder, bookcase, headlamp, wall clock, wok, duvet"""
        ),
        PRICES,
        (
            "I finally bought the {k}; it set me back {v}.",
            "The new {k} cost me {v}, which still hurts a little.",
            "I paid {v} for the {k}, mostly because the old one fell apart.",
            "Treated myself: {v} for a decent {k}.",
        ),
        ("{p} got a {k} for {v} and won't stop talking about it.", "{p} paid {v} for a similar {k} online."),
        ("How much did I pay for the {k}?", "What was the price of my {k}?", "What did I spend on the {k}?"),
    ),
    Attribute(
        "shop",
        words(
            """wool scarf, cast-iron pan, fountain pen, leather satchel, telescope, tent, teapot, violin
            bow, globe, rug"""
        ),
        SHOPS,
        (
            "I found the {k} at {v}, way in the back of the store.",
            "{v} had exactly the {k} I was after, so I took it home.",
            "The {k} is from {v}, in case you wonder.",
        ),
        ("{p} ordered a {k} from {v} and it arrived broken.", "{p} says {v} is the place to go for a {k}."),
        ("Where did I get my {k}?", "Which store sold me the {k}?", "From which shop does my {k} come?"),
    ),
    Attribute(
        "loan",
        BOOKS,
        FIRST_NAMES[::2],
        (
            "I lent my copy of {k} to {v}, so I can't check the quote.",
            "{v} has borrowed {k} from me and is racing through it.",
            "My {k} is with {v} at the moment, the last person who asked to read it.",
        ),
        ("{p} passed a copy of {k} on to {v}.", "{p} gave {v} a signed copy of {k}."),
        ("Who did I lend {k} to?", "Where did my {k} go, who has it?", "To whom did I give {k} to read?"),
    ),
    Attribute(
        "work",
        words(
            """brother, sister, aunt, uncle, stepmother, nephew, niece, brother-in-law, sister-in-law,
            godfather"""
        ),
        JOBS,
        (
            "My {k} works as {v}, so dinner talk is never dull.",
            "I come from odd stock: my {k} is {v}.",
            "My {k} retrained and is now {v}.",
        ),
        ("{p} is thinking of becoming {v}, inspired by a {k}.", "The {k} of {p} is {v}."),
        (
            "What does my {k} do for a living?",
            "What is the profession of my {k}?",
            "What kind of job does my {k} have?",
        ),
    ),
    Attribute(
        "locker",
        words(
            """gym, swimming pool, climbing hall, ice rink, squash club, sauna, rowing club, ferry
            terminal"""
        ),
        tuple(f"locker {number}" for number in range(103, 398, 7)),
        (
            "At the {k} they gave me {v}, right by the door.",
            "My things are in {v} at the {k}, I should write that down.",
            "I always use {v} when I'm at the {k}.",
        ),
        ("{p} lost the key of {v} at the {k}.", "{p} has {v} at the {k}, next to the showers."),
        ("Which locker do I use at the {k}?", "Where at the {k} do I keep my things?"),
    ),
    Attribute(
        "course",
        words(
            """evening class, summer school, online course, weekend workshop, community college class,
            library seminar"""
        ),
        SUBJECTS,
        (
            "The {k} I signed up for is about {v}.",
            "I'm learning {v} at the {k}, and I'm terrible at it so far.",
            "I chose {v} for the {k} in the end.",
        ),
        ("{p} wants to try {v} at the {k}.", "{p} teaches {v} at a {k}."),
        ("What am I learning at the {k}?", "Which subject did I choose for the {k}?"),
    ),
    Attribute(
        "minutes",
        words(
            """train commute, school run, walk to the station, lake loop by bike, drive to my parents,
            ferry crossing"""
        ),
        MINUTES,
        (
            "Count {v} for the {k} if nothing goes wrong, at least for me.",
            "I timed the {k} and it was {v}.",
            "I spend {v} on the {k}, so I hear a lot of radio.",
        ),
        ("{p} needs {v} for the {k}.", "For {p} the {k} is {v} on a good day."),
        ("How long does the {k} take me?", "How much time do I need for the {k}?"),
    ),
    Attribute(
        "colour",
        words("""bedroom, kitchen, hallway, bathroom, attic room, balcony door, garden fence, guest room"""),
        COLOURS,
        (
            "The {k} is {v} now, two coats and a sore arm later.",
            "I painted the {k} {v} and I love it.",
            "We settled on {v} for the {k}.",
        ),
        ("{p} painted a {k} {v} and regrets it.", "{p} is considering {v} for the {k}."),
        ("Which colour did I paint the {k}?", "What colour is my {k}?"),
    ),
    Attribute(
        "origin",
        words("""grandmother, grandfather, father-in-law, godmother, great-aunt, stepfather"""),
        CITIES,
        (
            "My {k} grew up in {v} and never lost the accent.",
            "My {k} was born in {v}, so we had those recipes at home.",
            "Half our family stories come from {v}, where my {k} was a child.",
        ),
        ("The {k} of {p} came from {v}.", "{p} has a {k} who was raised in {v}."),
        ("Where did my {k} grow up?", "Which city is my {k} from?"),
    ),
)
