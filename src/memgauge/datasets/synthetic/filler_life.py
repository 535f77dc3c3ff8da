"""Small talk about life at home: what is asked, remarked and advised; {p} person, {c} city, {n} number."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Topic:
    """Sentences that carry no fact about the user: requests with their answers, remarks, other advice."""

    asks: tuple[tuple[str, str], ...]
    remarks: tuple[str, ...]
    tips: tuple[str, ...]


COOKING = Topic(
    (
        (
            "What can I make from leftover potatoes and half a cabbage?",
            "Roast vegetables on two trays so that they brown instead of steaming.",
        ),
        (
            "How do I stop rice from turning into glue?",
            "Rinse the grains until the water runs clear, then let them soak for {n} minutes.",
        ),
        (
            "Is there a trick to a vinaigrette that doesn't split?",
            "A spoonful of mustard keeps oil and vinegar together.",
        ),
        (
            "What would you serve to {n} guests without spending the whole day at the stove?",
            "Cook a double batch and freeze half of it flat in bags.",
        ),
        (
            "Which spices go well with roasted carrots?",
            "Toast whole spices in a dry pan before grinding them.",
        ),
        (
            "How far ahead can one prepare a dough for dumplings?",
            "Let the dough rest in the fridge; cold dough is easier to roll.",
        ),
    ),
    (
        "Everyone in the office talks about fermenting these days.",
        "{p} thinks recipes are for cowards.",
        "Dinner was edible, which counts as a success here.",
        "The market in {c} had mountains of fennel again.",
    ),
    (
        "Salt early and taste often, because a dish can't be fixed at the table.",
        "Soft herbs go in at the very end, woody ones at the start.",
        "A splash of something sour wakes up nearly every pot that tastes dull.",
    ),
)

HOME = Topic(
    (
        (
            "How do I get candle wax out of a tablecloth?",
            "Brown paper and a warm iron lift most wax out of fabric.",
        ),
        (
            "What's the best order for a spring clean?",
            "Work from top to bottom, so that dust falls on what you haven't done yet.",
        ),
        (
            "The windows fog up every morning, what can I do?",
            "Air the place for {n} minutes with everything wide open instead of leaving one pane tilted.",
        ),
        (
            "How often should filters in a ventilation system be changed?",
            "Twice a year is enough for most of them, plus once after the pollen season.",
        ),
        (
            "Any advice for hanging heavy pictures on plaster?",
            "Use proper anchors for plaster and test with twice the load.",
        ),
        (
            "How can {n} square metres feel less cramped?",
            "Low furniture and one large mirror make small spaces look wider.",
        ),
    ),
    (
        "The stairwell smells of paint again.",
        "{p} has turned tidying into a competitive sport.",
        "It's astonishing how much dust a single week makes.",
        "The heating makes a noise like a distant tuba.",
    ),
    (
        "Put things you use daily at eye level and the rest higher up.",
        "A small dehumidifier pays for itself once the walls stay dry.",
        "Label the boxes on the side, because the lids disappear under other boxes.",
        "Fix leaks first, decorate later.",
    ),
)

GARDENING = Topic(
    (
        (
            "Why do my seedlings get long and thin?",
            "Stretching stems are a sign of too little light, so move them closer to the glass.",
        ),
        (
            "How much water do tomatoes want in a heat wave?",
            "Water deeply every {n} days rather than a little every evening.",
        ),
        (
            "Is it too late in the year to sow spinach?",
            "Quick varieties still make it if you sow within {n} days.",
        ),
        (
            "What keeps slugs away without poison?",
            "Copper tape works for pots, and a torch after dusk works for everything else.",
        ),
        ("Can compost be too wet?", "Mix in dry leaves or cardboard until the heap smells of forest."),
        (
            "Which flowers survive a windy north side?",
            "Choose low, tough perennials that bend instead of breaking.",
        ),
    ),
    (
        "The soil here is more clay than earth.",
        "{p} grows pumpkins the size of a sofa.",
        "Frost came early and nobody was ready.",
        "A blackbird has claimed the whole hedge.",
    ),
    (
        "Mulch keeps the moisture in and the weeds down.",
        "Harden young plants off outside for about {n} days before planting.",
        "Dead-heading keeps the blossoms coming until autumn.",
    ),
)

HEALTH = Topic(
    (
        (
            "How can I sit for hours without a stiff neck?",
            "Change your position every {n} minutes, even a short stretch counts.",
        ),
        (
            "What helps with falling asleep when the mind keeps racing?",
            "Write down what keeps you awake, then close the page on it.",
        ),
        ("Are naps of {n} minutes a good idea?", "Keep naps short and before the middle of the afternoon."),
        (
            "How do I remember to drink enough during the day?",
            "A full glass within reach does more than any reminder app.",
        ),
        (
            "What is a gentle way to get back in shape after a cold?",
            "Start with half of what feels easy and add a little each week.",
        ),
        ("Does cold air make a cough worse?", "It can, so breathe through the nose or through a scarf."),
    ),
    (
        "Everybody around here is sneezing.",
        "{p} claims that ginger cures everything.",
        "Sleep and the full moon don't get along, apparently.",
        "The pharmacy on the corner has become a second living room.",
    ),
    (
        "Raise the screen until its upper edge meets your eyes.",
        "If it lasts longer than two weeks, have a professional look at it.",
        "Daylight in the first hour after waking steadies the whole rhythm.",
    ),
)

PETS = Topic(
    (
        (
            "How do people train animals to come when called?",
            "Reward the behaviour within a second or two, or the link is lost.",
        ),
        (
            "What should one look for in a good animal sitter?",
            "Meet a sitter twice before you hand over the keys.",
        ),
        ("Are automatic feeders reliable?", "Most are, but test one for {n} days while you are around."),
        (
            "How can fur be kept off a sofa?",
            "A rubber glove, slightly damp, collects hair better than any roller.",
        ),
        ("What do animals need on a long drive?", "Stop every {n} minutes at the beginning and offer water."),
        (
            "Is it cruel to leave an animal alone for {n} hours?",
            "Leave something that smells familiar when you go out.",
        ),
    ),
    (
        "The whole building seems to be full of animals.",
        "{p} sends me animal videos at midnight.",
        "Somebody in {c} walks a goat on a leash.",
        "There is a fox that crosses our yard at dusk.",
    ),
    (
        "Short sessions beat long ones, especially for young animals.",
        "Keep a written routine on the fridge for whoever helps out.",
        "Ask about vaccinations before any stay elsewhere.",
    ),
)

FAMILY = Topic(
    (
        (
            "How do I plan a reunion for {n} relatives with different diets?",
            "Ask for diets in the invitation and let each branch bring one dish.",
        ),
        (
            "What is a kind way to turn down an invitation?",
            "Thank them, decline in one sentence, and propose another time.",
        ),
        (
            "Which questions get teenagers to talk?",
            "Talk while doing something else, in the car or over the dishes.",
        ),
        (
            "How do families share chores without resentment?",
            "Rotate the chores every {n} weeks so that nobody owns the worst one.",
        ),
        (
            "What can one write on a card after a loss?",
            "Name one concrete memory; it comforts more than any formula.",
        ),
        (
            "How do I stay in touch with people on other continents?",
            "A fixed call, short and regular, works better than long rare ones.",
        ),
    ),
    (
        "Family group chats should come with a mute button for life.",
        "{p} is organising yet another reunion.",
        "Old photographs are dangerous, you lose whole afternoons.",
        "People really do turn into their parents.",
    ),
    (
        "Put one person in charge of the schedule and another in charge of the food.",
        "Expect a little chaos and leave gaps in the programme.",
    ),
)

HOUSEHOLD_TOPICS = (COOKING, HOME, GARDENING, HEALTH, PETS, FAMILY)
