"""Whatever a writer replies, no entry is made up: each is of its session or is not there, and the counts say why."""

from collections.abc import Sequence
from typing import Any

import pytest

from memgauge.memory.base import Query, Tools
from memgauge.memory.catalogue import make_system
from memgauge.memory.grounding import ground_of
from memgauge.protocol.conditions import EMPTY_STORE, write_store
from memgauge.records import Result
from memgauge.solvers.language_model import LanguageModelSolver
from memgauge.tasks.select_evidence import EvidenceRecord, Selection
from memgauge.tasks.summarise_session import SummaryLine

from .scripted_writers import FirstWords, HashEncoder, Parrot, history

SYSTEMS = ["verbatim", "extractive", "summary", "two_pass", "epc", "memwalker", "readagent", "memorybank"]
WRITTEN_BY_MODEL = ["summary", "two_pass", "epc", "memwalker", "readagent"]  # without it they keep nothing
CHOOSES = {"memwalker": "chooser_tasks", "readagent": "chooser_tasks"}
GARBAGE = {
    "empty": "",
    "apology": "I'm sorry, I cannot help with that.",
    "prose": "Sure! Here is a poem about winter.\nSnow falls upon silent hills.",
    "invented sources": "[Q] Who sings?\n[E] Elvis lives on Mars.\n[S] session_99_turn_99",
    "wrong source": "[Q] Who sings?\n[E] Elvis lives on Mars.\n[S] session_1_turn_1",
    "questions": "\n".join(f"{n}. Why does the sky look blue?" for n in range(1, 10_001)),
    "another language": "Собеседники обсуждали погоду.\n彼らは天気を話した。",
}
FAILURES = (
    *("status_empty", "status_parse_error", "sessions_failed", "lines_ungrounded", "refinements_failed"),
    *("ratings_failed", "proposals_failed", "selections_failed", "questions_surplus", "walks_stopped_by_failure"),
    *("records_ungrounded", "records_made_up_source", "records_malformed", "questions_without_page"),
)


def parrot(reply: str) -> Tools:
    return Tools(LanguageModelSolver(Parrot(reply)), HashEncoder())


def failures(counts: dict[str, int]) -> int:
    return sum(counts.get(name, 0) for name in FAILURES)


@pytest.mark.parametrize("kind", GARBAGE)
@pytest.mark.parametrize("name", SYSTEMS)
def test_garbage_invents_no_entry_and_shows_in_the_counts(name: str, kind: str) -> None:
    store = write_store(make_system(name, {}), history(), 2000, parrot(GARBAGE[kind]))
    said = {f"{turn.speaker}: {turn.text}" for _, turn in history().turns()}
    assert all(line in said for entry in store.entries for line in entry.text.splitlines())
    assert (store.warnings == (EMPTY_STORE,)) == (name in WRITTEN_BY_MODEL)
    assert failures(store.counts) >= (0 if store.counts.get("writer_tasks", 0) == 0 else 6)  # 6 sessions
    if name in WRITTEN_BY_MODEL and name != "epc":
        assert store.counts["sessions_failed"] == 6


@pytest.mark.parametrize("kind", GARBAGE)
@pytest.mark.parametrize("name", CHOOSES)
def test_garbage_of_a_chooser_ranks_stored_entries_only_and_shows_in_the_counts(name: str, kind: str) -> None:
    system = make_system(name, {})
    store = write_store(system, history(), 2000, Tools(FirstWords(), HashEncoder()))
    queries = [Query("Where did Ann move?"), Query("What is Bob allergic to?", "2023-09-01")]
    for ranking in system.retrieve(store, queries, parrot(GARBAGE[kind])):
        assert all(0 <= hit.position < len(store.entries) for hit in ranking.hits)
        assert failures(ranking.counts) > 0


def test_lines_that_hold_are_kept_beside_those_that_do_not() -> None:
    class Half:
        def solve(self, tasks: Sequence[Any]) -> list[Any]:
            lines = (
                SummaryLine("Ann is allergic to peanuts."),
                SummaryLine("As an AI, I moved."),
                SummaryLine("Hello!"),
            )
            return [Result(lines, "ok") for _ in tasks]

    store = write_store(make_system("summary", {}), history(), 2000, Tools(Half(), HashEncoder()))
    assert {entry.text for entry in store.entries} == {"Ann is allergic to peanuts."}
    assert (store.counts["lines_ungrounded"], store.counts["sessions_failed"]) == (12, 0)


def test_a_garbage_revision_keeps_the_first_pass() -> None:
    class Worse(FirstWords):
        def solve(self, tasks: Sequence[Any]) -> list[Any]:
            if tasks[0].name == "refine_summary":
                return [Result((SummaryLine("I'm sorry, I can't do that."),), "ok") for _ in tasks]
            return super().solve(tasks)

    revised = write_store(make_system("two_pass", {}), history(), 2000, Tools(Worse(), HashEncoder()))
    first = write_store(make_system("summary", {}), history(), 2000, Tools(FirstWords(), HashEncoder()))
    assert [entry.text for entry in revised.entries] == [entry.text for entry in first.entries]
    assert (revised.counts["refinements_failed"], revised.counts["sessions_failed"]) == (6, 0)


def test_a_record_with_a_true_source_and_a_foreign_statement_is_refused() -> None:
    records = (EvidenceRecord("Who?", "Elvis lives on Mars.", (0,)), EvidenceRecord("Where?", "Lisbon.", (0,)))

    class Selecting(FirstWords):
        def solve(self, tasks: Sequence[Any]) -> list[Any]:
            if tasks[0].name == "select_evidence":
                return [Result(Selection(records), "ok") for _ in tasks]
            return super().solve(tasks)

    store = write_store(make_system("epc", {}), history(), 2000, Tools(Selecting(), HashEncoder()))
    assert all("Elvis" not in entry.text for entry in store.entries)
    assert (len(store.entries), store.counts["records_ungrounded"]) == (6, 6)


@pytest.mark.parametrize(
    ("line", "holds"),
    [
        ("Ann moved.", True),
        ("She MOVES a lot", True),
        ("Zoë's café", True),
        ("北京", True),
        ("user: That is it.", True),
        ("The user sings.", False),
        ("2021", False),
        ("It was in 2021.", False),
        ("Paris.", False),
        ("", False),
        ("I am sorry, but I can't say where Ann moved.", False),
        ("Ann: I'm sorry, I can't come.", True),
    ],
)
def test_what_grounds_a_line(line: str, holds: bool) -> None:
    said = (("Ann", "I moved in 2021. It's near Zoë’s Café."), ("user", "That is it."), ("Li", "我在北京。"))
    assert ground_of(said).holds(line) is holds
