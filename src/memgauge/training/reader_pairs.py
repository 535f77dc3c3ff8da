"""What the tuned reader learns from: questions of generated train histories, a context, the answer.

Every context is rendered as the protocol renders one, so that training shows the reader what it will read. Four
of five contexts hold the evidence: most among a few other turns, some among as many as a store shows. The rest
lacks it, and the answer is then to decline, as it is for every question without an answer.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from memgauge.datasets.synthetic.generate import generate
from memgauge.datasets.synthetic.options import SyntheticOptions
from memgauge.errors import InputError
from memgauge.records import Benchmark, History, Question, Session, Turn
from memgauge.retrieval.bm25 import Bm25Index
from memgauge.seeds import generator, named_seed
from memgauge.tasks.answer_question import AnswerQuestion
from memgauge.text.render import render_turn, render_turns

REFUSAL = "I don't know"  # as prompts/answer_question.txt asks for it
MISSING, STORE_LIKE = 0.05, 0.1  # shares of contexts without the evidence, and of contexts of a store's size
MOST_DISTRACTORS = 3
STORE_TURNS = (5, 7)
SESSIONS, QUESTIONS = 24, 15  # of a history
SPARE = 1.4  # histories made beyond the pairs asked for: some pairs are left out

Pair = tuple[History, tuple[Question, ...]]


@dataclass(frozen=True, slots=True)
class ReaderTraining:
    """How the reader is tuned: `pairs` of question and context, LoRA of `rank` on the top `layers`, and how it is
    checked on `held_out` questions of the split val, with `recent_tokens` (cl100k_base) of recent turns.

    A pair of more than `max_tokens` (the model's own) is left out; at most the share `declining` of the pairs has
    "I don't know" as its reply. Raises InputError.
    """

    pairs: int = 128
    epochs: int = 1
    rank: int = 16
    layers: int = 15
    learning_rate: float = 1e-3
    batch: int = 8
    max_tokens: int = 1024
    held_out: int = 20
    recent_tokens: int = 300
    declining: float = 0.12

    def __post_init__(self) -> None:
        for name in ("pairs", "epochs", "rank", "layers", "batch", "max_tokens", "held_out", "recent_tokens"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise InputError(f"{name} is {value!r}; it must be a whole number of at least 1")
        for name in ("learning_rate", "declining"):
            value = getattr(self, name)
            if not isinstance(value, float) or not 0 < value < 1:
                raise InputError(f"{name} is {value!r}; it must be a number between 0 and 1, such as 0.001")


@dataclass(frozen=True, slots=True)
class ReaderPair:
    """A reader's task and the reply to learn; the question's golds and the context's turns for the leak check."""

    task: AnswerQuestion
    target: str
    golds: tuple[str, ...]
    turns: tuple[str, ...]


def training_histories(pairs: int, held_out: int, seed: int) -> list[Pair]:
    """Histories of the reader's own, by a seed no benchmark uses: as many of the splits train and val as needed."""
    train = math.ceil(pairs * SPARE / QUESTIONS)
    val = math.ceil(held_out / QUESTIONS)
    total = train + val + 1  # the generator also makes a test history; it is not used
    options = SyntheticOptions(
        histories=total,
        sessions_per_history=SESSIONS,
        questions_per_history=QUESTIONS,
        val_share=val / total,
        test_share=1 / total,
    )
    return list(generate(options, named_seed(seed, "tune_reader", "histories")))


def reader_pairs(
    histories: Iterable[Pair], count: int, seed: int, evaluated: Benchmark, declining: float = 1.0
) -> list[ReaderPair]:
    """The first `count` pairs of the split train, in history order, that have nothing of the evaluated benchmark.

    Templates coincide by chance, so such pairs are left out, as are pairs that decline beyond the share `declining`
    (a reader that saw too many declines too often); InputError when that leaves too few.
    """
    marks = Marks.of(evaluated)
    made, declines = 0, int(declining * count)
    pairs: list[ReaderPair] = []
    for history, questions in histories:
        if history.split != "train":
            continue
        for pair in _of_history(history, questions, seed):
            made += 1
            declines -= pair.target == REFUSAL
            if len(pairs) < count and not marks.meet(pair) and (pair.target != REFUSAL or declines >= 0):
                pairs.append(pair)
    if len(pairs) < count:
        raise InputError(
            f"only {len(pairs)} of {made} training pairs can be used: the others have something of {evaluated.name} "
            f"or decline too often; ask for fewer than {count}, or train on histories of another seed"
        )
    return pairs


def _of_history(history: History, questions: Sequence[Question], seed: int) -> Iterator[ReaderPair]:
    turns = list(history.turns())
    index = Bm25Index([render_turn(turn) for _, turn in turns])
    for question in questions:
        draws = generator(seed, "tune_reader", "pair", question.id)
        yield _pair(question, turns, index, draws)


def _pair(
    question: Question, turns: list[tuple[Session, Turn]], index: Bm25Index, draws: np.random.Generator
) -> ReaderPair:
    """One question with a context drawn for it."""
    evidence = [at for at, (_, turn) in enumerate(turns) if turn.id in question.evidence]
    missing = not evidence or draws.random() < MISSING
    big = draws.random() < STORE_LIKE
    wanted = draws.integers(*STORE_TURNS, endpoint=True) if big else draws.integers(0, MOST_DISTRACTORS, endpoint=True)
    others = _distractors(question, len(turns), set(evidence), int(wanted), index, draws)
    shown = sorted({*others, *([] if missing else evidence)})
    context = render_turns(turns[at] for at in shown)
    return ReaderPair(
        AnswerQuestion(question.text, context, question.date),
        REFUSAL if missing else question.golds[0],
        question.golds,
        tuple(turns[at][1].text for at in shown),
    )


def _distractors(
    question: Question, size: int, evidence: set[int], wanted: int, index: Bm25Index, draws: np.random.Generator
) -> list[int]:
    """Places of other turns: each with even chance one like the question, best first, or any."""
    near = [hit.position for hit in index.search(question.text, wanted + len(evidence))]
    found: list[int] = []
    for place in draws.permutation(size).tolist():
        if len(found) == wanted:
            break
        like = next((at for at in near if at not in evidence and at not in found), None)
        choice = like if like is not None and draws.random() < 0.5 else place
        if choice not in evidence and choice not in found:
            found.append(choice)
    return found


@dataclass(frozen=True, slots=True)
class Marks:
    """What a benchmark may be known by: its question-and-gold pairs and its evidence turns."""

    benchmark: str
    asked: frozenset[tuple[str, str]]
    evidence: frozenset[str]

    @classmethod
    def of(cls, benchmark: Benchmark) -> "Marks":
        """The marks of every question, texts without case and outer white space."""
        texts = {(h.id, turn.id): turn.text for h in benchmark.histories for _, turn in h.turns()}
        shown = ((q.history_id, turn_id) for q in benchmark.questions for turn_id in q.evidence)
        return cls(
            benchmark.name,
            frozenset((_plain(q.text), _plain(gold)) for q in benchmark.questions for gold in q.golds),
            frozenset(_plain(texts[place]) for place in shown if place in texts),
        )

    def meet(self, pair: ReaderPair) -> str:
        """What a pair has of the benchmark, in words; empty for nothing."""
        if any((_plain(pair.task.question), _plain(gold)) in self.asked for gold in pair.golds):
            return f"the question {pair.task.question!r} with its answer"
        if told := [turn for turn in pair.turns if _plain(turn) in self.evidence]:
            return f"the evidence {told[0]!r}"
        return ""


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def check_leaks(pairs: Iterable[ReaderPair], evaluated: Benchmark) -> None:
    """Raises InputError for the first pair that asks or shows what the evaluated benchmark does."""
    marks = Marks.of(evaluated)
    for pair in pairs:
        if met := marks.meet(pair):
            raise InputError(f"a training pair holds {met}, which {evaluated.name} evaluates; train on other histories")
