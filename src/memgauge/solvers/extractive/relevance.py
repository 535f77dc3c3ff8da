"""score_relevance and extract_relations without a language model: passages' sentences ranked for the question."""

from collections.abc import Iterator, Sequence

from memgauge.solvers.extractive.context import Parsed, Sentence, parse_context
from memgauge.solvers.extractive.kinds import Expected, understand
from memgauge.solvers.extractive.lexicon import content_stems
from memgauge.solvers.extractive.ranking import Index, Scores, Vectors, Weights, best_positions, texts_of
from memgauge.solvers.extractive.summary import resolve_dates
from memgauge.tasks.extract_relations import ExtractRelations
from memgauge.tasks.score_relevance import MOST, ScoreRelevance
from memgauge.text.date_forms import render_day
from memgauge.text.entities import find_names
from memgauge.text.render import render_date

_LATE = 0.35  # how far below the best one of its aspect a sentence may score and still be named


def score_relevance(tasks: Sequence[ScoreRelevance], vectors: Vectors, weights: Weights) -> list[tuple[int, ...]]:
    """0 to 10 by each passage's best sentence, as the reader ranks sentences; 0 for one without a sentence."""
    return [
        tuple(_score(parsed, expected, query, vectors, weights) for parsed in passages)
        for passages, expected, query in _prepared(
            [(task.question, [_context([one]) for one in task.passages]) for task in tasks], vectors
        )
    ]


def _score(parsed: Parsed, expected: Expected, query: Scores, vectors: Vectors, weights: Weights) -> int:
    if not parsed.sentences:
        return 0
    best = float(Index(parsed, vectors).rank(expected, query, weights).max())
    return round(MOST * min(max(best, 0.0), 1.0))


def extract_relations(tasks: Sequence[ExtractRelations], vectors: Vectors, weights: Weights) -> list[tuple[str, ...]]:
    """The best sentences with a name, with a date, or with a word of the question; dated ones oldest first."""
    found: list[tuple[str, ...]] = []
    prepared = _prepared([(task.question, [_context(task.passages)]) for task in tasks], vectors)
    for task, ((parsed,), expected, query) in zip(tasks, prepared, strict=True):
        if not parsed.sentences:
            found.append(())
            continue
        scores = Index(parsed, vectors).rank(expected, query, weights)
        chosen = [parsed.sentences[at] for at in _chosen(task, parsed, scores)]
        if task.aspect == "temporal":
            chosen.sort(key=lambda one: one.dates[0].first)
        found.append(tuple(dict.fromkeys(_line(one, parsed) for one in chosen)))
    return found


def _chosen(task: ExtractRelations, parsed: Parsed, scores: Scores) -> list[int]:
    words = set(content_stems(task.question))
    order = [at for at in best_positions(scores, len(scores)) if _of_aspect(task, parsed.sentences[at], words)]
    return [at for at in order if scores[at] >= scores[order[0]] - _LATE][: task.limit]


def _of_aspect(task: ExtractRelations, sentence: Sentence, words: set[str]) -> bool:
    if sentence.text.rstrip().endswith("?"):
        return False
    if task.aspect == "entity":
        return bool(find_names(sentence.core))
    if task.aspect == "temporal":
        return bool(sentence.dates)
    return bool(words & set(content_stems(sentence.core)))


def _line(sentence: Sentence, parsed: Parsed) -> str:
    """Who said it and when, then the words; one line. The day stands first so that it is no speaker's label."""
    speaker = parsed.lines[sentence.line].speaker
    said = " ".join(resolve_dates(sentence.core, sentence.day).split())
    day = f"On {render_day(sentence.day)}, " if sentence.day else ""
    return f"{day}{speaker}: {said}" if speaker else f"{day}{said}"


def _context(passages: Sequence[tuple[str | None, str]]) -> str:
    return "\n".join(f"{render_date(date)}\n{text}" for date, text in passages)


def _prepared(
    asked: Sequence[tuple[str, list[str]]], vectors: Vectors
) -> Iterator[tuple[list[Parsed], Expected, Scores]]:
    """Each question's contexts parsed, itself understood, its vector; all encoded in one batch."""
    parsed = [[parse_context(context) for context in contexts] for _, contexts in asked]
    expected = [understand(question) for question, _ in asked]
    texts = [text for contexts in parsed for one in contexts for text in texts_of(one)]
    vectors.prepare([*texts, *(one.question for one in expected)])
    for contexts, one in zip(parsed, expected, strict=True):
        yield contexts, one, vectors.matrix([one.question])[0]
