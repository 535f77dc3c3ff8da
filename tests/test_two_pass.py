"""Summaries in two passes: what the second is shown, and what becomes of either one's failure."""

from memgauge.memory.base import Tools
from memgauge.memory.summary import Summary
from memgauge.memory.two_pass import TwoPass
from memgauge.records import History, Result, Session, Turn, Usage
from memgauge.tasks.refine_summary import RefineSummary
from memgauge.tasks.summarise_session import SummariseSession, SummaryLine
from memgauge.text.render import entry_tokens

FIRST = tuple(SummaryLine(f"Fact {number} of somebody or other.", (number,)) for number in range(4))
SECOND = (SummaryLine("Zoe moved to Lisbon on 3 March.", (1,)), SummaryLine("Bob hates peanuts."))


def history(sessions: int = 3) -> History:
    return History("h", "g", "test", tuple(_session(at) for at in range(sessions)))


def _session(at: int) -> Session:
    said = "I say {} facts of Zoe and Bob in session {}, line by line."
    turns = tuple(Turn(f"t{at}.{turn}", "Ann", said.format(turn, at)) for turn in range(4))
    return Session(f"s{at}", f"2023-0{at + 1}-05", turns)


class Writer:
    """Gives the same result to every task of a kind, but for the sessions whose date is named."""

    def __init__(self, first=FIRST, second=SECOND, fails=()) -> None:
        self.outputs = {"summarise_session": first, "refine_summary": second}
        self.fails = fails
        self.calls = []

    def solve(self, tasks):
        self.calls.append(list(tasks))
        return [self._result(task) for task in tasks]

    def _result(self, task):
        if (task.name, task.date) in self.fails:
            return Result(None, "truncated", Usage(7, 3, 1))
        return Result(self.outputs[task.name], "ok", Usage(10, 5, 1))


def write(solver: Writer, budget: int = 600, system=None):
    return (system or TwoPass()).write(history(), budget, Tools(solver, None))


def test_all_first_passes_are_one_call_and_all_second_ones_another() -> None:
    solver = Writer()
    written = write(solver)
    assert [[type(task) for task in call] for call in solver.calls] == [[SummariseSession] * 3, [RefineSummary] * 3]
    assert (written.counts["writer_tasks"], written.counts["writer_output_tokens"]) == (6, 30)


def test_the_refined_notes_are_the_entry() -> None:
    written = write(Writer())
    assert [entry.text for entry in written.entries] == ["Zoe moved to Lisbon on 3 March.\nBob hates peanuts."] * 3
    assert written.entries[1].sources == ("t1.0", "t1.1", "t1.2", "t1.3")
    assert written.entries[1].date == "2023-02-05"
    assert [entry.id for entry in written.entries] == ["0", "1", "2"]


def test_the_second_pass_works_under_the_same_share_and_is_shown_the_notes_that_fit() -> None:
    solver = Writer()
    write(solver, 90)
    first, second = solver.calls
    assert [task.budget_tokens for task in first] == [task.budget_tokens for task in second]
    assert [task.lines for task in second] == [FIRST[:2]] * 3


def test_a_failed_refinement_keeps_the_first_pass_and_is_counted() -> None:
    written = write(Writer(fails=[("refine_summary", "2023-02-05")]))
    summaries = write(Writer(), system=Summary())
    assert written.entries[1] == summaries.entries[1]
    assert written.entries[0] != summaries.entries[0]
    assert (written.counts["refinements_failed"], written.counts["sessions_failed"]) == (1, 0)
    assert written.counts["status_truncated"] == 1


def test_a_failed_first_pass_loses_the_session_and_is_not_refined() -> None:
    solver = Writer(fails=[("summarise_session", "2023-02-05")])
    written = write(solver)
    assert [entry.date for entry in written.entries] == ["2023-01-05", "2023-03-05"]
    assert len(solver.calls[1]) == 2
    assert (written.counts["sessions_failed"], written.counts["refinements_failed"]) == (1, 0)


def test_a_refinement_without_a_line_keeps_the_first_pass() -> None:
    written = write(Writer(second=()))
    assert written.entries == write(Writer(), system=Summary()).entries
    assert written.counts["refinements_failed"] == 3


def test_an_endless_refinement_stays_within_the_budget() -> None:
    written = write(Writer(second=tuple(SummaryLine(f"Line {at} goes on and on.") for at in range(10_000))), 200)
    assert 100 < sum(map(entry_tokens, written.entries)) <= 200
    assert written.counts["lines_dropped"] > 29_000
