"""propose_questions without a language model: a question of fitting type for each of the most telling statements."""

# ruff: noqa: E501  (a pattern reads best on one line)

import re
from collections.abc import Sequence
from datetime import date

import numpy as np

from memgauge.solvers.extractive.context import dates_of
from memgauge.solvers.extractive.evidence import CLOCK
from memgauge.solvers.extractive.lexicon import FUNCTION, stem
from memgauge.solvers.extractive.ranking import Scores, Vectors, Weights
from memgauge.solvers.extractive.summary import Candidate, find_candidates, pick_varied, unit_vector, weigh_cues
from memgauge.tasks.propose_questions import ProposeQuestions
from memgauge.tasks.summarise_session import SummariseSession
from memgauge.text.entities import find_names, find_places
from memgauge.text.numbers import find_durations, find_numbers

_OFTEN = r"(?: just| also| finally| recently| even| really| actually| always| usually| never| still| now)?"
_RESTORED = re.compile(r"(?:[csuvz]|(?<!on)g|[^aeiou][aeiou]k|[^ao]id|[^aeiou]ad|[^eo]at|creat|(?:sh|c|p)ar)$")
_PAST = re.compile(
    rf"\bI{_OFTEN} (?P<verb>(?!need|feed|was|had)[a-z]+ed|took|went|bought|got|gave|made|met|saw|told|found|left|kept|began|wrote|read|ran|won|lost|came|became|brought|taught|caught|chose|drew|drove|ate|fell|flew|grew|held|paid|sang|sent|sold|spent|spoke|swam|wore|built|broke|heard)\b(?P<rest>[^.!?;]*)"
)
_PRESENT = re.compile(
    rf"\bI{_OFTEN} (?P<verb>(?!(?:am|was|had|have|has|do|did|can|could|will|would|should|may|might|must|hope|think|guess|know|mean|suppose|wonder|too|and|or)\b)[a-z]{{2,}})\b(?P<rest>[^.!?;]*)"
)
_BEING = re.compile(r"\bI(?:['’]m| am) (?P<rest>[^.!?;]*)")
_SELF = re.compile(r"\b(?:I(?!\s+(?:hope|wonder|suppose|guess|think|know|mean|see)\b)|my|we|our|mine)\b")
_OTHER = re.compile(r"\b(?:you|your|yourself)\b", re.I)
_HOLLOW = re.compile(
    r"\b(?:let'?s see|that'?s life|sorry for|thanks for|good (?:point|question)|time flies)\b",
    re.I,
)
ASKED = 0.7  # worth below which nobody asks about a statement, unless its session has no better one
_LONGEST = 7  # words of a question's clause: more is no question somebody asks
_TOPIC = 5  # words that name what a statement is about


def propose_questions(tasks: Sequence[ProposeQuestions], vectors: Vectors, weights: Weights) -> list[tuple[str, ...]]:
    """For each task at most `count` distinct questions, the most telling statement's first; () without statements."""
    candidates = [statements(task.date, task.turns) for task in tasks]
    vectors.prepare([one.core for group in candidates for one in group])
    proposed = []
    for task, group in zip(tasks, candidates, strict=True):
        told = telling(group, task.date, vectors)[: 2 * task.count]
        questions = dict.fromkeys(ask(task.turns[one.turn][0], one, day_of(task.date)) for one in told)
        proposed.append(tuple(questions)[: task.count])
    return proposed


def statements(moment: str | None, turns: tuple[tuple[str, str], ...]) -> list[Candidate]:
    """The statements of a session that a summary would choose from, in order."""
    return find_candidates(SummariseSession(moment, turns, 0))


def day_of(moment: str | None) -> date | None:
    """The day of an ISO date."""
    return date.fromisoformat(moment[:10]) if moment else None


def telling(candidates: Sequence[Candidate], moment: str | None, vectors: Vectors, most: int = 40) -> list[Candidate]:
    """The statements that tell most and repeat least, best first, at most `most`; their cores are prepared."""
    if not candidates:
        return []
    matrix = vectors.matrix([one.core for one in candidates])
    values = worth(candidates, moment, matrix)
    least = min(ASKED, float(values.max()))
    picked = pick_varied(values, matrix, [1] * len(candidates), most)
    return [candidates[at] for at in picked if values[at] >= least]


def worth(candidates: Sequence[Candidate], moment: str | None, matrix: Scores) -> Scores:
    """How central a statement is and how likely somebody asks about it, shape (candidates,)."""
    day = day_of(moment)
    cues = np.array([weigh_cues(one.core, day) + _personal(one.core) for one in candidates])
    values: Scores = (0.5 * matrix @ unit_vector(matrix.mean(axis=0)) + cues).astype(np.float32)
    return values


def _personal(core: str) -> float:
    """People ask about their own lives and about names they were given, hardly about advice to all the world."""
    named = bool(find_names(core))
    value = 0.5 * bool(_SELF.search(core)) + 0.3 * named - 0.3 * (bool(_OTHER.search(core)) and not named)
    return value - 0.4 * bool(_HOLLOW.search(core))


def ask(speaker: str, statement: Candidate, day: date | None) -> str:
    """A short question that the statement answers: its type by what it holds, its words those of the statement.

    >>> ask("Ann", Candidate("", "I moved to Lisbon with Tom.", 0), None)
    'Where did Ann move with Tom?'
    >>> ask("Ann", Candidate("", "I adopted a puppy yesterday.", 0), date(2023, 5, 8))
    'When did Ann adopt a puppy?'
    >>> ask("Ann", Candidate("", "I'm allergic to peanuts.", 0), None)
    'What is Ann allergic to peanuts?'
    """
    core = statement.core
    who = f"the {speaker}" if speaker in ("user", "assistant") else speaker
    word, answers = _asked_for(core, day)
    for pattern, auxiliary in ((_PAST, "did"), (_PRESENT, "does"), (_BEING, "is")):
        found = pattern.search(core)
        if found:
            verb = found.groupdict().get("verb", "")
            verb = base(verb) if auxiliary == "did" else verb
            return _closed(f"{word or 'What'} {auxiliary} {who} {verb} {_clause(found['rest'], answers)}")
    topic = _topic(core, answers)
    return _closed(f"{word}: {topic}" if word else f"What about {topic}")


def _asked_for(core: str, day: date | None) -> tuple[str, tuple[str, ...]]:
    """The question word for the most telling detail, and the texts that would give the answer away."""
    durations = [span.text for span in find_durations(core)]
    dates = [core[span.start : span.end] for span in dates_of(core, day)]
    if dates or CLOCK.search(core):
        return "When", tuple(dates)
    numbers = [span for span in find_numbers(core) if span.text.casefold() not in ("one", "once", "both")]
    if any(span.kind == "money" for span in numbers):
        return "How much", tuple(span.text for span in numbers)
    if durations:
        return "How long", tuple(durations)
    counted = [span for span in numbers if span.noun and span.noun not in FUNCTION]
    if counted:
        return f"How many {counted[0].noun}", (f"{counted[0].text} {counted[0].noun}",)
    places = [name.text for name in find_places(core)]
    return ("Where", tuple(places)) if places else ("", ())


def _clause(rest: str, answers: Sequence[str]) -> str:
    """The rest of a clause without its answer, first and second person turned into third."""
    return " ".join(_without(rest, answers).split(",")[0].split()[:_LONGEST])


def _topic(core: str, answers: Sequence[str]) -> str:
    """The words of content, in order."""
    kept = [word.strip(' ,.;:!?"()') for word in _without(core, answers).split()]
    content = [word for word in kept if word.lower().split("'")[0].split("’")[0] not in FUNCTION and word]
    return " ".join(content[:_TOPIC])


def _without(text: str, answers: Sequence[str]) -> str:
    for answer in answers:
        text = re.sub(
            rf"(?:\b(?:in|on|at|to|from|for|about|around|since|until|near|by)\s+)?(?:the\s+)?{re.escape(answer)}",
            " ",
            text,
            flags=re.I,
        )
    return re.sub(r"\bI(?:['’]\w+)?\b|\b(?:my|our)\b", "", text)


def base(verb: str) -> str:
    """The base form of a verb in the past.

    >>> [base(verb) for verb in ("took", "cleared", "decided", "planned", "studied", "hiked", "added")]
    ['take', 'clear', 'decide', 'plan', 'study', 'hike', 'add']
    """
    if not verb.endswith("ed"):
        return stem(verb)
    if verb.endswith("ied"):
        return f"{verb[:-3]}y"
    root = verb[:-2]
    if len(root) > 3 and root[-1] == root[-2] and root[-1] not in "lsz":
        return root[:-1]
    return f"{root}e" if _RESTORED.search(root) and not root.endswith("ss") else root


def _closed(text: str) -> str:
    return f"{' '.join(text.split())}?"
