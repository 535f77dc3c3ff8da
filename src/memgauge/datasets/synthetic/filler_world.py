"""Small talk about work, travel, money and devices, in the form of `filler_life`, and all topics together."""

from memgauge.datasets.synthetic.filler_leisure import LEISURE_TOPICS
from memgauge.datasets.synthetic.filler_life import HOUSEHOLD_TOPICS, Topic

WORK = Topic(
    (
        (
            "How do I shorten a report that has grown to {n} pages?",
            "Lead with the decision you need and move the rest into an appendix.",
        ),
        (
            "What makes a stand-up quick and useful?",
            "Ask for blockers only, and end after {n} minutes whatever happens.",
        ),
        (
            "How should I word a reminder that doesn't sound annoyed?",
            "Repeat the date, offer help, and leave the blame out.",
        ),
        (
            "Any idea how to prioritise when everything is urgent?",
            "List what breaks if it waits; most things don't.",
        ),
        (
            "What belongs in a good handover?",
            "Write down who to call, what is half done and what may be ignored.",
        ),
        (
            "How can a remote team get to know each other?",
            "Pair people from different teams for a short chat every other week.",
        ),
    ),
    (
        "The open-plan floor is loud enough to drown a brass band.",
        "{p} answers mails at three in the morning.",
        "There were {n} slides and not one conclusion.",
        "Somebody renamed all the folders again.",
    ),
    (
        "One owner per task, or nobody feels responsible.",
        "Decline anything without an agenda, politely.",
        "Group small tasks and do them in one go after lunch.",
    ),
)

TRAVEL = Topic(
    (
        (
            "What is worth seeing in {c} in a single day?",
            "Start in the old quarter before the buses come, and keep the views for the evening.",
        ),
        (
            "How early should one be at a small airport?",
            "An hour and a half is plenty when there is only one terminal.",
        ),
        (
            "Which apps work offline for maps?",
            "Save the area for offline use while you still have a connection.",
        ),
        ("Is the off season in {c} too wet?", "Spring weeks are calmer in {c}, and the light is better."),
        (
            "How do I pack for {n} days with hand baggage only?",
            "Roll clothes, wear the heaviest pair, and wash once on the way.",
        ),
        (
            "What's a polite tip in restaurants over there?",
            "Round up in cafes and leave about a tenth where you are served at the table.",
        ),
    ),
    (
        "The trains to {c} were late again, all of them.",
        "{p} travels with more cables than clothes.",
        "Postcards from {c} still take two months.",
        "Maps on paper have a charm that screens don't.",
    ),
    (
        "Book the first night only and stay flexible afterwards.",
        "Carry a copy of your papers in another bag.",
        "A day pass is cheaper than {n} single tickets.",
    ),
)

FINANCE = Topic(
    (
        (
            "What is a simple way to keep track of expenses?",
            "Three columns are enough: fixed, daily, and fun.",
        ),
        (
            "How many months of costs should an emergency fund cover?",
            "Three to six months of costs let you sleep well.",
        ),
        (
            "Is it smart to round up payments into savings?",
            "Automate what you save on payday and spend the rest freely.",
        ),
        (
            "How do I compare two contracts with different terms?",
            "Turn both into a yearly total before you compare anything.",
        ),
        (
            "What do people mean by an index fund?",
            "It simply buys a little of everything, which keeps the fees low.",
        ),
        (
            "Can I deduct a home desk of {n} square metres?",
            "Rules differ, so a short call with an adviser is worth it.",
        ),
    ),
    (
        "Prices in {c} have gone through the roof.",
        "{p} keeps receipts from the last century.",
        "Forms, forms and more forms.",
        "The bank's app changes its look every other month.",
    ),
    (
        "Cancel whatever you haven't used in {n} weeks.",
        "Check the notice period before anything renews.",
    ),
)

TECHNOLOGY = Topic(
    (
        (
            "How do I back up files without thinking about it?",
            "Keep three copies, on two kinds of media, one of them elsewhere.",
        ),
        (
            "What makes a password hard to guess but easy to remember?",
            "String together four unrelated words and a joke only you know.",
        ),
        ("Why is the wireless slow in only one corner?", "Move the router up and away from metal."),
        (
            "Is it worth repairing a device that is {n} years old?",
            "Repair it if the part costs less than a third of a new one.",
        ),
        (
            "How do I sort twenty thousand photographs?",
            "Sort by year first and delete duplicates before anything else.",
        ),
        ("Which settings save battery?", "Dim the screen, it takes more than all the rest together."),
    ),
    (
        "Another update, another hour gone.",
        "{p} still prints out mails.",
        "The chargers of this household breed at night.",
        "In {c} you can pay for everything with a wave of the hand.",
    ),
    (
        "Restart it once a week; it sounds silly and works.",
        "Turn off notifications from all but {n} apps.",
    ),
)

TOPICS = (*HOUSEHOLD_TOPICS, WORK, TRAVEL, FINANCE, TECHNOLOGY, *LEISURE_TOPICS)
