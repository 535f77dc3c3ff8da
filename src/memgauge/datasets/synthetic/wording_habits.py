"""Wording of habits that are given up or kept, preferences, and what the assistant is asked for."""

from memgauge.datasets.synthetic.vocabulary import words

# (key, "I ..." in the first person, "do I still ...")
HABITS = (
    ("meat", "eat meat", "eat meat"),
    ("tram", "take the tram to work", "go to work by tram"),
    ("newspaper", "subscribe to a newspaper", "have a newspaper subscription"),
    ("saxophone", "play the saxophone", "play the saxophone"),
    ("shelter", "volunteer at the animal shelter", "look after animals at the shelter"),
    ("soup kitchen", "help out at the soup kitchen", "lend a hand in the soup kitchen"),
    ("glasses", "wear glasses for driving", "wear glasses when I drive"),
    ("sugar", "take sugar in tea", "sweeten my tea"),
    ("diary", "write a diary before bed", "write a diary"),
    ("night shifts", "work night shifts", "do shifts at night"),
    ("motorbike", "ride a motorbike", "ride a motorbike"),
    ("allotment", "rent an allotment", "have an allotment"),
    ("crosswords", "do crosswords at breakfast", "solve crosswords in the morning"),
    ("karate", "train karate with the juniors", "train karate"),
    ("decaf", "drink only decaf", "stick to decaf"),
    ("carpool", "carpool with the people from accounting", "share a car with accounting"),
)
HABIT_TOLD = (
    "I {h}, have for years.",
    "You should know that I {h}.",
    "These days I {h}, and I don't see that changing.",
)
HABIT_ENDED = (
    "I no longer {h}.",
    "I gave something up: I don't {h} anymore.",
    "I used to {h}, but that's over now.",
)
HABIT_KEPT = (
    "I still {h}, in spite of everything.",
    "People tell me to stop, but yes, I {h} as ever.",
    "Nothing has changed on that front: I {h}.",
)
HABIT_OTHERS = ("{p} used to {h} as well and stopped.", "{p} would never {h}, on principle.")
HABIT_ASKED = ("Do I still {q}?", "Is it still true that I {q}?", "At present, do I {q}?")

PREFERENCES = {
    "hotel room": (
        "a quiet room away from the lift",
        "a room with a balcony",
        "a ground-floor room",
        "a room with a kitchenette",
    ),
    "breakfast": ("savoury porridge", "smoked fish on rye", "plain yoghurt with nuts", "a spicy omelette"),
    "film night": (
        "slow black-and-white dramas",
        "animated films without dialogue",
        "heist comedies",
        "nature documentaries",
    ),
    "holiday": ("small islands off season", "long train journeys", "mountain huts", "big noisy cities"),
    "workout": ("short workouts before sunrise", "swimming in cold water", "team sports", "dancing at home"),
    "background playlist": ("solo piano", "brass bands", "rain sounds", "old samba records"),
    "plane seat": ("an aisle seat at the back", "a window seat over the wing", "the front row"),
    "notebook": ("unlined paper", "dotted paper with numbered pages", "tiny pocket notebooks"),
    "party": ("dinners for four", "garden parties in the afternoon", "costume parties", "potlucks"),
    "coffee": ("filter coffee without milk", "iced coffee with oat milk", "a double ristretto"),
    "garden": ("wild meadow flowers", "tidy herb beds", "a gravel garden with grasses"),
    "novel": (
        "novels told in letters",
        "family sagas",
        "short detective stories",
        "science fiction without wars",
    ),
    "gift": ("tickets instead of objects", "handmade gifts", "gifts one can eat", "second-hand gifts"),
    "museum visit": (
        "audio guides over group tours",
        "sketching in front of one picture",
        "visits right at opening time",
    ),
    "pair of shoes": ("barefoot shoes", "high-top canvas shoes", "waxed leather boots"),
    "pizza": ("pizza without cheese", "thin crust with anchovies", "pizza with figs"),
    "conference": ("workshops over keynotes", "poster sessions", "small round tables"),
    "desk": ("standing while I write", "a desk facing the wall", "a big shared table"),
}
PREFERENCE_TOLD = (
    "When it comes to a {k}, I much prefer {v}.",
    "I've realised what I like for a {k}: {v}.",
    "If I can choose, the right {k} for me means {v}.",
    "Give me {v} over any other {k}.",
)
PREFERENCE_OTHERS = (
    "{p} would rather have {v} for a {k}.",
    "{p} insists on {v}, should you ever plan a {k} together.",
)
PREFERENCE_ASKED = (
    "I have to decide on a {k} again. What would suit my taste?",
    "Which {k} would you suggest for someone like me?",
    "Could you recommend a {k} that fits what I like?",
    "What do I prefer as far as a {k} is concerned?",
)

VENUE_KINDS = words(
    """ramen bar, bakery, second-hand bookshop, tapas place, jazz cellar, tea house, guesthouse, bike
    repair shop, vegan bistro, rooftop bar, flower market, puppet theatre, vintage cinema, noodle stall,
    photo gallery"""
)
VENUE_REQUEST = (
    "Could you recommend a {k} in {c}?",
    "I'm looking for a good {k} in {c}. Any ideas?",
    "Do you know a {k} worth visiting when I'm in {c}?",
)
VENUE_REPLY = (
    "For a {k} in {c} my first choice would be {v}. If it is full, {w} is a decent fallback.",
    "I'd go to {v}: people praise it, and it is the {k} that locals mention most. {w} is louder but fine.",
    "Try {v}, a small {k} near the centre of {c}. Skip {w}, which has gone downhill.",
)
VENUE_ASKED = (
    "Which {k} in {c} did you recommend first?",
    "What was the name of the {k} in {c} that you told me to try?",
    "Remind me: which {k} in {c} was your top suggestion?",
)

DISHES = words(
    """beef stew, lentil soup, chickpea curry, rice pudding, tomato sauce, chicken broth, bean chili, plum
    jam, onion confit, vegetable lasagne, cornbread, lamb tagine, apple crumble, stuffed peppers"""
)
DISH_REQUEST = (
    "How long does {k} need on the stove or in the oven?",
    "What's the right cooking time for {k}?",
)
DISH_REPLY = (
    "Give the {k} {v} on low heat, then let it rest for a while.",
    "{v} is about right for {k}; taste it before you switch the heat off.",
    "I'd plan {v} for the {k} and keep the lid slightly open.",
)
DISH_ASKED = (
    "For how long should I cook the {k}, according to you?",
    "What cooking time did you give me for the {k}?",
)

LISTS = {
    "stretches after a run": (
        "calf raises",
        "hip circles",
        "lunge holds",
        "toe touches",
        "ankle rolls",
        "shoulder rolls",
    ),
    "herbs for a dark windowsill": ("mint", "chives", "parsley", "lemon balm", "sorrel", "chervil"),
    "games for two": ("backgammon", "cribbage", "dominoes", "gin rummy", "mancala", "reversi"),
    "supplies for a rainy trek": (
        "gaiters",
        "a poncho",
        "dry bags",
        "spare laces",
        "a head torch",
        "wool liners",
    ),
    "icebreakers for a workshop": (
        "two truths",
        "desert island",
        "speed sketching",
        "story dice",
        "map of origins",
    ),
    "basic Italian words": ("grazie", "scusi", "domani", "quanto", "dove", "adesso"),
    "warm-ups for singers": (
        "lip trills",
        "sirens",
        "humming",
        "tongue twisters",
        "slow scales",
        "yawning sighs",
    ),
    "cheap decorations for a balcony": (
        "paper lanterns",
        "bunting",
        "wind chimes",
        "bottle vases",
        "reed mats",
    ),
    "snacks for a road trip": (
        "rice crackers",
        "dried mango",
        "roasted almonds",
        "oat bars",
        "pretzels",
        "olives",
    ),
    "ways to save electricity": (
        "smart plugs",
        "line drying",
        "lower fridge settings",
        "lid cooking",
        "cold washes",
    ),
}
LIST_REQUEST = ("Can you list some {k}?", "Give me a few {k}, please.", "I need ideas: {k}?")
LIST_REPLY = ("Here are some {k}: {v}.", "Five {k} come to mind: {v}.", "Let me suggest these {k}: {v}.")
LIST_ASKED = (
    "You once listed {k} for me. What was number {n}?",
    "In your list of {k}, which item came {o}?",
    "What was the {o} entry when you gave me {k}?",
)
ORDINALS = ("first", "second", "third", "fourth", "fifth")
