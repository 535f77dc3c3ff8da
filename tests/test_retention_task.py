"""The state task: what a reader is shown, how strictly its reply is read, and the reader that needs no model."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgauge.datasets.retention.replay import replay
from memgauge.datasets.retention.stimuli import make_stimuli
from memgauge.solvers.extractive.track_state import read_state
from memgauge.solvers.language_model import schema_text
from memgauge.tasks.base import ParseFailure, Task
from memgauge.tasks.track_state import SLOTS, TEMPLATES, State, TrackState

GOOD = '{"state": {"item": "tram", "place": null, "duration": "one night"}}'


def test_notes_and_padding_stand_after_the_messages_and_change_nothing_else() -> None:
    plain, *noted = (TrackState("e1: {history} [user]", note) for note in TEMPLATES)
    system, user = (message["content"] for message in plain.messages())
    assert "Filler" not in user
    assert "{" not in user.replace("{history}", "")
    for task in noted:
        assert task.messages()[0]["content"] == system
        lines = task.messages()[1]["content"].splitlines()
        assert [line for line in lines if line in user.splitlines()] == user.splitlines()
        assert len(lines) == len(user.splitlines()) + 1
    padded = TrackState("e1: {history} [user]", padding="[filler] x").messages()[1]["content"]
    assert padded.replace("[filler] x\n", "") == user


def test_an_empty_history_is_said_to_be_empty() -> None:
    assert "(nothing)" in TrackState("").messages()[1]["content"]


def test_the_task_keeps_the_contract_and_its_schema_can_be_left_out() -> None:
    assert isinstance(TrackState(""), Task)
    assert TrackState("").max_new_tokens == 128
    assert schema_text(TrackState("", constrained=False)) is None
    schema = json.loads(schema_text(TrackState("")) or "")
    state = schema["properties"]["state"]
    assert list(state["properties"]) == state["required"] == list(SLOTS)
    assert "enum" not in json.dumps(schema)
    assert schema["additionalProperties"] is state["additionalProperties"] is False


@pytest.mark.parametrize(
    ("reply", "state"),
    [
        (GOOD, State("tram", None, "one night")),
        (f"Here it is:\n```json\n{GOOD}\n```", State("tram", None, "one night")),
        (json.dumps({"state": {"duration": "", "item": None, "place": "é"}}), State(None, "é", "")),
    ],
)
def test_a_whole_state_is_read(reply: str, state: State) -> None:
    assert TrackState("").parse(reply) == state


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "tram",
        GOOD[:-2],
        '{"item": "tram", "place": null, "duration": null}',
        '{"state": ["tram", null, null]}',
        '{"state": {"item": "tram", "place": null}}',
        '{"state": {"item": "tram", "place": null, "duration": null, "day": "Mon"}}',
        '{"state": {"item": "tram", "place": null, "duration": 3}}',
        '{"state": {"item": "tram", "place": null, "duration": null}, "reason": "so"}',
        GOOD + GOOD.replace("tram", "bus"),
    ],
)
def test_anything_else_is_a_failure_and_never_repaired(reply: str) -> None:
    assert isinstance(TrackState("").parse(reply), ParseFailure)


@given(st.integers(0, 2**32), st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_the_reader_without_a_model_answers_what_any_selection_of_lines_supports(seed: int, random: Any) -> None:
    for stimulus in make_stimuli(seed, families=1):
        kept = [place for place in range(len(stimulus.events)) if random.random() < 0.6]
        found = read_state("\n".join(stimulus.lines[place] for place in kept))
        assert found == replay(stimulus.events[place] for place in kept).state


def test_the_reader_without_a_model_reads_other_wordings_of_the_same() -> None:
    lines = "e1: Please set the item to night train.\ne2: I can offer a table as the place\ne3: Thanks!"
    assert read_state(lines) == State("night train", None, None)


@pytest.mark.models
def test_a_finished_constrained_reply_always_parses(models: Path) -> None:
    """Masks of the real tokenizer: every text or null is open in every slot, and the order of slots is fixed."""
    if not (models / "smollm2" / "tokenizer.json").is_file():
        pytest.skip("models/smollm2 is not there")
    from transformers import AutoTokenizer

    from memgauge.llm.structured import constrain

    tokenizer = AutoTokenizer.from_pretrained(models / "smollm2", local_files_only=True)
    follow = constrain(tokenizer, len(tokenizer))
    task = TrackState("")
    for values in (("tram", None, 'a "b" é'), (None, None, None), ("", "x" * 40, "null")):
        state = State(*values)
        reply = json.dumps({"state": dict(zip(SLOTS, values, strict=True))}, separators=(",", ":"), ensure_ascii=False)
        ids, follower = tokenizer(reply)["input_ids"], follow(schema_text(task) or "")
        for place, token in enumerate(ids):
            assert follower(ids[:place])[token]
        assert follower(ids)[tokenizer.eos_token_id]
        assert task.parse(reply) == state
