"""Keys: named before any connection when they are missing, and in no output whatever goes wrong."""

import logging
import traceback
from typing import Any

import pytest

from memgauge.errors import InputError, MemgaugeError
from memgauge.llm.remote import RemoteChatModel

from .fault_server import FakeTime, Step, answer, ask, completion, cut, drip, error, serving

CANARY = "sk-canary/4711+x=="
ESCAPED = CANARY.replace("/", "\\/")
VARIABLE = "MEMGAUGE_TEST_KEY"


def leaks(text: str) -> bool:
    """Whether a text shows the key or most of it."""
    return "canary" in text


@pytest.mark.parametrize("value", [None, "", "sk-canary\n", "sk-canary two", "sk-canäry-canary"])
def test_a_key_that_cannot_be_one_is_named_before_any_connection(
    value: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if value is None:
        monkeypatch.delenv(VARIABLE, raising=False)
    else:
        monkeypatch.setenv(VARIABLE, value)
    with serving(answer()) as server:
        model = RemoteChatModel("small", server.endpoint, key_variable=VARIABLE)
        for call in (model.preflight, lambda: model.generate([ask()])):
            with pytest.raises(InputError, match=f"environment variable {VARIABLE}") as caught:
                call()
            assert not leaks(str(caught.value))
    assert not server.seen.bodies


def test_the_key_goes_to_its_endpoint_and_no_other_key_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-service")
    monkeypatch.setenv(VARIABLE, CANARY)
    with serving(answer()) as server:
        RemoteChatModel("small", server.endpoint, key_variable=VARIABLE).generate([ask()])
        RemoteChatModel("small", server.endpoint).generate([ask()])
    with_key, without = server.seen.headers
    assert with_key["authorization"] == f"Bearer {CANARY}"
    assert "authorization" not in without
    assert "sk-of-another-service" not in str(server.seen.headers)


def test_a_redirect_takes_neither_key_nor_prompt_along(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, CANARY)
    with serving(answer()) as other:
        for status in (301, 302, 303, 307, 308):
            with serving(answer("", status, {"Location": f"{other.endpoint}/chat/completions"})) as server:
                model = RemoteChatModel("small", server.endpoint, key_variable=VARIABLE)
                with pytest.raises(MemgaugeError, match="redirects to"):
                    model.generate([ask()])
    assert not other.seen.bodies


ECHO: dict[str, Any] = {"X-Key": "ECHO", "Location": "http://127.0.0.1/ECHO", "X-Request-Id": "ECHO"}
TOLD = error("Incorrect API key provided: ECHO", "invalid_api_key")
FAULTS: dict[str, Step] = {
    "reply": answer(completion("your key is ECHO"), headers=ECHO),
    "reply, escaped": answer('{"choices": [{"message": {"content": "' + ESCAPED + '"}, "finish_reason": "stop"}]}'),
    "finish reason": answer(completion("a", "ECHO")),
    "refusal": answer(completion("", refusal="no, ECHO")),
    "bad request": answer(error("bad header ECHO"), 400, ECHO),
    "long": answer(error("x" * 275 + "ECHO"), 400),
    "escaped": answer('{"error": {"message": "' + ESCAPED + '"}}', 400),
    "key": answer(TOLD, 401, ECHO),
    "key in a 200": answer(TOLD, 200, ECHO),
    "forbidden": answer("<p>ECHO</p>", 403, ECHO),
    "model": answer(error("model ECHO not found"), 404),
    "redirect": answer("ECHO", 307, ECHO),
    "limit": answer(TOLD, 429, {**ECHO, "Retry-After": "ECHO"}),
    "an hour": answer(TOLD, 429, {**ECHO, "Retry-After": "3600"}),
    "quota": answer(error("ECHO", "insufficient_quota"), 429),
    "server error": answer("ECHO", 500, ECHO),
    "page": answer("<html>ECHO</html>", 200),
    "context": answer(error("maximum context length ECHO"), 400),
    "filter": answer(error("ECHO", "content_filter"), 400),
    "parameter": answer(error("Unsupported parameter: 'temperature' ECHO", param="temperature"), 400),
    "cut": cut(),
    "drip": drip(0.02, 30),
}


@pytest.mark.parametrize("step", FAULTS.values(), ids=FAULTS)
def test_no_fault_shows_the_key(step: Step, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setenv(VARIABLE, CANARY)
    shown: list[str] = []

    def work() -> None:
        shown.extend(map(repr, model.generate([ask()])))

    with caplog.at_level(logging.DEBUG), serving(step) as server:
        model = RemoteChatModel(
            "small", server.endpoint, VARIABLE, max_attempts=2, timeout_seconds=0.2, pace=FakeTime().pace()
        )
        for call in (work, model.preflight):
            try:
                call()
            except MemgaugeError as raised:
                shown += everything(raised)
    assert server.seen.headers[0]["authorization"] == f"Bearer {CANARY}"
    shown += [repr(model), str(model.payload(ask())), str(model.adaptations.remembered(model.model_id))]
    shown += [f"{record.getMessage()} {record.__dict__}" for record in caplog.records]
    assert "httpcore2.http11" in {record.name for record in caplog.records}
    assert [text for text in shown if leaks(text)] == []


def everything(raised: BaseException) -> list[str]:
    """An exception as reporters show it: text, attributes, chain, the variables of our frames."""
    found: list[str] = []
    seen: BaseException | None = raised
    while seen is not None:
        found += [str(seen), repr(seen), str(vars(seen))]
        found += traceback.format_exception(seen)
        frames = [frame for frame, _ in traceback.walk_tb(seen.__traceback__) if "memgauge" in frame.f_code.co_filename]
        found += [f"{name} = {value!r}" for frame in frames for name, value in frame.f_locals.items()]
        seen = seen.__cause__ or seen.__context__
    return found


def test_an_unreachable_endpoint_shows_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, CANARY)
    model = RemoteChatModel("small", "http://127.0.0.1:1/v1", VARIABLE, pace=FakeTime().pace())
    for call in (model.preflight, lambda: model.generate([ask()])):
        with pytest.raises(MemgaugeError, match="cannot be reached") as caught:
            call()
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None
        assert not any(map(leaks, everything(caught.value)))


@pytest.mark.parametrize("value", ["x", "EMPTY", "none", "1"])
def test_a_stand_in_for_a_key_spoils_no_reply_and_no_error(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, value)
    text = "An EMPTY box, next to none; exit 1"
    too_long = error(f"too long for {value}", "context_length_exceeded")
    with serving(answer(completion(text)), answer(too_long, 400)) as server:
        good, long = RemoteChatModel("small", server.endpoint, VARIABLE, concurrency=1).generate([ask("a"), ask("b")])
    assert (good.text, good.status, good.input_tokens) == (text, "ok", 20)
    assert long.status == "context_truncated"
    assert value not in long.detail.replace("[key]", "")
