"""answer_question without a language model: contexts parsed and indexed once, however many questions they serve."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

import numpy as np

from memgauge.solvers.extractive.compose import UNKNOWN, compose
from memgauge.solvers.extractive.context import parse_context
from memgauge.solvers.extractive.kinds import Expected, understand
from memgauge.solvers.extractive.lexicon import content_stems
from memgauge.solvers.extractive.ranked import Ranked
from memgauge.solvers.extractive.ranking import Index, Scores, Vectors, Weights, best_positions, texts_of
from memgauge.tasks.answer_question import AnswerQuestion
from memgauge.text.entities import CAPITALISED_BY_RULE

_ROLE = re.compile(
    r"\b(?:my|our|his|her|[A-Z]\w+'s) (?P<role>[a-z][\w-]*(?: [a-z][\w-]*)??)"
    r"(?=\s+(?:live|work|do|come|be|stud|mov)\w*\b|\s+for\b|\?|$)"
)
_NAMED = re.compile(
    r"\b(?P<before>[A-Z][a-z]+), (?:my|our|his|her|the) |"
    r"(?:[Mm]y|[Oo]ur|new|old|a) [\w -]+?(?:,| is| is called| called| named) (?P<after>[A-Z][a-z]+)\b"
)
_EVENTS = (
    re.compile(r"\bbetween (?P<one>.+?) and (?P<two>.+?)\??$", re.IGNORECASE),
    re.compile(r"\b(?:from|since) (?P<one>.+?) (?:to|until|till|when) (?P<two>.+?)\??$", re.IGNORECASE),
    re.compile(r"^how (?:many \w+|long) (?P<one>.+?) (?:after|before|since|until) (?P<two>.+?)\??$", re.IGNORECASE),
)
_AGO = re.compile(r"^how (?:many \w+|long) ago (?P<one>.+?)\??$|\bsince (?P<two>.+?)\??$", re.IGNORECASE)


def answer_questions(tasks: Sequence[AnswerQuestion], vectors: Vectors, weights: Weights) -> list[str]:
    """One answer a task, in order; tasks with one context share its parse, its vectors and its index."""
    contexts = {context: parse_context(context) for context in dict.fromkeys(task.context for task in tasks)}
    expected = [understand(task.question) for task in tasks]
    texts = [text for parsed in contexts.values() for text in texts_of(parsed)]
    questions = [text for one in expected for text in (one.question, *parts_of(one))]
    vectors.prepare(texts + questions)
    answers = [UNKNOWN] * len(tasks)
    groups: dict[str, list[int]] = {}
    for position, task in enumerate(tasks):
        groups.setdefault(task.context, []).append(position)
    for context, positions in groups.items():
        if not contexts[context].sentences:
            continue
        index = Index(contexts[context], vectors)
        for position in positions:
            answers[position] = _answer(tasks[position], expected[position], index, vectors, weights)
    return answers


def _answer(task: AnswerQuestion, expected: Expected, index: Index, vectors: Vectors, weights: Weights) -> str:
    parts = parts_of(expected)
    queries = vectors.matrix([expected.question, *parts])
    scores = index.rank(expected, queries[0], weights)
    role = _ROLE.search(expected.question)
    names = named_in_role(set(content_stems(role["role"])), expected, index, scores) if role else set()
    if role and names:
        # what is said of Omar, not the sentence that introduces Omar
        scores = scores + np.float32(weights.bridge + weights.other) * index.mentions(
            names, set(content_stems(role["role"]))
        )
        expected = replace(expected, names=(*expected.names, *sorted(name.lower() for name in names)))
    asked = date.fromisoformat(task.question_date[:10]) if task.question_date else None
    part_scores = tuple(
        index.rank(understand(part), query, weights) for part, query in zip(parts, queries[1:], strict=True)
    )
    return compose(Ranked(expected, index, scores, asked, weights, part_scores))


def named_in_role(stems: set[str], expected: Expected, index: Index, scores: Scores) -> set[str]:
    """Who holds the role (stems) the question names: "my coach" is Omar where a close sentence says "Omar, my coach".

    Empty for a question that asks for the person.
    """
    if expected.kind == "person":
        return set()
    close = [index.sentences[position].core for position in best_positions(scores, 6)]
    found = {
        match["before"] or match["after"]
        for core in close
        if stems <= set(content_stems(core))
        for match in _NAMED.finditer(core)
    }
    return {name for name in found if name.lower() not in expected.names and name.lower() not in CAPITALISED_BY_RULE}


def parts_of(expected: Expected) -> tuple[str, ...]:
    """The texts besides the question that need a vector: its options, or its one or two events.

    >>> parts_of(understand("How many days passed between the flood and the move?"))
    ('the flood', 'the move')
    """
    if expected.kind == "choice":
        return expected.options
    if expected.kind != "interval":
        return ()
    for pattern in _EVENTS:
        found = pattern.search(expected.question)
        if found:
            return found["one"], found["two"]
    found = _AGO.search(expected.question)
    return (found["one"] or found["two"],) if found else ()
