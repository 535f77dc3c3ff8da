"""The first tasks: what they show a language model and how strictly they read its reply."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import pytest

from memgauge import prompts, tasks
from memgauge.errors import InputError
from memgauge.tasks.answer_question import AnswerQuestion
from memgauge.tasks.base import ParseFailure, Task
from memgauge.tasks.extract_facts import ExtractFacts
from memgauge.tasks.merge_episodes import MergeEpisodes
from memgauge.tasks.name_themes import NameThemes
from memgauge.tasks.segment_batch import SegmentBatch
from memgauge.tasks.summarise_session import SummariseSession, SummaryLine
from memgauge.tasks.track_state import TrackState
from memgauge.tasks.write_episode import Episode, WriteEpisode

CONTEXT = "[8 May 2023, 13:56]\nAnn: I moved to Oslo {yesterday}."


def test_the_reader_sees_context_question_and_date_in_that_order() -> None:
    system, user = AnswerQuestion("Where does Ann live?", CONTEXT, "2023-06-01").messages()
    assert "I don't know" in system["content"]
    places = [user["content"].index(part) for part in (CONTEXT, "1 June 2023", "Where does Ann live?")]
    assert places == sorted(places)


def test_without_a_question_date_there_is_no_date_line() -> None:
    content = AnswerQuestion("Where?", CONTEXT).messages()[1]["content"]
    assert "Today" not in content
    assert "None" not in content
    assert "{" not in content.replace("{yesterday}", "")


def test_braces_and_role_headings_of_a_context_stay_text() -> None:
    context = "{question}\n[system]\n{0} {nosuch}"
    messages = AnswerQuestion("Where?", context).messages()
    assert [message["role"] for message in messages] == ["system", "user"]
    assert context in messages[1]["content"]


def test_an_empty_context_is_said_to_be_empty() -> None:
    assert "Context:\n(nothing)\n" in AnswerQuestion("Where?", "").messages()[1]["content"]


def test_an_answer_is_stripped_and_an_empty_one_is_a_failure() -> None:
    task = AnswerQuestion("Where?", CONTEXT)
    assert task.max_new_tokens == 200
    assert task.parse("\n Oslo. \n") == "Oslo."
    assert isinstance(task.parse(" \n"), ParseFailure)


def test_a_session_is_shown_as_dated_speaker_lines_under_its_budget() -> None:
    task = SummariseSession("2023-05-08T13:56", (("Ann", "Hi"), ("Bob", "Hello")), 70)
    content = task.messages()[1]["content"]
    assert "8 May 2023, 13:56\nAnn: Hi\nBob: Hello\n" in content
    assert "70 tokens" in content
    assert task.max_new_tokens >= 70


@pytest.mark.parametrize(
    ("reply", "texts"),
    [
        ("Ann moved.", ["Ann moved."]),
        ("- Ann moved.\r\n* Bob did not.\n• Cy may.", ["Ann moved.", "Bob did not.", "Cy may."]),
        ("1. Ann moved.\n 12) Bob did not.", ["Ann moved.", "Bob did not."]),
        ("3.5 km run on 2023. Then home.\n-5 degrees", ["3.5 km run on 2023. Then home.", "-5 degrees"]),
        ("\n- \n---\nAnn moved.\n", ["Ann moved."]),
    ],
)
def test_a_summary_is_one_fact_a_line_without_bullets(reply: str, texts: list[str]) -> None:
    assert SummariseSession(None, (), 50).parse(reply) == tuple(SummaryLine(text) for text in texts)


def test_a_summary_without_text_is_a_failure() -> None:
    assert isinstance(SummariseSession(None, (), 50).parse("-\n\n"), ParseFailure)


def test_tasks_keep_the_contract() -> None:
    assert isinstance(AnswerQuestion("Where?", ""), Task)
    assert isinstance(SummariseSession(None, (), 50), Task)


def test_an_unknown_template_is_named() -> None:
    with pytest.raises(InputError, match="nosuch"):
        prompts.template("nosuch")


EPISODE = Episode("A move", "Ann moved.", None)
WITH_OWN_SCHEMA: list[Any] = [  # tasks whose schema depends on their inputs
    ExtractFacts(None, (), EPISODE, (), rationale=False),
    MergeEpisodes(EPISODE, (EPISODE,), rationale=False),
    NameThemes(()),
    SegmentBatch(None, (("Ann", "Hi"),), rationale=False),
    TrackState(""),
    WriteEpisode(None, (), "", rationale=False),
]


def schemas() -> dict[str, dict[str, Any]]:
    """The schema of every task that has one, by the task's class."""
    modules = [import_module(f"memgauge.tasks.{each.name}") for each in iter_modules(tasks.__path__)]
    found = {name: kind.schema for each in modules for name, kind in vars(each).items() if hasattr(kind, "schema")}
    return found | {type(task).__name__: task.schema for task in WITH_OWN_SCHEMA}


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    """Every object that a schema describes, at any depth."""
    if isinstance(schema, dict):
        if "properties" in schema:
            yield schema
        for inner in schema.values():
            yield from objects(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from objects(inner)


@pytest.mark.parametrize("task", schemas())
def test_every_schema_is_one_that_hosted_services_take_in_strict_mode(task: str) -> None:
    """They refuse an object that may lack one of its keys or have others; what may be absent is null."""
    schema = schemas()[task]
    assert isinstance(schema, dict), f"give {task} a row in WITH_OWN_SCHEMA"
    found = list(objects(schema))
    assert found
    for each in found:
        assert sorted(each["required"]) == sorted(each["properties"])
        assert each["additionalProperties"] is False
