"""A variant is written, ranked, read and scored exactly as the stages do it for a cell of the grid."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256

import numpy as np
import pytest
from numpy.typing import NDArray

from memgauge.datasets.synthetic.generate import generate
from memgauge.datasets.synthetic.options import SyntheticOptions
from memgauge.errors import InputError
from memgauge.memory.base import Query, Tools
from memgauge.memory.catalogue import make_system
from memgauge.protocol.answering import answer
from memgauge.protocol.conditions import CUT_ENTRY, complete, retrieved, write_store
from memgauge.protocol.questions import by_history, entry_texts, evidence_texts
from memgauge.protocol.variants import Cut, Once, Variant, keep, read
from memgauge.records import Benchmark, Context, Entry, Result, Store, Usage
from memgauge.solvers.extractive.solver import ExtractiveSolver
from memgauge.tasks.answer_question import AnswerQuestion
from memgauge.text.words import words

CUT = Cut(3, "topk", 5000)


@dataclass
class HashEncoder:
    """Unit vectors of hashed words; it counts the texts it is given."""

    texts: int = 0

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += len(texts)
        vectors = np.zeros((len(texts), 64), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in words(text):
                vectors[row, sha256(word.encode()).digest()[0] % 64] += 1
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.divide(vectors, lengths, out=vectors, where=lengths > 0)


@pytest.fixture(scope="module")
def prepared() -> Benchmark:
    options = SyntheticOptions(
        histories=2, sessions_per_history=4, turns_per_session=6, questions_per_history=3, filler="short"
    )
    pairs = list(generate(options, seed=17))
    questions = tuple(question for _, asked in pairs for question in asked)
    return Benchmark("synthetic", tuple(history for history, _ in pairs), questions)


@pytest.fixture(scope="module")
def tools() -> Tools:
    encoder = HashEncoder()
    return Tools(ExtractiveSolver(encoder), encoder)


@pytest.mark.parametrize("system", ["summary", "extractive", "verbatim"])
def test_a_variant_keeps_and_retrieves_what_the_harness_would(prepared: Benchmark, tools: Tools, system: str) -> None:
    kept = keep(prepared, Variant("any name", system, {}, 300), tools, CUT)
    memory = make_system(system, {})
    for history in prepared.histories:
        store = write_store(memory, history, 300, tools)
        assert kept.stores[history.id] == store
        questions = [each for each in prepared.questions if each.history_id == history.id]
        rankings = memory.retrieve(store, [Query(each.text, each.date) for each in questions], tools)
        for question, ranking in zip(questions, rankings, strict=True):
            assert kept.contexts[question.id] == retrieved(question, store, ranking, 3, "topk", 5000)
    assert kept.name == "any name"


def test_reading_gives_the_same_answers_as_one_call_for_each_context(prepared: Benchmark, tools: Tools) -> None:
    kept = keep(prepared, Variant("summary", "summary", {}, 300), tools, CUT)
    items = {(item.question_id, item.condition): item for item in read(prepared, kept, tools.solver)}
    assert len(items) == 2 * len(prepared.questions)
    for question in prepared.questions:
        for context in (complete(question, kept.stores[question.history_id]), kept.contexts[question.id]):
            (alone,) = answer([question], [context], tools.solver)
            item = items[question.id, context.condition]
            assert item.context_tokens == context.tokens
            assert item.status == alone.status == "ok"
            assert item.type == question.type


def test_options_and_budget_reach_the_system(prepared: Benchmark, tools: Tools) -> None:
    small = keep(prepared, Variant("a", "verbatim", {"passage_tokens": 40}, 200), tools, CUT)
    large = keep(prepared, Variant("b", "verbatim", {"passage_tokens": 120}, 400), tools, CUT)
    for history in prepared.histories:
        assert small.stores[history.id].budget_tokens == 200 < large.stores[history.id].budget_tokens
        longest = [max(len(entry.sources) for entry in each.stores[history.id].entries) for each in (small, large)]
        assert longest[0] < longest[1]


def test_an_unknown_option_is_refused_by_name(prepared: Benchmark, tools: Tools) -> None:
    with pytest.raises(InputError, match="passage_size"):
        keep(prepared, Variant("a", "verbatim", {"passage_size": 40}, 200), tools, CUT)


def test_all_evidence_in_the_store_gives_full_turn_recall_under_csm(prepared: Benchmark, tools: Tools) -> None:
    kept = keep(prepared, Variant("all", "extractive", {"piece_tokens": 4000}, 100_000), tools, CUT)
    items = read(prepared, kept, tools.solver)
    recalls = [each.turn_recall for each in items if each.condition == "CSM" and each.turn_recall is not None]
    assert recalls
    assert set(recalls) == {1.0}


def test_questions_are_grouped_by_history_in_order(prepared: Benchmark) -> None:
    groups = by_history(prepared.questions)
    assert list(groups) == [history.id for history in prepared.histories]
    assert [each for group in groups.values() for each in group] == list(prepared.questions)


def test_evidence_is_rendered_with_its_speaker(prepared: Benchmark) -> None:
    texts = evidence_texts(prepared)
    for question in prepared.questions:
        assert len(texts[question.id]) == len(question.evidence)
        assert all(text.startswith(("user: ", "assistant: ")) for text in texts[question.id])


def test_of_a_cut_entry_only_what_was_shown_counts() -> None:
    store = Store("h", "s", (Entry("e", "Ann: I moved to Rome", ()), Entry("f", "Bo: no", ())), 9, 9)
    whole = Context("q", "RM", "[undated]\nBo: no", 5, ("f",))
    cut = Context("q", "RM", "[undated]\nAnn: I", 5, ("e",), (CUT_ENTRY,))
    assert entry_texts(whole, store) == ["Bo: no"]
    assert entry_texts(cut, store) == ["Ann: I"]


@dataclass
class Counting:
    """A solver that numbers its calls and fails where the question says so."""

    asked: list[str] = field(default_factory=list)

    def solve(self, tasks: Sequence[AnswerQuestion]) -> list[Result[str]]:
        self.asked += [task.question for task in tasks]
        return [
            Result(None, "provider_error") if task.question == "broken" else Result(task.context, "ok", Usage(1, 1, 1))
            for task in tasks
        ]


def test_equal_tasks_are_solved_once_and_told_every_time() -> None:
    inner = Counting()
    solver = Once(inner)  # type: ignore[arg-type]  # it solves one kind of task
    first = solver.solve([AnswerQuestion("a", "x"), AnswerQuestion("b", "y"), AnswerQuestion("a", "x")])
    second = solver.solve([AnswerQuestion("b", "y"), AnswerQuestion("a", "z")])
    assert [result.output for result in first + second] == ["x", "y", "x", "y", "z"]
    assert inner.asked == ["a", "b", "a"]
    assert second[0].usage == Usage(1, 1, 1)


def test_what_a_provider_failed_at_is_asked_again() -> None:
    inner = Counting()
    solver = Once(inner)  # type: ignore[arg-type]  # it solves one kind of task
    for _ in range(2):
        assert [each.status for each in solver.solve([AnswerQuestion("broken", "")] * 2)] == ["provider_error"] * 2
    assert inner.asked == ["broken", "broken"]
