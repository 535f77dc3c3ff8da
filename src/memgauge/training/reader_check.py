"""How well a reader does on histories it was not trained on: with evidence, on recent turns, without context."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from memgauge.llm.chat import ChatModel, ChatRequest
from memgauge.metrics.lexical import best, contains_match, token_f1
from memgauge.protocol.conditions import no_memory, oracle, recent
from memgauge.records import Context, History, Question
from memgauge.tasks.answer_question import AnswerQuestion
from memgauge.text.refusals import is_refusal

CONDITIONS = ("OE", "TFC", "NM")
Scores = dict[str, dict[str, float | None]]


@dataclass(frozen=True, slots=True)
class Held:
    """One held-out question in one condition."""

    question: Question
    context: Context


def held_out(
    histories: Sequence[tuple[History, tuple[Question, ...]]], count: int, recent_tokens: int
) -> tuple[Held, ...]:
    """The first `count` questions, each in every condition; unanswerable ones have no evidence to show under OE.

    Histories should stand one after the other: few of them, asked often, are read fastest.
    """
    found: list[Held] = []
    pairs = ((history, question) for history, questions in histories for question in questions)
    for history, question in islice(pairs, count):
        contexts = [oracle(question, history), *recent([question], history, recent_tokens), no_memory(question)]
        found += [Held(question, context) for context in contexts]
    return tuple(found)


def check_reader(model: ChatModel, held: Sequence[Held], reply_tokens: int) -> Scores:
    """Mean scores by condition, None without an item: answerable questions by `f1`, `contains_match`, `words` and
    `refused`, unanswerable ones by `declined`. A reply cut at `reply_tokens` counts as it stands.
    """
    tasks = [AnswerQuestion(each.question.text, each.context.text, each.question.date) for each in held]
    replies = model.generate([ChatRequest(tuple(task.messages()), reply_tokens) for task in tasks])
    answers = [(each, reply.text.strip()) for each, reply in zip(held, replies, strict=True)]
    return {
        condition: _scores([(each.question, text) for each, text in answers if each.context.condition == condition])
        for condition in CONDITIONS
    }


def _scores(answers: Sequence[tuple[Question, str]]) -> dict[str, float | None]:
    answered = [(question, text) for question, text in answers if question.golds]
    unanswerable = [text for question, text in answers if question.abstention]

    def mean(score: Callable[[Question, str], float | None]) -> float | None:
        return _mean([score(question, text) for question, text in answered])

    return {
        "questions": len(answered),
        "f1": mean(lambda question, text: best(token_f1, text, question.golds)),
        "contains_match": mean(lambda question, text: best(contains_match, text, question.golds)),
        "words": mean(lambda question, text: len(text.split())),
        "refused": mean(lambda question, text: float(is_refusal(text))),
        "unanswerable": len(unanswerable),
        "declined": _mean([float(is_refusal(text)) for text in unanswerable]),
    }


def _mean(scores: Sequence[float | None]) -> float | None:
    known = [score for score in scores if score is not None]
    return sum(known) / len(known) if known else None
