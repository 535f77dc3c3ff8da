"""Small talk about sports, books, music and the arts, in the form of `filler_life`."""

from memgauge.datasets.synthetic.filler_life import Topic

SPORTS = Topic(
    (
        (
            "How do I breathe properly when running uphill?",
            "Shorten your stride and keep the rhythm of your breath.",
        ),
        (
            "What does a sensible training week look like for beginners?",
            "Two easy days for every hard one is a safe start.",
        ),
        (
            "Why do my shins ache after a few kilometres?",
            "Raise the distance by a tenth a week and look at your soles.",
        ),
        ("Is stretching before exercise still recommended?", "Move lightly before, stretch after."),
        (
            "How do athletes stay calm before a start?",
            "A fixed routine in the last {n} minutes leaves no room for nerves.",
        ),
        (
            "What should one eat {n} hours before a match?",
            "Something plain and starchy sits well, and nothing new on the day itself.",
        ),
    ),
    (
        "The pitch was a swamp and everyone loved it.",
        "{p} owns more jerseys than shirts.",
        "Half of {c} was out jogging this weekend.",
        "Referees deserve a medal, honestly.",
    ),
    (
        "Rest is part of the plan, not a break from it.",
        "Write down how it felt, not just how far it was.",
    ),
)

READING = Topic(
    (
        (
            "How do people manage to read {n} pages a day?",
            "Tie it to a fixed moment, such as the first coffee, and stop in the middle of a page.",
        ),
        (
            "What makes an unreliable narrator convincing?",
            "The narrator must want something badly enough to bend the truth.",
        ),
        ("Is it fine to give up on a novel halfway?", "Give it fifty pages, then quit without guilt."),
        (
            "How do I run a discussion that isn't dominated by two people?",
            "Start with a round in which everybody names one sentence.",
        ),
        ("Which classics are shorter than one expects?", "Novellas are a good door into the big names."),
        ("Are audiobooks really reading?", "What you hear stays with you about as well as what you see."),
    ),
    (
        "The library in {c} has the squeakiest floor in the country.",
        "{p} reads the last page first.",
        "Blurbs should be forbidden, they give everything away.",
        "There is a stack beside the bed that only ever grows.",
    ),
    (
        "Keep {n} lines of notes for each and you will remember far more.",
        "Read outside your usual shelf every now and then.",
    ),
)

MUSIC = Topic(
    (
        (
            "How long should one practise a day to make progress?",
            "Twenty attentive minutes beat two distracted hours.",
        ),
        (
            "What is a mode, in plain words?",
            "It is the same scale started from another step, which shifts the mood.",
        ),
        (
            "How do choirs stay in tune without a piano?",
            "Singers listen down to the lowest voice and tune to it.",
        ),
        (
            "Any exercises for a better sense of rhythm?",
            "Clap the pulse, speak the rhythm, and only then play.",
        ),
        (
            "How do I get over stage fright?",
            "Perform often for {n} people, and the hall will scare you less.",
        ),
        ("Why do old recordings sound so warm?", "Old tape rounds off the sharp edges of a sound."),
    ),
    (
        "The neighbours practise the same waltz every evening.",
        "{p} hums in lifts.",
        "The acoustics in {c} are a mystery to everyone.",
        "A street band played under the bridge for {n} minutes in the rain.",
    ),
    (
        "Slow it down until it is easy, then speed up by small steps.",
        "Record yourself, it's the most honest teacher.",
    ),
)

CULTURE = Topic(
    (
        (
            "How do I look at abstract painting without feeling foolish?",
            "Stay in front of one work for {n} minutes and describe only what you see.",
        ),
        (
            "What is the history behind carnival masks?",
            "Masks let rich and poor mix unrecognised, which was the whole point.",
        ),
        (
            "Why do theatres call a ghost light a ghost light?",
            "One lamp stays on so that nobody falls off the stage, and the legends came later.",
        ),
        (
            "How are crosswinds dealt with at open-air stages?",
            "With heavy weights, loose weaves and a plan for stopping in time.",
        ),
        ("What makes a documentary trustworthy?", "Look for named sources and for what the film leaves out."),
        ("How do I start sketching if I can't draw?", "Draw the gaps between things rather than the things."),
    ),
    (
        "The gallery in {c} was packed to the doors.",
        "{p} dozed off during the overture.",
        "There's a sculpture in the park that everybody mistakes for a bench.",
        "They ran {n} trailers before the main feature.",
    ),
    (
        "Go on a weekday morning and you will have the halls to yourself.",
        "Read the label last.",
        "Carry a pencil, it changes how you look.",
    ),
)

LEISURE_TOPICS = (SPORTS, READING, MUSIC, CULTURE)
