"""ReadAgent: one gist a session within its share, and the gists of the pages chosen for a question."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from memgauge.memory.base import Query, Ranking, Tools
from memgauge.memory.readagent import Readagent
from memgauge.protocol.conditions import retrieved, write_store
from memgauge.records import History, Question, Result, Session, Turn, Usage
from memgauge.solvers.extractive.choices import choose_pages
from memgauge.solvers.extractive.gist import write_gists
from memgauge.solvers.extractive.lexicon import content_stems
from memgauge.solvers.extractive.ranking import Vectors, Weights
from memgauge.solvers.language_model import LanguageModelSolver
from memgauge.tasks.choose_pages import ChoosePages
from memgauge.text.render import entry_tokens

from .scripted_writers import Parrot

SAYINGS = ["I moved to Lisbon in March.", "I adopted a cat called Mo.", "I quit my job at the bank."]
QUERIES = [Query("Where did Ann move?"), Query("What is the cat called?", "2023-09-01")]


class StemEncoder:
    """Bags of stems over 256 places."""

    def encode(self, texts: Sequence[str]) -> Any:
        rows = np.zeros((len(texts), 256), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for stem in content_stems(text):
                row[sum(map(ord, stem)) * 7 % 256] += 1
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


class Scripted:
    """One given result per gist task, one given list of pages per question."""

    def __init__(self, gists: Sequence[Any] = (), pages: Sequence[Any] = ()) -> None:
        self.gists, self.pages = gists, pages
        self.calls: list[list[Any]] = []

    def solve(self, tasks: Sequence[Any]) -> list[Any]:
        self.calls.append(list(tasks))
        given = self.pages if isinstance(tasks[0], ChoosePages) else self.gists
        return [
            Result(each, "ok" if each is not None else "parse_error", Usage(10, 5, 1))
            for each, _ in zip(given, tasks, strict=True)
        ]


class Extractive:
    """The two methods this system needs."""

    def solve(self, tasks: Sequence[Any]) -> list[Any]:
        method: Any = choose_pages if isinstance(tasks[0], ChoosePages) else write_gists
        return [Result(output, "ok") for output in method(tasks, Vectors(StemEncoder()), Weights())]


def tools(solver: Any) -> Tools:
    return Tools(solver, StemEncoder())


def history(*texts: str) -> History:
    return History(
        "h",
        "g",
        "test",
        tuple(
            Session(f"s{at}", f"2023-0{at + 1}-05", (Turn(f"t{at}", "Ann", text), Turn(f"b{at}", "Bob", " ")))
            for at, text in enumerate(texts or SAYINGS)
        ),
    )


def test_one_entry_a_session_in_one_call_from_the_turns_that_say_something() -> None:
    solver = Scripted(["Ann moved to Lisbon.", "Ann has a cat, Mo.", "Ann quit."])
    store = write_store(Readagent(), history(), 300, tools(solver))
    assert [len(call) for call in solver.calls] == [3]
    assert solver.calls[0][0].turns == (("Ann", SAYINGS[0]),)
    assert sum(task.budget_tokens for task in solver.calls[0]) <= 300
    assert [(entry.text, entry.sources, entry.date) for entry in store.entries] == [
        ("Ann moved to Lisbon.", ("t0",), "2023-01-05"),
        ("Ann has a cat, Mo.", ("t1",), "2023-02-05"),
        ("Ann quit.", ("t2",), "2023-03-05"),
    ]


def test_a_gist_longer_than_its_share_is_kept_up_to_a_line_or_cut() -> None:
    lines = "\n".join(f"Fact number {at} about Lisbon." for at in range(9))
    store = write_store(Readagent(), history(), 90, tools(Scripted([lines, "cat " * 500, "Ann quit."])))
    assert store.counts["dropped_over_budget"] == 0
    assert sum(map(entry_tokens, store.entries)) <= 90
    first, second, third = (entry.text for entry in store.entries)
    assert lines.startswith(first)
    assert first.count("\n") + 1 + store.counts["lines_dropped"] == 9
    assert set(second.split()) == {"cat"}
    assert (store.counts["lines_cut"], third) == (1, "Ann quit.")


def test_failed_gists_and_pages_without_a_share_are_counted() -> None:
    store = write_store(Readagent(), history(), 300, tools(Scripted(["Ann moved.", None, "Ann quit."])))
    assert [entry.sources for entry in store.entries] == [("t0",), ("t2",)]
    assert (store.counts["sessions_failed"], store.counts["status_parse_error"]) == (1, 1)
    assert (store.counts["writer_calls"], store.counts["writer_input_tokens"]) == (3, 30)
    solver = Scripted()
    assert write_store(Readagent(), history(), 9, tools(solver)).counts["sessions_without_share"] == 3
    assert solver.calls == []


def test_only_the_chosen_pages_are_ranked_in_the_order_named() -> None:
    solver = Scripted(SAYINGS, [(2, 0), ()])
    store = write_store(Readagent(pages=2), history(), 300, tools(solver))
    first, second = Readagent(pages=2).retrieve(store, QUERIES, tools(solver))
    assert [(hit.position, hit.score) for hit in first.hits] == [(2, 1.0), (0, 0.5)]
    assert first.counts == {
        "chooser_calls": 1, "chooser_input_tokens": 10, "chooser_output_tokens": 5, "chooser_tasks": 1,
    }  # fmt: skip
    assert (second.hits, second.counts["questions_without_page"]) == ((), 1)
    asked = solver.calls[-1]
    assert len(asked) == 2
    assert asked[1].gists == tuple((entry.date, entry.text) for entry in store.entries)
    assert (asked[1].question, asked[1].question_date, asked[1].limit) == (QUERIES[1].text, "2023-09-01", 2)


def test_a_question_is_shown_stored_text_only() -> None:
    solver = Scripted(["Ann moved.", "Cat.", "Job."], [(0,)])
    store = write_store(Readagent(), history(), 300, tools(solver))
    (ranking,) = Readagent().retrieve(store, QUERIES[:1], tools(solver))
    context = retrieved(Question("q", "h", QUERIES[0].text, "t"), store, ranking, 5, "topk", 5000)
    assert context.text == "[5 January 2023]\nAnn moved."


def test_an_unreadable_choice_ranks_nothing_and_is_counted() -> None:
    store = write_store(Readagent(), history(), 300, tools(Scripted(SAYINGS)))
    (ranking,) = Readagent().retrieve(store, QUERIES[:1], tools(Scripted((), [None])))
    assert ranking.hits == ()
    assert (ranking.counts["status_parse_error"], ranking.counts["questions_without_page"]) == (1, 1)


def test_an_empty_store_asks_nothing() -> None:
    solver = Scripted()
    store = write_store(Readagent(), History("h", "g", "test", (Session("s", None, ()),)), 100, tools(solver))
    assert Readagent().retrieve(store, QUERIES, tools(solver)) == [Ranking(())] * 2
    assert solver.calls == []


def test_without_a_language_model_the_page_with_the_answer_comes_first() -> None:
    store = write_store(Readagent(), history(), 300, tools(Extractive()))
    rankings = Readagent().retrieve(store, QUERIES, tools(Extractive()))
    firsts = [store.entries[ranking.hits[0].position].text for ranking in rankings]
    assert [text.startswith(f"Ann: {saying}") for text, saying in zip(firsts, SAYINGS, strict=False)] == [True, True]


def test_every_hyperparameter_has_its_source_on_the_card() -> None:
    assert list(Readagent.card) == [field.name for field in fields(Readagent)]


@pytest.mark.parametrize("reply", ["", "Pages 1 and 99", "Of course! Page 1.", "Первая страница", "1, " * 10_000])
def test_garbage_of_a_language_model_never_crashes_and_shows_in_counts(reply: str) -> None:
    garbage = tools(LanguageModelSolver(Parrot(reply)))
    store = write_store(Readagent(), history(), 300, garbage)
    assert store.entries == ()
    assert store.counts["sessions_failed"] == 3
    assert store.counts["lines_ungrounded"] == (3 if reply else 0)
    kept = write_store(Readagent(), history(), 300, tools(Scripted(SAYINGS)))
    (ranking,) = Readagent().retrieve(kept, QUERIES[:1], garbage)
    assert ranking.hits == ()
    assert ranking.counts["questions_without_page"] == 1
    assert ranking.counts["status_parse_error" if reply else "status_empty"] == 1
