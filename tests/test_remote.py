"""The remote chat model as a whole: order, bound, stopping, interrupts, preflight, endpoints."""

import asyncio
import os
import pickle
import signal
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from memgauge.errors import InputError
from memgauge.llm.chat import ChatReply
from memgauge.llm.remote import RemoteChatModel
from memgauge.llm.retries import StoppedError

from .fault_server import FakeTime, Step, answer, ask, by_request, completion, error, serving


def said(body: dict[str, Any]) -> str:
    """The content of a body's only message."""
    return str(body["messages"][0]["content"])


def echo(**seconds: float) -> Step:
    """Answers each request with its own text, some later than others."""
    return by_request(lambda body: answer(completion(said(body)), seconds=seconds.get(said(body), 0.0)))


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_replies_are_in_request_order_and_reported_as_they_come() -> None:
    reported: list[tuple[int, str]] = []
    threads = set()

    def note(position: int, reply: ChatReply) -> None:
        reported.append((position, reply.text))
        threads.add(threading.get_ident())

    with serving(echo(slow=0.3, middle=0.15)) as server:
        model = RemoteChatModel("small", server.endpoint)
        replies = model.generate([ask("slow"), ask("middle"), ask("quick")], note)
    assert [reply.text for reply in replies] == ["slow", "middle", "quick"]
    assert reported == [(2, "quick"), (1, "middle"), (0, "slow")]
    assert threads == {threading.get_ident()}


@pytest.mark.parametrize("concurrency", [1, 3])
def test_no_more_calls_at_once_than_allowed(concurrency: int) -> None:
    with serving(answer(seconds=0.03)) as server:
        model = RemoteChatModel("small", server.endpoint, concurrency=concurrency)
        replies = model.generate([ask(str(n)) for n in range(9)])
    assert len(replies) == len(server.seen.bodies) == 9
    assert server.seen.most_held == concurrency


def test_nothing_asked_needs_neither_key_nor_connection() -> None:
    assert RemoteChatModel("small", "http://127.0.0.1:9/v1", key_variable="MEMGAUGE_NO_SUCH_KEY").generate([]) == []


@pytest.mark.parametrize("raised", [RuntimeError("disk full"), KeyboardInterrupt()])
def test_when_on_reply_raises_no_call_starts_and_those_under_way_are_reported(raised: BaseException) -> None:
    reported = []

    def fail_first(position: int, _: ChatReply) -> None:
        reported.append(position)
        if len(reported) == 1:
            raise raised

    with serving(echo(a=0.1, b=0.2, c=0.2)) as server:
        model = RemoteChatModel("small", server.endpoint, concurrency=3)
        with pytest.raises(type(raised)) as caught:
            model.generate([ask(name) for name in "abcdef"], fail_first)
    assert caught.value is raised
    assert sorted(reported) == [0, 1, 2]
    assert reported[0] == 0
    assert len(server.seen.bodies) == 3


def test_one_at_a_time_nothing_is_sent_after_on_reply_raised() -> None:
    def fail(position: int, reply: ChatReply) -> None:
        raise ValueError(position)

    with serving(answer()) as server, pytest.raises(ValueError, match="0"):
        RemoteChatModel("small", server.endpoint, concurrency=1).generate([ask("a"), ask("b")], fail)
    assert len(server.seen.bodies) == 1


def test_a_stop_reports_calls_under_way_and_gives_up_those_waiting_for_another_attempt() -> None:
    """`quota` ends the batch while `busy` sleeps for a minute and `slow` is being answered."""
    quota = answer(error("used up", "insufficient_quota"), 429, seconds=0.15)
    steps = {"busy": answer({}, 429, {"Retry-After": "60"}), "quota": quota, "slow": answer(seconds=0.3)}
    reported = []
    started = time.monotonic()
    with serving(by_request(lambda body: steps[said(body)])) as server:
        model = RemoteChatModel("small", server.endpoint, concurrency=3)
        with pytest.raises(StoppedError, match="allowance"):
            model.generate([ask(name) for name in ("busy", "quota", "slow", "never")], lambda p, _: reported.append(p))
    assert reported == [2]
    assert time.monotonic() - started < 30  # the minute was not slept
    assert sorted(map(said, server.seen.bodies)) == ["busy", "quota", "slow"]


def test_a_call_that_fails_after_the_stop_is_not_tried_again() -> None:
    steps = {"a": answer(seconds=0.05), "b": answer({}, 500, seconds=0.2)}

    def fail(position: int, reply: ChatReply) -> None:
        raise ValueError(position)

    with serving(by_request(lambda body: steps[said(body)])) as server:
        model = RemoteChatModel("small", server.endpoint, concurrency=2, pace=FakeTime().pace())
        with pytest.raises(ValueError, match="0"):
            model.generate([ask("a"), ask("b")], fail)
    assert sorted(map(said, server.seen.bodies)) == ["a", "b"]


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Python's own handler of Ctrl-C, also where the tests run in the background of a shell, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_keeps_what_is_under_way() -> None:
    reported = []

    def interrupt(body: dict[str, Any]) -> Step:
        if said(body) == "b":
            threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        return answer(seconds=0.2)

    with serving(by_request(interrupt)) as server:
        model = RemoteChatModel("small", server.endpoint, concurrency=2)
        with pytest.raises(KeyboardInterrupt):
            model.generate([ask(name) for name in "abcd"], lambda position, _: reported.append(position))
    assert sorted(reported) == [0, 1]
    assert len(server.seen.bodies) == 2


def test_an_endpoint_that_went_away_stops_the_batch_after_all_attempts() -> None:
    fake = FakeTime()
    model = RemoteChatModel("small", f"http://127.0.0.1:{free_port()}/v1", max_attempts=3, pace=fake.pace())
    with pytest.raises(StoppedError, match="cannot be reached"):
        model.generate([ask()])
    assert len(fake.waits) == 2


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (
            answer(error("Unrecognized request argument supplied: top_q"), 400),
            "refuses the calls to 'small'.*8 calls.*top_q",
        ),
        (answer({**completion(), "choices": []}), "refuses the calls to 'small'.*no choice"),
        (answer({}, 503), "cannot serve 'small' now.*8 calls"),
    ],
)
def test_calls_that_all_fail_stop_the_work_with_one_error(step: Step, message: str) -> None:
    """One that fails among others is a status; so are too long ones, whose endpoint works."""
    bad, long = ask("bad"), ask("long")

    def choose(body: dict[str, Any]) -> Step:
        text = body["messages"][0]["content"]
        too_long = answer(error("maximum context length is 8", "context_length_exceeded"), 400)
        return {"bad": step, "long": too_long}.get(text, answer())

    pace = FakeTime().pace()
    with serving(by_request(choose)) as server:
        model = RemoteChatModel("small", server.endpoint, concurrency=1, max_attempts=1, pace=pace)
        statuses = {reply.status for reply in model.generate([*[bad] * 7, ask("good"), *[bad] * 7, *[long] * 9])}
        assert statuses == {"ok", "provider_error", "context_truncated"}
        with pytest.raises(StoppedError, match=message) as caught:
            model.generate([bad] * 20)
    assert str(caught.value).endswith("the same command goes on from there")
    assert len(server.seen.bodies) == 24 + 8


PREFLIGHT: dict[str, tuple[Step, str]] = {
    "key": (answer(error("Incorrect API key provided", "invalid_api_key"), 401), "does not accept the key in .*MG_KEY"),
    "key, as a bad request": (
        answer(error("API key not valid. Please pass a valid API key.", 400, "INVALID_ARGUMENT"), 400),
        "does not accept the key in .*MG_KEY",
    ),
    "key, otherwise": (answer({"detail": "Invalid API key"}, 400), "does not accept the key"),
    "forbidden": (answer("<html>Forbidden</html>", 403), "does not accept the key"),
    "model": (answer(error("The model `small` does not exist", "model_not_found"), 404), "has no model 'small'"),
    "model, plainly": (answer({"error": "model 'small' not found, try pulling it first"}, 404), "has no model 'small'"),
    "model, otherwise": (
        answer({"detail": "Server is pinned to 'x'; requested 'small'."}, 400),
        "has no model",
    ),
    "address": (answer("<html>Not Found</html>", 404), "there is no chat API at"),
    "redirect": (
        answer("", 307, {"Location": "https://elsewhere.example/v1?token=1"}),
        "redirects to https://elsewhere",
    ),
    "refused": (answer(error("top_p must be below 1"), 400), "refuses the plainest request.*top_p must be below 1"),
}


@pytest.mark.parametrize(("step", "message"), PREFLIGHT.values(), ids=PREFLIGHT)
def test_preflight_says_what_cannot_work(step: Step, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MG_KEY", "sk-1")
    with serving(step) as server:
        with pytest.raises(InputError, match=message) as caught:
            RemoteChatModel("small", server.endpoint, key_variable="MG_KEY").preflight()
        assert server.endpoint in str(caught.value)
        assert len(server.seen.bodies) == 1


def test_preflight_asks_for_one_token_and_passes() -> None:
    for step in (answer(), answer(completion("", "length")), answer(completion(None, "content_filter"))):
        with serving(step) as server:
            RemoteChatModel("small", server.endpoint).preflight()
        assert [body["max_tokens"] for body in server.seen.bodies] == [1]


def test_preflight_of_an_endpoint_that_is_not_there_or_too_busy() -> None:
    pace = FakeTime().pace()
    with pytest.raises(InputError, match="cannot be reached"):
        RemoteChatModel("small", f"http://127.0.0.1:{free_port()}/v1", pace=pace).preflight()
    for step in (answer({}, 503), answer("<html>Welcome</html>"), answer({}, 429, {"Retry-After": "3600"})):
        with serving(step) as server, pytest.raises(StoppedError, match="cannot serve 'small' now"):
            RemoteChatModel("small", server.endpoint, pace=pace).preflight()


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no address": ({"endpoint": "localhost:8000"}, "it must look like"),
    "password": ({"endpoint": "https://user:hush@host/v1"}, "bare address"),
    "query": ({"endpoint": "https://host/v1?key=hush"}, "bare address"),
    "call": ({"endpoint": "https://host/v1/chat/completions"}, "give the address before"),
    "concurrency": ({"concurrency": 0}, "concurrency is 0"),
    "attempts": ({"max_attempts": 0}, "max_attempts is 0"),
    "wait": ({"max_wait_seconds": -1}, "max_wait_seconds is -1"),
    "timeout": ({"timeout_seconds": 0}, "timeout_seconds is 0"),
    "extra": ({"extra": {"stream": True, "top_p": 1}}, "extra holds stream;"),
}


@pytest.mark.parametrize(("fields", "message"), WRONG.values(), ids=WRONG)
def test_wrong_fields_are_one_clear_error(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        RemoteChatModel(**{"model": "small", "endpoint": "https://host/v1", **fields})
    assert "hush" not in str(caught.value)


def test_inside_an_event_loop_the_error_says_how() -> None:
    async def notebook() -> None:
        RemoteChatModel("small", "http://127.0.0.1:9/v1").generate([ask()])

    with pytest.raises(InputError, match="use asyncio"):
        asyncio.run(notebook())


def test_models_are_values() -> None:
    same = [RemoteChatModel("small", "http://127.0.0.1:9/v1", extra={"top_p": 0.9}) for _ in range(2)]
    assert same[0] == same[1] != RemoteChatModel("small", "http://127.0.0.1:9/v1")
    assert len(set(same)) == 1
    assert pickle.loads(pickle.dumps(same[0])) == same[0]
