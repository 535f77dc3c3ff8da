"""Parameters that a model refuses: adapted once, remembered, and in the payload as they were really sent."""

from typing import Any

import pytest

from memgauge.llm.chat import ChatReply
from memgauge.llm.remote import RemoteChatModel
from memgauge.llm.remote_parameters import AdaptationsHere

from .fault_server import Step, answer, ask, by_request, error, serving


def refuses(*names: str, style: str = "hosted") -> Step:
    """A server that refuses parameters, one at a time, in the manner of one kind of server."""
    texts = {
        "hosted": lambda name: (error(f"Unsupported parameter: '{name}'", "unsupported_parameter", param=name), 400),
        "default only": lambda name: (error(f"'{name}' does not support 0. Only the default (1) is supported."), 400),
        "unrecognized": lambda name: (error(f"Unrecognized request argument supplied: {name}"), 400),
        "framework": lambda name: ({"detail": [{"loc": ["body", name], "msg": "Extra inputs are not permitted"}]}, 422),
        "fields": lambda name: ({"detail": f"Unexpected fields in the request: {{'{name}'}}"}, 422),
        "part": lambda name: (error(f"Invalid parameter: '{name}' of type 'x'", None, param=f"{name}.type"), 400),
    }

    def choose(body: dict[str, Any]) -> Step:
        refused = next((name for name in names if name in body), None)
        return answer() if refused is None else answer(*texts[style](refused))

    return by_request(choose)


STYLES = ["hosted", "default only", "unrecognized", "framework", "fields", "part"]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", ["max_tokens", "temperature", "seed", "response_format"])
def test_a_refused_parameter_is_adapted_once_and_remembered(name: str, style: str) -> None:
    asked = ask(schema='{"type": "object"}', seed=3)
    with serving(refuses(name, style=style)) as server:
        model = RemoteChatModel("small", server.endpoint, max_attempts=1)
        first, second = model.generate([asked])[0], model.generate([asked])[0]
        sent = model.payload(asked)
    assert [(reply.text, reply.attempts) for reply in (first, second)] == [("Oslo", 2), ("Oslo", 1)]
    refused, taken, straight = server.seen.bodies
    assert name in refused
    assert name not in taken
    assert taken == straight == {key: value for key, value in sent.items() if key not in ("endpoint", "sample")}
    assert ("max_completion_tokens" in taken) == (name == "max_tokens")


def test_a_reasoning_model_needs_two_adaptations_and_another_endpoint_none() -> None:
    memory = AdaptationsHere()
    with serving(refuses("max_tokens", "temperature")) as strict, serving(answer()) as plain:
        model = RemoteChatModel("small", strict.endpoint, adaptations=memory)
        (reply,) = model.generate([ask()])
        RemoteChatModel("small", plain.endpoint, adaptations=memory).generate([ask()])
    assert reply.attempts == 3
    assert memory.remembered(model.model_id) == {"max_tokens": "max_completion_tokens", "temperature": None}
    assert (plain.seen.bodies[0]["max_tokens"], plain.seen.bodies[0]["temperature"]) == (8, 0.0)


def test_what_was_remembered_can_be_unlearnt() -> None:
    memory = AdaptationsHere()
    with serving(refuses("max_completion_tokens")) as server:
        model = RemoteChatModel("small", server.endpoint, adaptations=memory)
        memory.remember(model.model_id, {"max_tokens": "max_completion_tokens"})
        replies = [model.generate([ask()])[0] for _ in range(2)]
    assert [reply.attempts for reply in replies] == [2, 1]


def test_no_adaptation_where_it_does_not_help() -> None:
    too_many = error("max_tokens is too large: 8. This model supports at most 4", "invalid_value", param="max_tokens")
    with serving(answer(too_many, 400)) as ranged, serving(refuses("max_tokens", "max_completion_tokens")) as neither:
        models = [RemoteChatModel("small", server.endpoint) for server in (ranged, neither)]
        replies = [model.generate([ask()])[0] for model in models]
    assert [(reply.status, reply.attempts) for reply in replies] == [("provider_error", 1), ("provider_error", 2)]
    assert all(not model.adaptations.remembered(model.model_id) for model in models)


def test_a_store_keys_what_the_reply_was_given_to() -> None:
    """Two calls under way learn the same; each payload asked for in `on_reply` is the body that was answered."""
    keyed: dict[int, dict[str, Any]] = {}
    asked = [ask("a", temperature=0.5), ask("b", temperature=0.5)]

    def keep(position: int, reply: ChatReply) -> None:
        keyed[position] = model.payload(asked[position])

    with serving(refuses("temperature")) as server:
        model = RemoteChatModel("small", server.endpoint, concurrency=2)
        before = model.payload(asked[0])
        model.generate(asked, keep)
    assert "temperature" in before
    taken = [body for body in server.seen.bodies if "temperature" not in body]
    sent = sorted((body["messages"][0]["content"], body) for body in taken)
    assert sent == sorted((kept["messages"][0]["content"], stripped(kept)) for kept in keyed.values())
    assert keyed == {position: model.payload(request) for position, request in enumerate(asked)}


def test_a_reply_given_to_the_whole_body_is_keyed_so_whatever_was_learnt_meanwhile() -> None:
    """`b` is refused and adapted while `a` is still being answered with its temperature."""
    keyed: dict[int, dict[str, Any]] = {}
    asked = [ask("a"), ask("b")]
    refusal = answer(error("Unsupported parameter: 'temperature'", param="temperature"), 400)

    def choose(body: dict[str, Any]) -> Step:
        if body["messages"][0]["content"] == "a":
            return answer(seconds=0.3)
        return refusal if "temperature" in body else answer()

    with serving(by_request(choose)) as server:
        model = RemoteChatModel("small", server.endpoint, concurrency=2)
        model.generate(asked, lambda position, _: keyed.update({position: model.payload(asked[position])}))
    assert list(keyed) == [1, 0]
    assert ("temperature" in keyed[0], "temperature" in keyed[1]) == (True, False)
    assert "temperature" not in model.payload(asked[0])


def stripped(payload: dict[str, Any]) -> dict[str, Any]:
    """The part of a payload that is the body."""
    return {name: value for name, value in payload.items() if name not in ("endpoint", "sample")}


def test_payload_is_what_is_sent_and_tells_requests_apart() -> None:
    schema = '{"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "string"}}}'
    asked = ask(schema=schema, seed=0, temperature=0.7, sample=1)
    with serving(answer()) as server:
        model = RemoteChatModel("small", f"{server.endpoint}/", extra={"top_p": 0.9})
        (reply,) = model.generate([asked])
        payload = model.payload(asked)
    assert server.seen.bodies == [stripped(payload)]
    assert payload["endpoint"] == server.endpoint
    form = payload["response_format"]["json_schema"]
    assert form["strict"] is True
    assert list(form["schema"]["properties"]) == ["b", "a"]
    assert reply.detail == "the endpoint ignored response_format: the reply is no JSON"
    others = [
        ask(schema=schema, temperature=0.7, sample=1),
        ask(schema=schema, seed=0, temperature=0.7),
        ask(schema=schema, seed=0, temperature=0.0, sample=1),
        ask(schema=schema, seed=0, temperature=0.7, sample=1, max_new_tokens=9),
        ask(seed=0, temperature=0.7, sample=1),
        ask("x", schema=schema, seed=0, temperature=0.7, sample=1),
    ]
    assert all(model.payload(other) != payload for other in others)
    assert RemoteChatModel("small", server.endpoint).payload(asked) != payload


SCHEMA_REFUSALS = [
    error("Invalid schema for response_format 'reply': 'required' is required to be supplied", param="response_format"),
    error("Invalid schema for response_format 'reply': In context=('items',), 'required' is missing 'old_memory'."),
    error("The provided JSON schema contains features not supported by xgrammar."),
]


@pytest.mark.parametrize("refusal", SCHEMA_REFUSALS)
def test_a_schema_that_an_endpoint_cannot_follow_is_left_out(refusal: Any) -> None:
    def choose(body: dict[str, Any]) -> Step:
        return answer(refusal, 400) if "response_format" in body else answer()

    with serving(by_request(choose)) as server:
        (reply,) = RemoteChatModel("small", server.endpoint).generate([ask(schema='{"type": "object"}')])
        (plain,) = RemoteChatModel("small", server.endpoint).generate([ask()])
    assert [(each.text, each.status, each.attempts) for each in (reply, plain)] == [
        ("Oslo", "ok", 2),
        ("Oslo", "ok", 1),
    ]
