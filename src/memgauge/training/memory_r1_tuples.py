"""What Memory-R1's two agents learn from: tuples of train histories only (arXiv 2508.19828, its data and order).

The answer agent comes first: a question with the entries retrieved for it. Then the manager: the bank of the 50
turns before a turn, the turn's facts, and the questions linked to the turn, which the answer agent, frozen by then,
has to answer from the bank that the manager leaves (`memory_r1_reward`). Adversarial questions are left out.
Ours: a question is linked to a turn when the turn is evidence of it and all its evidence lies in those turns; the
bank of a tuple is made by whoever writes at the time. The training itself is GRPO's (`grpo`), for either agent;
one reimplementation takes 8 completions at temperature 1, rate 1e-6, KL weight 0.001, batches of 32, prompts of 2,048
and replies of 512 tokens. Base models (the paper's have 7 to 8 billion parameters) are a role's matter.
The paper trains on one LoCoMo conversation of ten and validates on one; here the caller's split decides.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from memgauge.errors import InputError
from memgauge.memory.base import Query, Tools
from memgauge.memory.memory_r1 import MemoryR1, Noted, Vectors, fact_vectors
from memgauge.memory.memory_r1_bank import Bank, Said
from memgauge.protocol.conditions import retrieved, write_store
from memgauge.records import Benchmark, History, Question
from memgauge.tasks.answer_with_selection import AnswerWithSelection
from memgauge.tasks.manage_memories import ManageMemories
from memgauge.training.reader_pairs import Marks

Pair = tuple[History, tuple[Question, ...]]
TURNS = 50  # of the bank before a turn (one reimplementation takes 24)


@dataclass(frozen=True, slots=True)
class Linked:
    """A question as the answer agent may see it, and its golds, which only the reward reads."""

    text: str
    date: str | None
    golds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One question with the entries retrieved for it."""

    history_id: str
    task: AnswerWithSelection
    golds: tuple[str, ...]

    @property
    def asked(self) -> tuple[Linked, ...]:
        """The question."""
        return (Linked(self.task.question, self.task.question_date, self.golds),)


@dataclass(frozen=True, slots=True)
class ManagerRow:
    """One turn: the manager's task, the bank it acts on, the numbers of the entries shown, the linked questions."""

    history_id: str
    task: ManageMemories
    bank: Bank
    shown: tuple[int, ...]
    said: Said
    asked: tuple[Linked, ...]


def answer_rows(
    pairs: Iterable[Pair], system: MemoryR1, tools: Tools, write_budget_tokens: int, read_budget_tokens: int
) -> list[AnswerRow]:
    """A row for each answerable question. Raises InputError for a history that is not of the split train."""
    rows = []
    for history, questions in _train_only(pairs):
        store = write_store(system, history, write_budget_tokens, tools)
        asked = _answerable(questions)
        rankings = system.retrieve(store, [Query(one.text, one.date) for one in asked], tools)
        for question, ranking in zip(asked, rankings, strict=True):
            context = retrieved(question, store, ranking, system.entries, "topk", read_budget_tokens)
            task = AnswerWithSelection(question.text, context.text, question.date)
            rows.append(AnswerRow(history.id, task, question.golds))
    return rows


def manager_rows(
    pairs: Iterable[Pair], system: MemoryR1, tools: Tools, turns: int = TURNS, most: int | None = None
) -> list[ManagerRow]:
    """A row for each turn that tells facts and has linked questions, at most the first `most` (None: all).

    Raises InputError for a history that is not of the split train.
    """
    rows: list[ManagerRow] = []
    for history, questions in _train_only(pairs):
        for row in _of_history(history, _answerable(questions), system, tools, turns):
            if most is not None and len(rows) == most:
                return rows
            rows.append(row)
    return rows


def without_leaks(rows: Sequence[AnswerRow | ManagerRow], evaluated: Benchmark) -> list[AnswerRow | ManagerRow]:
    """The rows that neither ask a question of the evaluated benchmark with its gold nor show its evidence.

    Texts of generated histories coincide by chance, so such rows are left out. Raises InputError when none is left.
    """
    marks = Marks.of(evaluated)
    kept = [row for row in rows if not _leaks(row, marks)]
    if rows and not kept:
        raise InputError(f"every training row has something of {evaluated.name}; train on other histories")
    return kept


def check_leaks(rows: Iterable[AnswerRow | ManagerRow], evaluated: Benchmark) -> None:
    """Raises InputError for the first row that has something of the evaluated benchmark."""
    marks = Marks.of(evaluated)
    for row in rows:
        if leak := _leaks(row, marks):
            raise InputError(f"a training row of {row.history_id} holds {leak}, which {evaluated.name} evaluates")


def _leaks(row: AnswerRow | ManagerRow, marks: Marks) -> str:
    """What a row has of the benchmark, in words; empty for nothing."""
    for question in row.asked:
        if any((_plain(question.text), _plain(gold)) in marks.asked for gold in question.golds):
            return f"the question {question.text!r} with its answer"
    prompt = _plain("\n".join(message["content"] for message in row.task.messages()))
    return next((f"the evidence {told!r}" for told in sorted(marks.evidence) if told and told in prompt), "")


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _train_only(pairs: Iterable[Pair]) -> Iterator[Pair]:
    for history, questions in pairs:
        if history.split != "train":
            raise InputError(f"history {history.id!r} is of the split {history.split}; give only train histories")
        yield history, questions


def _answerable(questions: Iterable[Question]) -> list[Question]:
    return [question for question in questions if question.golds and not question.abstention]


def _of_history(
    history: History, questions: Sequence[Question], system: MemoryR1, tools: Tools, turns: int
) -> Iterator[ManagerRow]:
    places = {turn.id: at for at, (_, turn) in enumerate(history.turns())}
    noted = system.note(history, tools.solver, Counter())
    vectors = fact_vectors(noted, tools.encoder)
    for number, step in enumerate(noted):
        first = places[step.said.sources[0]] - turns
        asked = tuple(Linked(one.text, one.date, one.golds) for one in questions if _linked(one, step, places, first))
        if asked:
            before = [one for one in noted[:number] if places[one.said.sources[0]] >= first]
            bank = _bank(before, system, tools, vectors)
            shown, task = system.consult(bank, step, tools.encoder, vectors)
            yield ManagerRow(history.id, task, bank, shown, step.said, asked)


def _linked(question: Question, step: Noted, places: dict[str, int], first: int) -> bool:
    """Whether the step is evidence of the question and no evidence lies before `first` or after the step."""
    if not set(question.evidence) & set(step.said.sources) or question.unresolved:
        return False
    last = places[step.said.sources[-1]]
    return all(first <= places.get(turn, -1) <= last for turn in question.evidence)


def _bank(noted: Sequence[Noted], system: MemoryR1, tools: Tools, vectors: Vectors) -> Bank:
    bank = Bank()
    for step in noted:
        bank = system.manage(bank, step, tools, vectors, Counter())
    return bank
