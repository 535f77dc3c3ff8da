"""select_evidence without a language model: for every question the fewest sentences that settle it."""

from collections.abc import Sequence

from memgauge.solvers.extractive.context import Parsed, Sentence, parse_context
from memgauge.solvers.extractive.evidence import carries
from memgauge.solvers.extractive.kinds import Expected, understand
from memgauge.solvers.extractive.lexicon import content_stems
from memgauge.solvers.extractive.probes import ask, day_of, statements, telling
from memgauge.solvers.extractive.ranking import Index, Vectors, Weights, best_positions, texts_of
from memgauge.solvers.extractive.summary import resolve_dates
from memgauge.tasks.select_evidence import EvidenceRecord, SelectEvidence, Selection
from memgauge.text.render import render_date
from memgauge.text.tokens import count_tokens

_CLOSE = 0.35  # how far below the best a second sentence may stand


def select_evidence(tasks: Sequence[SelectEvidence], vectors: Vectors, weights: Weights) -> list[Selection]:
    """For each task one record a question, in the order of the questions.

    A question that no sentence comes near (`weights.least`) has no record. Without questions the most telling
    statements are kept, each under a question made of it: as many as the budget holds, but at least one.
    """
    guided = {at: _session(task) for at, task in enumerate(tasks) if task.questions}
    alone = {at: statements(task.date, task.turns) for at, task in enumerate(tasks) if not task.questions}
    texts = [text for parsed, _ in guided.values() for text in texts_of(parsed)]
    texts += [question for at in guided for question in tasks[at].questions]
    vectors.prepare(texts + [one.core for group in alone.values() for one in group])
    made = {at: _guided(tasks[at], *session, vectors, weights) for at, session in guided.items()}
    for at, group in alone.items():
        told = telling(group, tasks[at].date, vectors)
        day = day_of(tasks[at].date)
        records = [EvidenceRecord(ask(tasks[at].turns[one.turn][0], one, day), one.text, (one.turn,)) for one in told]
        made[at] = _within(records, tasks[at].budget_tokens)
    return [Selection(tuple(made[at])) for at in range(len(tasks))]


def _session(task: SelectEvidence) -> tuple[Parsed, list[int]]:
    """The session as a context of one line a turn, and the turn of each line."""
    turns = [at for at, (_, text) in enumerate(task.turns) if text.strip()]
    lines = [f"{task.turns[at][0]}: {_one_line(task.turns[at][1])}" for at in turns]
    return parse_context("\n".join([render_date(task.date), *lines])), turns


def _one_line(text: str) -> str:
    """A message in one line; a line break ends a sentence."""
    rows = [row.strip() for row in text.splitlines() if row.strip()]
    return " ".join(row if row[-1] in ".!?…:,;]" else f"{row}." for row in rows[:-1]) + f" {rows[-1]}"


def _guided(
    task: SelectEvidence, parsed: Parsed, turns: Sequence[int], vectors: Vectors, weights: Weights
) -> list[EvidenceRecord]:
    if not parsed.sentences:
        return []
    index = Index(parsed, vectors)
    records = []
    for question, query in zip(task.questions, vectors.matrix(task.questions), strict=True):
        expected = understand(question)
        scores = index.rank(expected, query, weights)
        order = [at for at in best_positions(scores, 8) if not index.sentences[at].text.endswith("?")]
        if not order or scores[order[0]] < weights.least(len(index.sentences)):
            continue
        near = [at for at in order if scores[at] >= scores[order[0]] - _CLOSE]
        chosen = sorted(_smallest(expected, near, index.sentences))
        sentences = [index.sentences[at] for at in chosen]
        said = " ".join(_statement(one, parsed) for one in sentences)
        records.append(EvidenceRecord(question, said, tuple(sorted({turns[one.line] for one in sentences}))))
    return records


def _smallest(expected: Expected, near: Sequence[int], sentences: Sequence[Sentence]) -> list[int]:
    """The best sentence; one more where it lacks the kind of answer and the other has it, with a word asked for."""
    best = near[0]
    typed = expected.kind in ("list", "yes_no", "phrase", "choice") or carries(expected, sentences[best]) > 0
    if typed:
        return [best]
    terms = set(expected.terms) - set(expected.names)
    for other in near[1:]:
        if carries(expected, sentences[other]) and terms & set(content_stems(sentences[other].core)):
            return [best, other]
    return [best]


def _statement(sentence: Sentence, parsed: Parsed) -> str:
    """The sentence under its speaker's name, days written out."""
    return f"{parsed.lines[sentence.line].speaker}: {resolve_dates(sentence.core, sentence.day)}".removeprefix(": ")


def _within(records: Sequence[EvidenceRecord], budget_tokens: int) -> list[EvidenceRecord]:
    """The records that fit, best first; at least one."""
    kept: list[EvidenceRecord] = []
    left = budget_tokens
    for record in records:
        left -= count_tokens(f"{record.question}\n{record.evidence}\n")
        if kept and left < 0:
            break
        kept.append(record)
    return kept
