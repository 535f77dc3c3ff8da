"""What becomes of each fault of an endpoint, over real HTTP: status, attempts, waits, tokens."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.llm.remote import RemoteChatModel
from memgauge.llm.retries import Failure, RetryPolicy, StoppedError

from .fault_server import FakeTime, Step, answer, ask, completion, cut, drip, error, serving

BUSY = answer(error("rate limit", "rate_limit_exceeded", "rate_limit"), 429)
BODY_429 = answer({"choices": None, **error("Rate limit exceeded", 429)})
TOO_LONG = error("This model's maximum context length is 4096 tokens", "context_length_exceeded", param="messages")
PAGE = "<html><style>b {}</style><body><h1>502 Bad Gateway</h1></body></html>"

REPLIES: dict[str, tuple[list[Step], dict[str, Any]]] = {
    "plain": ([answer()], {"text": "Oslo", "finish_reason": "stop", "status": "ok", "attempts": 1}),
    "500 twice": ([answer({}, 500), answer(PAGE, 502), answer()], {"text": "Oslo", "status": "ok", "attempts": 3}),
    "429 once": ([BUSY, answer()], {"text": "Oslo", "attempts": 2}),
    "429 in a 200": ([BODY_429, answer()], {"text": "Oslo", "attempts": 2}),
    "error inside the choice": (
        [answer({"choices": [{"index": 0, "finish_reason": "error", "error": {"code": 502}}]}), answer()],
        {"text": "Oslo", "attempts": 2},
    ),
    "cut in the body": ([cut(), answer()], {"text": "Oslo", "attempts": 2}),
    "no JSON": ([answer('{"choices": [{"ind'), answer()], {"text": "Oslo", "attempts": 2}),
    "always 500": ([answer({}, 500)], {"status": "provider_error", "finish_reason": "error", "attempts": 3}),
    "always 429": ([BUSY], {"status": "provider_error", "attempts": 3}),
    "always a web page": ([answer(PAGE)], {"status": "provider_error", "attempts": 3}),
    "terminal error in a 200": ([answer(error("bad value"))], {"status": "provider_error", "attempts": 1}),
    "bad request": ([answer(error("bad value"), 400)], {"status": "provider_error", "attempts": 1}),
    "no choices": ([answer({**completion(), "choices": []})], {"status": "provider_error", "attempts": 1}),
    "choices null": ([answer({**completion(), "choices": None})], {"status": "provider_error", "attempts": 1}),
    "message null": ([answer({"choices": [{"message": None}]})], {"status": "provider_error", "attempts": 1}),
    "a list": ([answer("[]")], {"status": "provider_error"}),
    "content null": ([answer(completion(None))], {"text": "", "finish_reason": "stop", "status": "ok"}),
    "content empty": ([answer(completion(""))], {"text": "", "finish_reason": "stop", "status": "ok"}),
    "content in parts": (
        [answer(completion([{"type": "thinking", "text": "Hm"}, {"type": "text", "text": "Oslo"}]))],  # type: ignore[arg-type]
        {"text": "Oslo"},
    ),
    "cut by its limit": ([answer(completion("Os", "length"))], {"text": "Os", "finish_reason": "length"}),
    "reasoning apart": ([answer(completion(None, "length", reasoning_content="Oslo it is"))], {"text": ""}),
    "reasoning in tags": ([answer(completion("<think>Rome?</think>\nOslo"))], {"text": "Oslo"}),
    "reasoning without its first tag": ([answer(completion("Rome?</think>Oslo"))], {"text": "Oslo"}),
    "reasoning without end": ([answer(completion("<think>Oslo", "length"))], {"text": "", "finish_reason": "length"}),
    "filtered": (
        [answer(completion("", "content_filter"))],
        {"status": "refused_by_provider", "finish_reason": "content_filter"},
    ),
    "filtered before": (
        [answer(error("The response was filtered", "content_filter"), 400)],
        {"status": "refused_by_provider", "finish_reason": "content_filter"},
    ),
    "refused by the model": ([answer(completion(None, refusal="I can't"))], {"status": "refused_by_provider"}),
    "context too long": ([answer(TOO_LONG, 400)], {"status": "context_truncated", "output_tokens": 0, "attempts": 1}),
    "ends for tools": ([answer(completion(None, "tool_calls"))], {"status": "provider_error"}),
    "no finish reason": ([answer(completion("Os", None))], {"status": "provider_error"}),
    "limit before an answer": (
        [answer(error("Could not finish the message because max_tokens was reached"), 400)],
        {"status": "ok", "finish_reason": "length", "text": "", "measured": False, "output_tokens": 8},
    ),
    "two choices though one was asked for": (
        [answer({"choices": [*completion("Rome")["choices"] * 0, {**completion("Rome")["choices"][0], "index": 1},
                             completion("Oslo")["choices"][0]]})],
        {"text": "Oslo"},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("script", "expected"), REPLIES.values(), ids=REPLIES)
def test_each_fault_has_its_status(script: list[Step], expected: dict[str, Any]) -> None:
    with serving(*script) as server:
        (reply,) = RemoteChatModel("small", server.endpoint, max_attempts=3, pace=FakeTime().pace()).generate([ask()])
    assert {name: getattr(reply, name) for name in expected} == expected
    assert (reply.status == "ok") or reply.detail
    assert len(server.seen.bodies) == reply.attempts


@pytest.mark.parametrize("step", [drip(0.02, 30), answer(seconds=0.5)], ids=["drip", "late"])
def test_the_time_limit_is_for_the_whole_call(step: Step) -> None:
    with serving(step, answer()) as server:
        model = RemoteChatModel("small", server.endpoint, timeout_seconds=0.2, pace=FakeTime().pace())
        (reply,) = model.generate([ask()])
    assert (reply.text, reply.attempts) == ("Oslo", 2)


HEADERS = {
    "seconds": ({"Retry-After": "7"}, 7.0),
    "date, server without clock": ({"Retry-After": "Mon, 03 Mar 2025 12:00:30 GMT"}, 30.0),
    "date by the server's clock": (
        {"Retry-After": "Tue, 04 Mar 2025 08:00:20 GMT", "Date": "Tue, 04 Mar 2025 08:00:00 GMT"},
        20.0,
    ),
    "date in the past": ({"Retry-After": "Mon, 03 Mar 2025 11:00:00 GMT"}, 0.0),
    "unreadable": ({"Retry-After": "soon"}, 0.0),
}


@pytest.mark.parametrize(("headers", "asked"), HEADERS.values(), ids=HEADERS)
def test_waits_at_least_as_long_as_asked(headers: dict[str, str], asked: float) -> None:
    time = FakeTime()
    with serving(answer({}, 429, headers), answer()) as server:
        (reply,) = RemoteChatModel("small", server.endpoint, pace=time.pace()).generate([ask()])
    assert reply.text == "Oslo"
    assert time.waits == [asked + 0.375]  # the first limit is 0.5 s; chance 0.5 takes three quarters of it


STOPS = {
    "an hour": answer({}, 429, {"Retry-After": "3600"}),
    "a day as a date": answer({}, 503, {"Retry-After": "Tue, 04 Mar 2025 12:00:00 GMT"}),
    "quota": answer(error("You exceeded your current quota", "insufficient_quota", "insufficient_quota"), 429),
    "quota in a 200": answer(error("quota", "insufficient_quota")),
    "payment": answer(error("Insufficient Balance"), 402),
    "key": answer(error("Incorrect API key", "invalid_api_key"), 401),
    "model": answer(error("The model `small` does not exist", "model_not_found"), 404),
}


@pytest.mark.parametrize("step", STOPS.values(), ids=STOPS)
def test_what_no_call_can_pass_stops_the_batch(step: Step) -> None:
    time, reported = FakeTime(), []
    with serving(answer(), step, answer()) as server:
        model = RemoteChatModel("small", server.endpoint, concurrency=1, pace=time.pace())
        with pytest.raises(StoppedError, match="goes on from there") as caught:
            model.generate([ask(str(n)) for n in range(4)], lambda position, _: reported.append(position))
    assert reported == [0]
    assert len(server.seen.bodies) == 2
    assert not time.waits
    assert caught.value.exit_code == 2


@given(
    st.floats(0, 500), st.floats(0, 500), st.integers(1, 9), st.integers(1, 9), st.floats(0, 200), st.floats(0, 0.999)
)
def test_waits_are_bounded(asked: float, most: float, tries: int, attempts: int, spent: float, chance: float) -> None:
    wait = RetryPolicy(tries, most).wait_seconds(Failure("passing", "", asked), attempts, spent, chance)
    if wait is None:
        assert attempts >= tries or spent >= most or asked > most - spent
    else:
        assert asked <= wait <= (most - spent) * (1 + 1e-9)
        assert attempts < tries


def test_the_wall_time_of_retries_is_bounded() -> None:
    time = FakeTime()
    with serving(answer({}, 429, {"Retry-After": "20"})) as server:
        model = RemoteChatModel("small", server.endpoint, max_attempts=99, max_wait_seconds=50, pace=time.pace())
        (reply,) = model.generate([ask()])
    assert reply.status == "provider_error"
    assert reply.attempts == 3
    assert sum(time.waits) <= 50


USAGES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "measured": ({"prompt_tokens": 20, "completion_tokens": 3}, (20, 3, 0, 0, True)),
    "details": (
        {
            "prompt_tokens": 20,
            "completion_tokens": 9,
            "prompt_tokens_details": {"cached_tokens": 16},
            "completion_tokens_details": {"reasoning_tokens": 6},
        },
        (20, 9, 16, 6, True),
    ),
    "details null": (
        {"prompt_tokens": 20, "completion_tokens": 3, "prompt_tokens_details": None},
        (20, 3, 0, 0, True),
    ),
    "reasoning beside the completion": (
        {"prompt_tokens": 20, "completion_tokens": 3, "total_tokens": 63,
         "completion_tokens_details": {"reasoning_tokens": 40}},
        (20, 43, 0, 40, True),
    ),
    "more cached than sent": (
        {"prompt_tokens": 2, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 16}},
        (5, 1, 0, 0, False),
    ),
    "absent": ("absent", (5, 1, 0, 0, False)),
    "null": (None, (5, 1, 0, 0, False)),
    "text": ({"prompt_tokens": "20", "completion_tokens": 3}, (5, 1, 0, 0, False)),
    "negative": ({"prompt_tokens": 20, "completion_tokens": -1}, (5, 1, 0, 0, False)),
    "true": ({"prompt_tokens": True, "completion_tokens": 3}, (5, 1, 0, 0, False)),
    "zero": ({"prompt_tokens": 0, "completion_tokens": 0}, (5, 1, 0, 0, False)),
    "a list": ([20, 3], (5, 1, 0, 0, False)),
}  # fmt: skip


@pytest.mark.parametrize(("usage", "expected"), USAGES.values(), ids=USAGES)
def test_tokens_are_the_providers_or_marked_estimates(usage: Any, expected: tuple[Any, ...]) -> None:
    with serving(answer(completion(usage=usage))) as server:
        (reply,) = RemoteChatModel("small", server.endpoint).generate([ask()])  # 20 characters, about 5 tokens
    found = (reply.input_tokens, reply.output_tokens, reply.cached_input_tokens, reply.reasoning_tokens, reply.measured)
    assert found == expected


@pytest.mark.parametrize(
    ("words", "reported", "status"),
    [(100, 89, "context_truncated"), (100, 90, "ok"), (100, 140, "ok"), (16_000, 1_638, "context_truncated")],
)
def test_a_prompt_cut_without_a_word_is_seen(words: int, reported: int, status: str) -> None:
    usage = {"prompt_tokens": reported, "completion_tokens": 3}
    with serving(answer(completion(usage=usage))) as server:
        model = RemoteChatModel("small", server.endpoint, count_tokens=lambda text: len(text.split()))
        (reply,) = model.generate([ask("word " * words)])
        (unchecked,) = RemoteChatModel("small", server.endpoint).generate([ask("word " * words)])
    assert (reply.status, reply.text, reply.input_tokens) == (status, "Oslo", reported)
    assert unchecked.status == "ok"
