"""BudgetMem: raw passages at write time; filter, notes and summary at three tiers at query time."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from memgauge.errors import InputError
from memgauge.memory.base import Query, Tools
from memgauge.memory.budgetmem import Budgetmem, Routed, asked_of
from memgauge.memory.budgetmem_modules import (
    TIERS,
    Asked,
    closest,
    concatenated,
    keyword_shares,
    listed,
    mixed_shares,
    passing,
    ranked,
    sectioned,
    statements,
)
from memgauge.memory.budgetmem_pipeline import MODULES, Fixed, run
from memgauge.memory.verbatim import Verbatim
from memgauge.protocol.conditions import retrieved, write_store
from memgauge.records import Context, Entry, History, Question, Result, Session, Store, Turn, Usage
from memgauge.solvers.extractive.lexicon import content_stems
from memgauge.solvers.extractive.ranking import Vectors, Weights
from memgauge.solvers.extractive.relevance import extract_relations, score_relevance
from memgauge.solvers.extractive.solver import ExtractiveSolver
from memgauge.tasks.base import ParseFailure, Task
from memgauge.tasks.extract_relations import ASPECTS, ExtractRelations
from memgauge.tasks.score_relevance import ScoreRelevance
from memgauge.text.tokens import count_tokens

FAILED = "failed"
PASSAGES = (
    Entry("0", "Ann: I moved to Lisbon with Zoe.\nBob: Do you like it?", ("t0", "t1"), "2023-05-08"),
    Entry("1", "Bob: The weather is nice.\nBob: We painted a wall yesterday.", ("t2",), "2023-06-10"),
    Entry("2", "Ann: On 3 March I sold the old car.", ("t3",), "2023-07-01"),
)
WHERE = Query("Where did Ann move?", "2023-09-01")


class StemEncoder:
    """Bags of stems over 256 places."""

    def encode(self, texts: Sequence[str]) -> Any:
        rows = np.zeros((len(texts), 256), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for stem in content_stems(text):
                row[sum(map(ord, stem)) * 7 % 256] += 1
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


class Scripted:
    """Scores the first passage 10 and others 0, names one relation an aspect, sums up in one word; or always fails."""

    def __init__(self, fails: Sequence[str] = ()) -> None:
        self.fails = fails
        self.calls: list[list[Any]] = []

    def solve(self, tasks: Sequence[Any]) -> list[Any]:
        self.calls.append(list(tasks))
        return [
            Result(None, "parse_error", Usage(10, 1, 1))
            if task.name in self.fails
            else Result(self._output(task), "ok", Usage(10, 5, 1))
            for task in tasks
        ]

    def _output(self, task: Any) -> Any:
        if isinstance(task, ScoreRelevance):
            return (10, *(0 for _ in task.passages[1:]))
        return (f"a {task.aspect} note",) if isinstance(task, ExtractRelations) else "Lisbon"


def system(**options: Any) -> Budgetmem:
    return Budgetmem(**options)


def play(tier: Any, solver: Any = None, *asked: Asked, **options: Any) -> Any:
    chosen = list(asked) or [Asked(WHERE, PASSAGES)]
    return run(chosen, Tools(solver or Scripted(), StemEncoder()), system(**options).settings, Fixed(tier))


def read(task: Any, reply: Any) -> Any:
    parsed = task.parse(reply if isinstance(reply, str) else json.dumps(reply))
    return FAILED if isinstance(parsed, ParseFailure) else parsed


def solve(method: Any, *tasks: Any) -> Any:
    return method(tasks, Vectors(StemEncoder()), Weights())


# --- replies


@pytest.mark.parametrize(
    ("reply", "scores"),
    [
        ({"scores": [0, 10]}, (0, 10)), ('Here: {"scores": [1, 2]}', (1, 2)), ({"scores": [1]}, FAILED),
        ({"scores": [1, 2, 3]}, FAILED), ({"scores": [1, 11]}, FAILED), ({"scores": [-1, 1]}, FAILED),
        ({"scores": [0.5, 1]}, FAILED), ({"scores": ["1", 1]}, FAILED), ({"scores": [True, 1]}, FAILED),
        ({}, FAILED), ("1, 2", FAILED), ("", FAILED), ('{"scores": [1, 2', FAILED),
    ],
)  # fmt: skip
def test_scores_are_whole_numbers_one_a_passage(reply: Any, scores: Any) -> None:
    assert read(ScoreRelevance("Who?", ((None, "a"), (None, "b"))), reply) == scores


@pytest.mark.parametrize(
    ("reply", "relations"),
    [
        ({"relations": []}, ()), ({"relations": ["a - b", "a  - b", "c"]}, ("a - b", "c")),
        ({"relations": ["?"]}, FAILED), ({"relations": [[]]}, FAILED), ({"relations": "a"}, FAILED),
        ({"relations": ["x"] * 13}, FAILED), ({}, FAILED), ("none", FAILED),
    ],
)  # fmt: skip
def test_relations_are_texts_in_one_object(reply: Any, relations: Any) -> None:
    assert read(ExtractRelations("entity", "Who?", ()), reply) == relations


def test_tasks_keep_the_contract_and_an_aspect_has_its_own_instruction() -> None:
    shown = (("2023-05-08", "Ann: I {moved}."), (None, "Bob: Hi."))
    scores = ScoreRelevance("Who?", shown)
    aspects = [ExtractRelations(aspect, "Who?", shown) for aspect in ASPECTS]
    for task in (scores, *aspects):
        assert isinstance(task, Task)
        assert "None" not in task.messages()[1]["content"]
        assert "[8 May 2023]\nAnn: I {moved}." in task.messages()[1]["content"]
        assert "Today is" not in task.messages()[1]["content"]
    assert "The 2 scores:" in scores.messages()[1]["content"]
    assert len({task.messages()[0]["content"] for task in aspects}) == 3
    assert all("{" not in task.messages()[0]["content"].replace('{"relations"', "") for task in aspects)


# --- the store


def tea(session: int, turn: int) -> Turn:
    return Turn(f"t{session}.{turn}", "Ann", f"I like tea number {session} {turn}.")


def history(turns: int = 30) -> History:
    sessions = tuple(
        Session(f"s{s}", f"2023-0{s + 1}-05", tuple(tea(s, t) for t in range(turns)))
        for s in range(3)
    )  # fmt: skip
    return History("h", "g", "test", sessions)


@pytest.mark.parametrize("budget", [100, 700, 10**6])
def test_the_store_is_the_newest_raw_passages_as_verbatim_cuts_them(budget: int) -> None:
    tools = Tools(Scripted(), StemEncoder())
    ours = Budgetmem(passage_tokens=200).write(history(), budget, tools)
    assert ours == Verbatim().write(history(), budget, tools)
    assert all(count_tokens(entry.text) <= 256 for entry in Budgetmem().write(history(), budget, tools).entries)


def test_the_pipeline_is_given_the_best_passages_in_store_order() -> None:
    store = Store("h", "budgetmem", PASSAGES, 99, 99)
    context = Context("q", "RM", "", 0, ("2", "0", "1"))
    (asked,) = asked_of(store, [WHERE], [context], 2)
    assert [passage.id for passage in asked.passages] == ["0", "2"]


# --- modules


def test_the_low_filter_counts_the_questions_content_words() -> None:
    asked = Asked(Query("Where did Ann move with Zoe?"), PASSAGES)
    np.testing.assert_allclose(keyword_shares(asked), [1, 0, 1 / 3], atol=1e-6)  # ann, move, zoe
    assert keyword_shares(Asked(Query("?!"), PASSAGES)).tolist() == [0, 0, 0]


def test_the_mid_filter_mixes_cosine_and_words() -> None:
    asked = Asked(WHERE, PASSAGES)
    vectors = StemEncoder().encode([WHERE.text, *(one.text for one in PASSAGES)])
    mixed = 0.7 * (vectors[1:] @ vectors[0]) + 0.3 * keyword_shares(asked)
    np.testing.assert_allclose(mixed_shares(asked, StemEncoder(), system().settings), mixed, atol=1e-5)


def test_the_best_passage_stays_where_none_passes() -> None:
    asked = Asked(WHERE, PASSAGES)
    assert passing(asked, [3, 9, 9], 5) == PASSAGES[1:]
    assert passing(asked, [0, 2, 1], 5) == PASSAGES[1:2]
    assert passing(Asked(WHERE, ()), [], 5) == ()


def test_statements_have_a_speaker_a_resolved_day_and_no_question() -> None:
    first, second = (
        statements(PASSAGES[0].date, PASSAGES[0].text)[0],
        statements(PASSAGES[1].date, PASSAGES[1].text)[-1],
    )
    assert (first.text, first.date) == ("Ann: I moved to Lisbon with Zoe.", "2023-05-08")
    assert {"Lisbon", "Zoe"} <= set(first.names)
    assert second.text == "Bob: We painted a wall yesterday (9 June 2023)."
    assert not any("?" in one.text for one in statements(PASSAGES[0].date, PASSAGES[0].text))


def test_low_relations_are_one_list_each() -> None:
    names, dates, words = (listed(aspect, PASSAGES) for aspect in ASPECTS)
    assert "Lisbon" in names[0].text
    assert "9 June 2023" in dates[0].text
    assert "paint" in words[0].text
    assert all(len(listed(aspect, PASSAGES)) == 1 and listed(aspect, ()) == () for aspect in ASPECTS)


def test_mid_relations_are_statements_of_the_aspect() -> None:
    asked = Asked(WHERE, PASSAGES)
    assert ranked("entity", asked, StemEncoder(), 1) == (
        Entry("", "Ann: I moved to Lisbon with Zoe.", (), "2023-05-08"),
    )
    dated = ranked("temporal", asked, StemEncoder(), 5)
    assert [entry.date for entry in dated] == ["2023-07-01", "2023-06-10"]  # 3 March, then 9 June
    assert ranked("topic", Asked(WHERE, ()), StemEncoder(), 5) == ()
    assert closest([], WHERE, StemEncoder(), 3) == []


def test_the_mid_summary_keeps_its_limit_and_its_order() -> None:
    asked = Asked(WHERE, PASSAGES)
    notes = {
        "entity": ranked("entity", asked, StemEncoder(), 1),
        "temporal": ranked("temporal", asked, StemEncoder(), 2),
    }
    whole = sectioned(notes, asked, StemEncoder(), 1000)
    assert whole.index("Who and what.") < whole.index("When.") < whole.index("Said.")
    assert whole.count("Ann: I moved to Lisbon with Zoe.") == 1
    for limit in (1, 10, 30, 60, 90):
        text = sectioned(notes, asked, StemEncoder(), limit)
        assert count_tokens(text) <= limit
    assert "Lisbon" in sectioned(notes, asked, StemEncoder(), 40)


def test_the_low_summary_is_everything() -> None:
    notes = {"topic": (Entry("", "a note", ()),)}
    text = concatenated(notes, PASSAGES)
    assert all(passage.text in text for passage in PASSAGES)
    assert text.endswith("[undated]\na note")


# --- the pipeline


def test_low_and_mid_ask_no_solver_and_count_no_call() -> None:
    for tier in ("low", "mid"):
        solver = Scripted()
        (outcome,) = play(tier, solver)
        assert solver.calls == []
        assert outcome.tiers == (TIERS.index(tier),) * len(MODULES)
        assert "Lisbon" in outcome.text
        assert not any("summariser" in name for name in outcome.counts)


def test_high_asks_filter_relations_together_and_summary() -> None:
    solver = Scripted()
    (outcome,) = play("high", solver)
    assert [[task.name for task in call] for call in solver.calls] == [
        ["score_relevance"], ["extract_relations"] * 3, ["summarise_for_question"],
    ]  # fmt: skip
    assert outcome.text == "Lisbon"
    assert solver.calls[1][0].passages == ((PASSAGES[0].date, PASSAGES[0].text),)
    assert outcome.counts["passages_filtered"] == 2
    assert (outcome.counts["summariser_calls"], outcome.counts["summariser_input_tokens"]) == (5, 50)
    context = solver.calls[2][0].context
    assert PASSAGES[0].text in context
    assert all(f"a {aspect} note" in context for aspect in ASPECTS)


def test_the_released_prompt_shows_no_passage() -> None:
    solver = Scripted()
    play("high", solver, as_released=True)
    context = solver.calls[2][0].context
    assert "a topic note" in context
    assert PASSAGES[0].text not in context


def test_a_failed_module_passes_on_what_it_had_and_is_counted() -> None:
    (outcome,) = play("high", Scripted(["score_relevance", "extract_relations", "summarise_for_question"]))
    assert all(passage.text in outcome.text for passage in PASSAGES)
    assert outcome.counts["score_relevance_failed"] == outcome.counts["summarise_for_question_failed"] == 1
    assert outcome.counts["extract_relations_failed"] == 3
    assert outcome.counts["status_parse_error"] == 5


def test_a_long_summary_is_cut_to_its_limit() -> None:
    class Long(Scripted):
        def _output(self, task: Any) -> Any:
            return "word " * 999 if task.name == "summarise_for_question" else super()._output(task)

    (outcome,) = play("high", Long(), summary_tokens=20)
    assert 15 <= count_tokens(outcome.text) <= 20


def test_questions_without_passages_ask_nothing() -> None:
    solver = Scripted()
    empty, full = play("high", solver, Asked(WHERE, ()), Asked(WHERE, PASSAGES))
    assert (empty.text, full.text) == ("", "Lisbon")
    assert empty.counts == {}
    assert all(len(call) in (1, 3) for call in solver.calls)
    assert run([], Tools(solver, StemEncoder()), system().settings, Fixed("low")) == []


def test_every_question_runs_at_its_own_tier() -> None:
    class Alternating:
        def choose(self, module: Any, states: Any) -> list[int]:
            assert states.shape == (2, 512)
            return [0, 2]

    asked = [Asked(WHERE, PASSAGES), Asked(WHERE, PASSAGES)]
    low, high = run(asked, Tools(Scripted(), StemEncoder()), system().settings, Alternating())
    assert (low.tiers, high.tiers) == ((0,) * 5, (2,) * 5)
    assert low.text == play("low")[0].text
    assert high.text == "Lisbon"


def test_states_are_the_question_and_the_mean_of_what_the_module_sees() -> None:
    seen: dict[str, Any] = {}

    class Noting:
        def choose(self, module: Any, states: Any) -> list[int]:
            seen[module] = states[0]
            return [1]

    encoder = StemEncoder()
    run([Asked(WHERE, PASSAGES)], Tools(Scripted(), encoder), system(threshold=2.0).settings, Noting())
    assert list(seen) == list(MODULES)
    assert all(np.array_equal(state[:256], encoder.encode([WHERE.text])[0]) for state in seen.values())
    np.testing.assert_allclose(
        seen["filter"][256:], encoder.encode([one.text for one in PASSAGES]).mean(axis=0), atol=1e-6
    )
    np.testing.assert_allclose(seen["topic"][256:], encoder.encode([PASSAGES[0].text])[0], atol=1e-6)


# --- what the harness calls


def test_summaries_come_from_what_the_context_shows() -> None:
    tools = Tools(ExtractiveSolver(StemEncoder()), StemEncoder())
    store = write_store(Budgetmem(), history(), 10**6, tools)
    query = Query("Which tea does Ann like?")
    question = Question("q", "h", query.text, "t")
    (ranking,) = Budgetmem().retrieve(store, [query], tools)
    context = retrieved(question, store, ranking, 2, "topk", 5000)
    for tier in TIERS:
        (made,) = Budgetmem(tier=tier).summarise(store, [query], [context], tools)
        assert made.text
        assert made.counts[f"tiers_{tier}"] == 5
        said = [line for line in made.text.splitlines() if line.startswith("Ann: ")]
        assert all(line in context.text for line in said)


def test_an_unknown_tier_is_refused() -> None:
    with pytest.raises(InputError, match="unknown tier of budgetmem 'top'; choose from low, mid, high"):
        Budgetmem(tier="top").summarise(Store("h", "budgetmem", (), 0, 0), [], [], Tools(Scripted(), StemEncoder()))


def test_a_router_can_be_put_in_front() -> None:
    store = Store("h", "budgetmem", PASSAGES, 99, 99)
    context = Context("q", "RM", "", 0, ("0",))
    (made,) = Routed(Budgetmem(), Fixed("high")).summarise(store, [WHERE], [context], Tools(Scripted(), StemEncoder()))
    assert (made.text, made.counts["tiers_high"], made.counts["tiers_low"]) == ("Lisbon", 5, 0)


# --- without a language model


def test_relevance_is_highest_where_the_answer_is() -> None:
    shown = tuple((passage.date, passage.text) for passage in PASSAGES)
    ((first, second, third),) = solve(score_relevance, ScoreRelevance(WHERE.text, (*shown[:2], (None, ""))))
    assert 10 >= first > second >= third == 0


def test_relations_are_the_best_sentences_of_each_aspect() -> None:
    shown = tuple((passage.date, passage.text) for passage in PASSAGES)
    tasks = [ExtractRelations(aspect, WHERE.text, shown, 2) for aspect in ASPECTS]
    entity, temporal, topic = solve(extract_relations, *tasks)
    assert entity[0] == "On 8 May 2023, Ann: I moved to Lisbon with Zoe."
    assert any("3 March" in line for line in temporal)
    assert topic == ("On 8 May 2023, Ann: I moved to Lisbon with Zoe.",)
    assert solve(extract_relations, ExtractRelations("topic", "Who?", ())) == [()]
    assert all(read(tasks[0], {"relations": list(lines)}) == lines for lines in (entity, temporal, topic))
