"""Wording of dated events, appointments, things that add up over sessions, and people met in two steps."""

from memgauge.datasets.synthetic.vocabulary import words

# (what "I ..." in the past, what "did I ...", the event as a noun)
EVENTS = (
    ("ran the harbour half marathon", "run the harbour half marathon", "the harbour half marathon"),
    (
        "gave the talk at the housing conference",
        "speak at the housing conference",
        "the housing conference talk",
    ),
    ("had the boiler replaced", "get the boiler replaced", "the boiler replacement"),
    ("took the driving test", "sit the driving test", "the driving test"),
    ("finished the jigsaw of the moon", "complete the moon jigsaw", "the last piece of the moon jigsaw"),
    ("went to the lantern festival", "visit the lantern festival", "the lantern festival"),
    ("signed the lease for the studio", "sign the studio lease", "the signing of the studio lease"),
    ("had my wisdom tooth pulled", "lose my wisdom tooth", "the wisdom tooth extraction"),
    ("launched the newsletter", "send out the first newsletter", "the newsletter launch"),
    ("saw the touring circus", "watch the touring circus", "the circus visit"),
    ("opened the letter from the archive", "open the archive letter", "the opening of the archive letter"),
    ("climbed the old lighthouse", "go up the old lighthouse", "the lighthouse climb"),
    ("handed in my tax return", "submit my tax return", "the tax return"),
    ("planted the pear tree", "put the pear tree in the ground", "the planting of the pear tree"),
    ("got the flu shot", "get vaccinated against flu", "the flu shot"),
    ("hosted the housewarming", "hold the housewarming", "the housewarming"),
    ("repaired the garden gate", "fix the garden gate", "the garden gate repair"),
    (
        "met the new neighbours upstairs",
        "meet the upstairs neighbours",
        "the first meeting with the upstairs neighbours",
    ),
    ("baked the wedding cake", "bake the wedding cake", "the wedding cake baking"),
    ("went kayaking in the bay", "kayak in the bay", "the kayak trip in the bay"),
    ("submitted the grant proposal", "send in the grant proposal", "the grant proposal"),
    ("sold the old caravan", "part with the old caravan", "the sale of the caravan"),
    ("watched the eclipse from the roof", "see the eclipse", "the eclipse"),
    ("collected the restored cello", "pick up the restored cello", "the cello pick-up"),
    ("attended the ceramics fair", "go to the ceramics fair", "the ceramics fair"),
    (
        "started the internship at the observatory",
        "begin the observatory internship",
        "the start of the internship",
    ),
    ("quit the fantasy league", "leave the fantasy league", "the exit from the fantasy league"),
    ("had the piano tuned", "get the piano tuned", "the piano tuning"),
    ("sang in the cathedral", "sing in the cathedral", "the cathedral concert"),
    ("won the pub quiz", "win the pub quiz", "the pub quiz win"),
    ("scattered the wildflower seeds", "scatter the wildflower seeds", "the sowing of the wildflowers"),
    ("cleared out the cellar", "empty the cellar", "the cellar clear-out"),
    ("gave the eulogy for a mentor", "hold the eulogy", "the eulogy"),
    ("moved the beehives", "relocate the beehives", "the beehive move"),
    ("recorded the first podcast episode", "record the first podcast episode", "the first podcast recording"),
    ("joined the night hike", "take part in the night hike", "the night hike"),
)
EVENT_TOLD = ("{W} I {e}.", "I {e} {w}.", "I {e} {w}, and I'm still smiling.", "Guess what, {w} I {e}.")
EVENT_OTHERS = ("{p} {e} as well, ages ago.", "{p} never {e}, despite years of promises.")
EVENT_DATE = ("On what date did I {q}?", "When exactly did I {q}?", "What was the date of {n}?")
EVENT_AGO = ("How many days ago did I {q}?", "How long ago was {n}, in days?")
EVENT_BETWEEN = (
    "How many days lie between {a} and {b}?",
    "How many days passed between {a} and {b}?",
    "What is the number of days from {a} to {b}?",
)
EVENT_FIRST = ("Which came first, {a} or {b}?", "What happened earlier: {a} or {b}?")

APPOINTMENTS = words(
    """eye test, job interview, parent evening, car inspection, language exam, vet visit, bank meeting,
    dance recital, house viewing, blood test, notary meeting, sailing exam, chimney inspection, visa
    interview, hearing test"""
)
APPOINTMENT_TOLD = ("My {k} is {w}.", "I have the {k} {w}, so wish me luck.", "The {k} is coming up {w}.")
APPOINTMENT_MOVED = ("They rescheduled my {k}: it's {w} now.", "The {k} has been moved and takes place {w}.")
APPOINTMENT_OTHERS = ("{p} is dreading a {k} as well.", "{p} had to cancel a {k}.")
APPOINTMENT_ASKED = ("For what date is my {k} scheduled?", "When is my {k}?", "What is the date of the {k}?")

# category -> (items, "I ... {item}", "nearly ...", "{p} ... {item}", "... have I ...")
TALLIES = {
    "houseplants": (
        ("a monstera", "a snake plant", "a calathea", "a peace lily", "a jade plant", "a string of pearls"),
        (
            "I brought home {i} today.",
            "There's {i} on my windowsill since this week.",
            "I couldn't resist and got {i}.",
        ),
        "I almost got {i}, but left it in the store.",
        "{p} bought {i} and it is dying already.",
        "have I brought home",
    ),
    "museums": (
        (
            "the tram museum",
            "the maritime museum",
            "the museum of glass",
            "the clock museum",
            "the toy museum",
            "the salt museum",
        ),
        ("I visited {i} this week.", "We spent an afternoon in {i}.", "I finally made it to {i}."),
        "I wanted to see {i}, but it was closed, so I went home.",
        "{p} went to {i} without me.",
        "have I visited",
    ),
    "musical instruments": (
        ("the oboe", "the banjo", "the hurdy-gurdy", "the marimba", "the theremin", "the concertina"),
        ("I tried {i} for the first time.", "Someone let me play {i}, and I loved it.", "I had a go at {i}."),
        "I was offered {i} to try, but I declined.",
        "{p} plays {i} beautifully.",
        "have I tried out",
    ),
    "cheeses": (
        ("Comte", "Manchego", "Taleggio", "Halloumi", "Gruyere", "Pecorino", "Munster"),
        (
            "I tasted {i} at the market stall.",
            "Today's discovery was {i}.",
            "I put {i} on the board tonight.",
        ),
        "They had {i} too, but I passed on it.",
        "{p} swears by {i}.",
        "have I tasted",
    ),
    "peaks": (
        ("Mount Corrie", "Hollow Peak", "Grey Fell", "the Needle", "Storm Top", "Raven Crag"),
        ("I made it to the top of {i}.", "We hiked up {i} and had lunch there.", "Another summit done: {i}."),
        "I set off for {i}, but turned back halfway because of fog.",
        "{p} climbed {i} years ago.",
        "have I climbed",
    ),
    "knitting projects": (
        (
            "the striped mittens",
            "the baby blanket",
            "the cable jumper",
            "the tea cosy",
            "the long socks",
            "the mohair shawl",
        ),
        ("I cast off the last stitch of {i}.", "I finished knitting {i}.", "{i} came off the needles, done!"),
        "I started on {i} and unravelled it all again.",
        "{p} knitted {i} in one weekend.",
        "have I finished",
    ),
    "foreign films": (
        (
            "Harvest Moon",
            "The Ferryman's Son",
            "Blue Tiles",
            "A Borrowed Coat",
            "Seven Bridges",
            "Paper Boats",
        ),
        ("I watched {i} with subtitles.", "Last night's film was {i}.", "I saw {i} and cried a bit."),
        "I had a ticket for {i}, but fell ill and stayed in.",
        "{p} keeps telling me to see {i}.",
        "have I watched",
    ),
    "volunteering shifts": (
        (
            "the beach clean-up",
            "the library sale",
            "the food drive",
            "the tree count",
            "the repair cafe",
            "the blood drive",
        ),
        ("I did a shift at {i}.", "I helped at {i} this week.", "My volunteering this time was {i}."),
        "I had signed up for {i}, but they sent us home before it began.",
        "{p} organised {i}.",
        "have I done",
    ),
}
TALLY_COUNT = (
    "How many {c} {v} so far?",
    "Add it up for me: how many {c} {v} all in all?",
)
TALLY_LIST = ("Which {c} {v} so far?", "Can you name the {c} from our chats? I mean, which {v}?")

SPENDINGS = {
    "camping gear": ("a gas stove", "a ground sheet", "a folding chair", "a lantern", "a water filter"),
    "art supplies": ("oil paints", "a sketch easel", "sable brushes", "a roll of canvas", "charcoal sticks"),
    "bike parts": ("a saddle", "a chain", "mudguards", "brake pads", "a dynamo light"),
    "baking equipment": (
        "a proofing basket",
        "a cake stand",
        "a stand mixer bowl",
        "a rolling pin",
        "piping nozzles",
    ),
    "aquarium equipment": ("a pump", "a heater", "a moss ball", "a bag of gravel", "a light strip"),
    "garden tools": ("a spade", "a pruning saw", "a watering can", "a rake", "a wheelbarrow"),
    "ski equipment": ("goggles", "a helmet", "thermal gloves", "a ski bag", "boot warmers"),
    "home office things": ("a monitor arm", "a keyboard", "a footrest", "a webcam", "a cable tray"),
    "fishing tackle": ("a reel", "waders", "a landing net", "a tackle box", "a set of lures"),
}
SPENDING_TOLD = (
    "I bought {i} for {v}, more {c} than I planned.",
    "More {c}: {i}, {v}.",
    "For my {c} I added {i}, which came to {v}.",
    "I spent {v} on {i}, so the {c} pile is growing.",
)
SPENDING_OTHERS = ("{p} spent {v} on {c}.", "{p} is into {c} too and paid {v} last time.")
SPENDING_TOTAL = ("How much did I spend on {c} in total?", "What do my purchases of {c} add up to?")
SPENDING_MORE = ("Which cost me more, {a} or {b}?", "Was {a} or {b} the more expensive purchase?")

ROLES = words(
    """carpool partner, downstairs neighbour, choir director, mentor, godchild, dance teacher, tennis
    partner, babysitter, landlady, team captain, yoga instructor, barber, supervisor, lab partner,
    co-author, understudy"""
)
ROLE_TOLD = ("My {k} is called {n}.", "{n}, my {k}, made me laugh today.", "I have a new {k}, {n}.")
ROLE_HOME = ("{n} lives in {v}, as it turns out.", "{n} has moved to {v}.", "I visited {n} at home in {v}.")
ROLE_WORK = (
    "{n} works as {v} during the day.",
    "Did I mention that {n} is {v}?",
    "{n} has found work as {v}.",
)
ROLE_HOME_ASKED = ("In which city does my {k} live?", "Where is the home of my {k}?")
ROLE_WORK_ASKED = ("What is the job of my {k}?", "What does my {k} do for work?")
