"""Wording of facts whose value changes: first tellings, later tellings, questions for the latest."""

from memgauge.datasets.synthetic.vocabulary import CLOCKS, MODELS, PLACES, PRICES, SURNAMES, WEEKDAYS, words
from memgauge.datasets.synthetic.wording_lasting import Attribute

CHANGING = (
    Attribute(
        "weekday",
        words(
            """choir practice, piano lesson, book club, yoga class, board-game night, swimming lesson,
            chess evening"""
        ),
        WEEKDAYS,
        (
            "My {k} is on {v} evenings.",
            "I have {k} every {v}, so that evening is taken.",
            "{v} is the day of my {k}.",
        ),
        ("For {p}, {k} is always on a {v}.", "{p} goes to a {k} on {v}s."),
        ("On which day of the week is my {k}?", "What day do I have {k} now?"),
        (
            "They moved my {k}; it's on {v} from now on.",
            "My {k} switched to {v}, which suits me better.",
            "New schedule: {k} happens every {v} now.",
        ),
    ),
    Attribute(
        "keeping",
        words(
            """spare key, passport, sewing kit, toolbox, camera charger, first-aid kit, sketchbook, birth
            certificate"""
        ),
        PLACES,
        ("I keep my {k} in {v}.", "The {k} lives in {v}, don't ask why.", "I put the {k} away in {v}."),
        ("{p} hides the {k} in {v}.", "{p} once left a {k} in {v} for a year."),
        (
            "Where do I keep my {k}?",
            "Where should I look for my {k}?",
            "What is the current place of my {k}?",
        ),
        (
            "I've moved the {k} to {v}.",
            "The {k} has a new home: {v}.",
            "I got nervous about the {k}, so it went into {v} instead.",
        ),
    ),
    Attribute(
        "model",
        words("""phone, laptop, headset, bicycle, camera, vacuum cleaner, e-reader, smartwatch, printer"""),
        MODELS,
        ("My {k} is a {v}.", "I use a {v} as my {k}.", "For the record, the {k} I have is the {v}."),
        ("{p} owns a {v} and says no other {k} comes close.", "{p} bought a {v} as a {k}."),
        ("Which {k} do I have?", "What model is my {k} these days?", "What is my current {k}?"),
        (
            "I replaced my {k} and went for the {v}.",
            "The old {k} died, so I have a {v} now.",
            "Upgrade day: my {k} is now the {v}.",
        ),
    ),
    Attribute(
        "fee",
        words(
            """parking permit, phone bill, gym membership, internet bill, studio fee,
            insurance premium"""
        ),
        PRICES,
        ("My {k} is {v} a month.", "I pay {v} every month for the {k}.", "The {k} comes to {v} monthly."),
        ("{p} pays {v} for the {k}.", "{p} complained that the {k} is {v} over there."),
        ("How much is my {k} per month?", "What do I pay monthly for the {k}?"),
        (
            "They changed my {k}; it's {v} now.",
            "I renegotiated the {k} and got {v}.",
            "Starting this month the {k} is {v}.",
        ),
    ),
    Attribute(
        "collection",
        words(
            """vinyl records, postcards, old coins, fridge magnets, enamel pins, cookbooks, board games,
            comic books"""
        ),
        tuple(str(number) for number in range(21, 190, 3)),
        ("I own {v} {k} by now.", "I counted my {k}: {v}.", "There are {v} {k} on my shelves."),
        ("{p} has {v} {k}, all catalogued.", "{p} inherited {v} {k}."),
        ("How many {k} do I have?", "What is the size of my collection of {k}?"),
        (
            "My collection of {k} is up to {v}.",
            "After the flea market I have {v} {k}.",
            "Recount: {v} {k} in total now.",
        ),
        order=1,
    ),
    Attribute(
        "expert",
        words(
            """dentist, landlord, accountant, physiotherapist, piano teacher, manager, hairdresser,
            optician, violin teacher"""
        ),
        SURNAMES,
        (
            "My {k} is called {v} and is wonderfully patient.",
            "I have {v} as my {k}.",
            "{v}, my {k}, cracked a joke today.",
        ),
        ("{p} recommends {v} as a {k}.", "{p} goes to a {k} named {v}."),
        ("Who is my {k}?", "What is the name of my {k} now?"),
        (
            "I changed to a new {k}, {v}.",
            "My old {k} retired and {v} took over.",
            "{v} is my {k} from now on.",
        ),
    ),
    Attribute(
        "clock",
        words(
            """weekday alarm, morning train, sourdough timer, weekend alarm, dog walk, meditation
            reminder"""
        ),
        CLOCKS,
        ("My {k} is set for {v}.", "{v} is the time of my {k}.", "I have the {k} at {v} on the dot."),
        ("{p} has the {k} at {v}, poor soul.", "For {p} the {k} is at {v}."),
        ("What time is my {k}?", "At what time do I have the {k} now?"),
        ("I changed the {k} to {v}.", "The {k} is at {v} from now on.", "I shifted my {k} to {v}."),
    ),
    Attribute(
        "record",
        words("""5K, 10K, road race, mile, parkrun, hill loop, open-water kilometre, indoor rowing test"""),
        tuple(f"{minute}:{second:02d}" for minute in (24, 26, 27, 29, 31, 33) for second in (4, 11, 18, 32, 47, 53)),
        (
            "My best time for the {k} is {v}.",
            "I clocked {v} in the {k}, a personal best.",
            "{v} is my record for the {k}.",
        ),
        ("{p} did the {k} in {v}.", "{p} is aiming at {v} for the {k}."),
        ("What is my fastest time in the {k}?", "How quick am I in the {k} at my very best?"),
        (
            "New personal best in the {k}: {v}!",
            "I beat my old time in the {k}; it's {v} now.",
            "The {k} went better than ever, {v}.",
        ),
        order=-1,
    ),
)
