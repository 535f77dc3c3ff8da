"""summarise_for_question without a language model: the sentences the extractive reader would answer from, dated.

Contexts are parsed and indexed once, however many questions they serve. Sentences are added best first while they
are near the best one and fit the limit, and are written in the order of the context under their days.
"""

from collections.abc import Iterator, Sequence
from datetime import date

from memgauge.solvers.extractive.answer import parts_of
from memgauge.solvers.extractive.context import Parsed, Sentence, parse_context
from memgauge.solvers.extractive.kinds import Expected, understand
from memgauge.solvers.extractive.ranked import Ranked
from memgauge.solvers.extractive.ranking import Index, Vectors, Weights, best_positions, texts_of
from memgauge.solvers.extractive.reasons import Reasoned
from memgauge.solvers.extractive.summary import resolve_dates
from memgauge.tasks.summarise_for_question import SummariseForQuestion
from memgauge.text.render import render_date
from memgauge.text.tokens import count_tokens, truncate

NOTHING = "(nothing)"
_MOST = 8  # sentences of a summary


def summarise_for_questions(
    tasks: Sequence[SummariseForQuestion], vectors: Vectors, weights: Weights
) -> list[Reasoned]:
    """One summary a task within its limit, never empty: "(nothing)" for a context without a sentence."""
    contexts = {context: parse_context(context) for context in dict.fromkeys(task.context for task in tasks)}
    expected = [understand(task.question) for task in tasks]
    vectors.prepare([text for parsed in contexts.values() for text in texts_of(parsed)])
    vectors.prepare([text for one in expected for text in (one.question, *parts_of(one))])
    indices = {context: Index(parsed, vectors) for context, parsed in contexts.items() if parsed.sentences}
    summaries = []
    for task, one in zip(tasks, expected, strict=True):
        index = indices.get(task.context)
        best = list(_best(task, one, index, vectors, weights)) if index else []
        summaries.append(Reasoned(_packed(best, contexts[task.context], task.limit_tokens), ""))
    return summaries


def _best(
    task: SummariseForQuestion, expected: Expected, index: Index, vectors: Vectors, weights: Weights
) -> Iterator[Sentence]:
    """The sentences worth showing, best first; an interval or choice has each part's best one too."""
    parts = parts_of(expected)
    queries = vectors.matrix([expected.question, *parts])
    scores = index.rank(expected, queries[0], weights)
    asked = date.fromisoformat(task.date[:10]) if task.date else None
    sides = tuple(index.rank(understand(part), query, weights) for part, query in zip(parts, queries[1:], strict=True))
    ranked = Ranked(expected, index, scores, asked, weights, sides)
    yield ranked.best(1, weights.lead)[0]
    yield from (index.sentences[best_positions(side, 1)[0]] for side in sides)
    yield from ranked.supported(_MOST)


def _packed(best: Sequence[Sentence], parsed: Parsed, limit: int) -> str:
    """The best sentences that fit, in context order; the first alone is cut where even it does not fit."""
    order = {sentence: at for at, sentence in reversed(list(enumerate(parsed.sentences)))}
    kept: list[Sentence] = []
    for sentence in dict.fromkeys(best):
        wider = sorted([*kept, sentence], key=order.__getitem__)
        if len(kept) < _MOST and count_tokens(_rendered(wider, parsed)) <= limit:
            kept = wider
    if kept:
        return _rendered(kept, parsed)
    return (truncate(_rendered(best[:1], parsed), limit).strip() if best else "") or NOTHING


def _rendered(sentences: Sequence[Sentence], parsed: Parsed) -> str:
    """Each sentence under its speaker's name, days written out; one heading for neighbours of a day."""
    lines: list[str] = []
    day: date | None = None
    for sentence in sentences:
        if sentence.day is not None and sentence.day != day:
            lines.append(render_date(sentence.day.isoformat()))
        day = sentence.day
        speaker = parsed.lines[sentence.line].speaker
        lines.append(f"{speaker}: {resolve_dates(sentence.core, sentence.day)}".removeprefix(": "))
    return "\n".join(lines)
