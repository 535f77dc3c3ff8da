"""The language-model solver with a scripted chat model: one status for every way a reply can go wrong."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memgauge.errors import InputError
from memgauge.llm.chat import ChatModel, ChatReply, ChatRequest, OnReply, Origin, ignore
from memgauge.llm.local import LocalChatModel
from memgauge.llm.replay import TapeStore
from memgauge.llm.store import ResponseStore
from memgauge.llm.stored import StoredChatModel
from memgauge.llm.tape import save_tape
from memgauge.records import Result, Usage
from memgauge.solvers.catalogue import make_solver
from memgauge.solvers.language_model import LanguageModelSolver
from memgauge.tasks.answer_question import AnswerQuestion
from memgauge.tasks.judge_answer import JudgeAnswer, Verdict
from memgauge.tasks.summarise_session import SummariseSession, SummaryLine

TASK = AnswerQuestion("Where?", "[undated]\nAnn: Oslo.")


@dataclass
class Scripted:
    """Replies as told, and remembers what it was asked."""

    replies: list[ChatReply]
    asked: list[ChatRequest] = field(default_factory=list)

    def payload(self, request: ChatRequest) -> dict[str, Any]:
        return {"messages": list(request.messages)}

    def generate(self, requests: Sequence[ChatRequest], on_reply: OnReply = ignore) -> list[ChatReply]:
        self.asked += requests
        replies = self.replies[: len(requests)]
        for position, reply in enumerate(replies):
            on_reply(position, reply)
        return replies


def solve_one(reply: ChatReply) -> Result[str]:
    model: ChatModel = Scripted([reply])
    return LanguageModelSolver(model).solve([TASK])[0]


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (ChatReply(" Oslo.\n", "stop", 50, 3), "ok"),
        (ChatReply("I don't know", "stop", 50, 4), "ok"),
        (ChatReply("", "stop", 50, 1), "empty"),
        (ChatReply(" \n", "stop", 50, 2), "empty"),
        (ChatReply("Oslo and", "length", 50, 200), "truncated"),
        (ChatReply("", "length", 50, 200), "truncated"),
        (ChatReply("Os", "content_filter", 50, 1), "refused_by_provider"),
        (ChatReply("", "error", 50, 0), "provider_error"),
        (ChatReply("", "error", 9000, 0, "context_truncated"), "context_truncated"),
        (ChatReply("", "error", 50, 0, "provider_error"), "provider_error"),
    ],
)
def test_every_reply_has_its_status_and_only_ok_has_output(reply: ChatReply, status: str) -> None:
    result = solve_one(reply)
    assert result.status == status
    assert (result.output is not None) == (status == "ok")
    assert result.reply == reply.text


def test_a_call_is_counted_unless_the_request_was_never_sent() -> None:
    assert solve_one(ChatReply("Oslo", "stop", 50, 3)).usage == Usage(50, 3, 1)
    assert solve_one(ChatReply("Oslo and", "length", 50, 200)).usage == Usage(50, 200, 1)
    assert solve_one(ChatReply("", "error", 9000, 0, "context_truncated")).usage == Usage(0, 0, 0)


def test_usage_keeps_what_the_provider_told_and_says_what_is_estimated() -> None:
    reply = ChatReply("Oslo", "stop", 50, 30, cached_input_tokens=40, reasoning_tokens=27, measured=False, attempts=3)
    assert solve_one(reply).usage == Usage(50, 30, 1, 40, 27, estimated=True)


def test_usage_is_the_same_from_the_model_the_store_and_a_tape() -> None:
    origins: list[Origin] = ["model", "store", "tape"]
    usages = {solve_one(ChatReply("Oslo", "stop", 50, 3, origin=origin)).usage for origin in origins}
    assert usages == {Usage(50, 3, 1)}


def test_a_prompt_that_the_server_cut_was_sent_and_is_counted() -> None:
    result = solve_one(ChatReply("Oslo", "stop", 50, 3, "context_truncated"))
    assert (result.output, result.status, result.usage) == (None, "context_truncated", Usage(50, 3, 1))


def test_a_task_with_a_schema_sends_it_as_text_in_the_order_of_its_keys() -> None:
    judge = JudgeAnswer("Where?", ("Oslo",), "Oslo")
    model = Scripted([ChatReply('{"verdict": "correct"}', "stop"), ChatReply("Oslo", "stop")])
    solver = LanguageModelSolver(model)
    assert solver.solve([judge])[0].output == Verdict(True)
    solver.solve([TASK])
    sent = model.asked[0].schema
    assert sent is not None
    assert json.loads(sent) == JudgeAnswer.schema
    assert list(json.loads(sent)["properties"]) == ["reason", "verdict"]
    assert model.asked[1].schema is None


def test_decoding_options_reach_every_request() -> None:
    model = Scripted([ChatReply("Oslo", "stop")] * 2)
    LanguageModelSolver(model, temperature=0.7, seed=5).solve([TASK, TASK])
    assert [(request.temperature, request.seed, request.sample) for request in model.asked] == [(0.7, 5, 0)] * 2


@pytest.mark.parametrize("temperature", [-0.1, float("nan"), float("inf")])
def test_an_impossible_temperature_is_refused(temperature: float) -> None:
    with pytest.raises(InputError, match="temperature"):
        LanguageModelSolver(Scripted([]), temperature=temperature)


def test_a_verdict_cut_by_the_limit_is_truncated_and_one_without_its_key_a_parse_error() -> None:
    judge = JudgeAnswer("Where?", ("Oslo",), "Oslo")
    replies = [ChatReply('{"verdict": "correct"}, but', "length"), ChatReply('{"reason": "correct"}', "stop")]
    results = LanguageModelSolver(Scripted(replies)).solve([judge, judge])
    assert [(result.status, result.output) for result in results] == [("truncated", None), ("parse_error", None)]


RIGHT, KEYLESS, CUT_OFF = '{"verdict": "correct"}', '{"reason": "correct"}', 'thought {"score":'
JUDGED = [JudgeAnswer("Where?", ("Oslo",), answer) for answer in ("Oslo", "Bergen", "Rome")]


def solve_stored(
    store: ResponseStore | TapeStore, texts: Sequence[str], run: str = "r"
) -> tuple[list[str], list[ChatRequest]]:
    """Statuses of the three verdicts, and what the model was asked."""
    model = Scripted([ChatReply(text, "stop", 50, 5) for text in texts])
    mode: Any = "replay" if isinstance(store, TapeStore) else "live"
    results = LanguageModelSolver(StoredChatModel(model, store, mode, run, "judge@a")).solve(JUDGED)
    return [result.status for result in results], model.asked


def test_a_reply_its_task_cannot_read_is_asked_for_once_more_by_each_run_and_is_on_the_tape(tmp_path: Path) -> None:
    store = ResponseStore(tmp_path / "s.sqlite")
    failed = ["ok", "parse_error", "parse_error"]
    assert solve_stored(store, [RIGHT, KEYLESS, CUT_OFF])[0] == failed
    assert save_tape(tmp_path / "t.zst", store, store.used("r")["judge@a"]) == 3
    assert solve_stored(TapeStore(tmp_path / "t.zst"), []) == (failed, [])
    statuses, asked = solve_stored(store, [KEYLESS, RIGHT], "later")
    assert (statuses, len(asked)) == (["ok", "parse_error", "ok"], 2)
    assert store.used("later") == store.used("r")
    assert solve_stored(store, [RIGHT])[0] == ["ok"] * 3
    assert solve_stored(store, []) == (["ok"] * 3, [])


def test_a_reply_that_an_older_parser_could_read_is_not_served_for_ever(tmp_path: Path) -> None:
    store = ResponseStore(tmp_path / "s.sqlite")
    lenient = Scripted([ChatReply(text, "stop", 50, 5, latency_seconds=2.0) for text in (RIGHT, KEYLESS, CUT_OFF)])
    requests = [LanguageModelSolver(lenient).request(task) for task in JUDGED]
    StoredChatModel(lenient, store).generate([replace(request, readable=lambda text: True) for request in requests])
    assert solve_stored(store, [RIGHT, RIGHT])[0] == ["ok"] * 3
    assert solve_stored(store, []) == (["ok"] * 3, [])


def test_a_reply_that_cannot_be_parsed_is_a_parse_error() -> None:
    model = Scripted([ChatReply("---\n-", "stop")])
    result = LanguageModelSolver(model).solve([SummariseSession(None, (("Ann", "Hi"),), 50)])[0]
    assert (result.output, result.status, result.reply) == (None, "parse_error", "---\n-")


def test_results_keep_the_order_of_tasks_and_requests_what_tasks_ask() -> None:
    tasks = [SummariseSession(None, (("Ann", word),), budget) for word, budget in [("one", 10), ("two", 20)]]
    model = Scripted([ChatReply("- 1", "stop"), ChatReply("- 2", "stop")])
    results = LanguageModelSolver(model).solve(tasks)
    assert [result.output for result in results] == [(SummaryLine("1"),), (SummaryLine("2"),)]
    assert [request.max_new_tokens for request in model.asked] == [task.max_new_tokens for task in tasks]
    assert [list(request.messages) for request in model.asked] == [task.messages() for task in tasks]
    assert all(request.temperature == 0 for request in model.asked)


def test_no_tasks_give_no_results() -> None:
    assert LanguageModelSolver(Scripted([])).solve([]) == []


class ZeroEncoder:
    def encode(self, texts: Sequence[str]) -> np.ndarray:
        return np.zeros((len(texts), 2), dtype=np.float32)


def unwanted() -> ZeroEncoder:
    raise AssertionError("the encoder was loaded for a solver that has no use for it")


def test_a_language_model_role_is_made_without_loading_model_or_encoder(tmp_path: object) -> None:
    role = {"solver": "language_model", "model": f"{tmp_path}/absent", "max_context": 512}
    solver = make_solver(role, unwanted)
    assert isinstance(solver, LanguageModelSolver)
    assert isinstance(solver.chat_model, LocalChatModel)
    assert solver.chat_model.max_context == 512
    assert role["solver"] == "language_model"


def test_an_extractive_role_gets_the_encoder() -> None:
    pytest.importorskip("memgauge.solvers.extractive.solver")
    assert hasattr(make_solver({"solver": "extractive"}, ZeroEncoder), "solve")


@pytest.mark.parametrize(
    ("role", "message"),
    [
        ({"solver": "oracle"}, "unknown solver 'oracle'; choose from extractive, language_model"),
        ({}, "unknown solver None"),
        ({"solver": "language_model"}, "names no model"),
        ({"solver": "language_model", "model": "x", "beams": 4}, "unknown option of LocalChatModel 'beams'"),
    ],
)
def test_a_role_that_names_nothing_known_is_refused(role: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_solver(role, unwanted)


def test_extractive_role_takes_thresholds_and_refuses_unknown_ones() -> None:
    assert make_solver({"solver": "extractive", "floor": 0.4}, lambda: None) is not None
    with pytest.raises(InputError, match="unknown threshold of the extractive solver 'flor'"):
        make_solver({"solver": "extractive", "flor": 0.4}, lambda: None)
