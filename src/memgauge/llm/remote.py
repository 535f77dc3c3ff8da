"""The chat model behind an OpenAI-compatible endpoint: vLLM, llama.cpp, Ollama, transformers serve, hosted APIs."""

import asyncio
import logging
import os
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlsplit

from memgauge.errors import InputError
from memgauge.llm.chat import ChatReply, ChatRequest, OnReply, ignore
from memgauge.llm.remote_attempts import Caller, Outcome
from memgauge.llm.remote_batch import Batch
from memgauge.llm.remote_calls import open_client
from memgauge.llm.remote_keys import Key, read_key, scrubbed_logs
from memgauge.llm.remote_parameters import CHANGES, Adaptations, AdaptationsHere, adapted, learnt, plain_body
from memgauge.llm.remote_replies import CountTokens
from memgauge.llm.retries import AGAIN, Failure, FailureKind, Pace, RetryPolicy, StoppedError

Value = TypeVar("Value")

LOG = logging.getLogger(__name__)
SET_BY_REQUEST = frozenset({*CHANGES, "model", "messages", "endpoint", "sample", "n", "stream"})
GIVEN_UP = 8  # calls in a row, each after all its attempts, after which an endpoint is held to serve none
SHORTEST = ChatRequest(({"role": "user", "content": "Say yes."},), max_new_tokens=1)
UNUSABLE: dict[FailureKind, str] = {
    "unreachable": "{endpoint} cannot be reached ({detail}); start its server or correct the address",
    "key": "{endpoint} does not accept the key in {variable} ({detail}); correct it or set key_variable to another",
    "model": "{endpoint} has no model {model!r} ({detail}); use a name that {endpoint}/models lists",
    "address": "there is no chat API at {endpoint} ({detail}); give the address before /chat/completions, as in .../v1",
}
FOR_NOW: dict[FailureKind, str] = {
    "quota": "the money or allowance for {model!r} at {endpoint} is used up ({detail}); top it up",
    "passing": "{endpoint} cannot serve {model!r} now ({detail}); wait, or raise max_wait_seconds",
    "refused": "{endpoint} refuses the calls to {model!r} ({detail}); check the model and the extra parameters",
}


@dataclass(frozen=True)
class RemoteChatModel:
    """One model at one endpoint (its base URL), called at most `concurrency` times at once.

    `key_variable` names the environment variable that holds the key, None for servers that need none.
    `max_attempts` bounds the attempts of one call, `max_wait_seconds` the wall time of its retries; sending again
    without a refused parameter is not counted. `extra` holds further sampling parameters, sent as they are.
    `count_tokens` counts a text in about the model's tokens, to see that a server cut a prompt; None: not checked.
    Raises InputError for a field that cannot work.
    """

    model: str
    endpoint: str
    key_variable: str | None = None
    concurrency: int = 4
    max_attempts: int = 5
    max_wait_seconds: float = 120.0
    timeout_seconds: float = 120.0
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)
    count_tokens: CountTokens | None = None
    adaptations: Adaptations = field(default_factory=AdaptationsHere, compare=False)
    pace: Pace = field(default_factory=Pace, repr=False, compare=False)
    _reporting: list[tuple[ChatRequest, dict[str, Any]]] = field(
        default_factory=list, init=False, repr=False, compare=False
    )
    _given_up: list[str] = field(default_factory=list, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_endpoint(self.endpoint)
        for name, least in (("concurrency", 1), ("max_attempts", 1), ("max_wait_seconds", 0)):
            if getattr(self, name) < least:
                raise InputError(f"{name} is {getattr(self, name)}; it must be at least {least}")
        if not self.timeout_seconds > 0:
            raise InputError(f"timeout_seconds is {self.timeout_seconds}; it must be more than 0")
        taken = sorted(SET_BY_REQUEST & set(self.extra))
        if taken:
            raise InputError(f"extra holds {', '.join(taken)}; the request sets them itself; leave them out")

    @property
    def model_id(self) -> str:
        """The name under which refused parameters are remembered, endpoint and model together."""
        return f"{self.model} at {self.endpoint.rstrip('/')}"

    def payload(self, request: ChatRequest) -> dict[str, Any]:
        """The body as it will be sent, with the endpoint and the sample, which tells equal bodies apart.

        Inside `on_reply` it is the body that the reported reply was really given to: a store must ask for the
        key there, not before the call, since a parameter may have been refused meanwhile.
        """
        reported = next((body for known, body in self._reporting if known == request), None)
        return {**(reported or self._body(request)), "endpoint": self.endpoint.rstrip("/"), "sample": request.sample}

    def generate(self, requests: Sequence[ChatRequest], on_reply: OnReply = ignore) -> list[ChatReply]:
        """One reply for each request, in order (`ChatModel.generate`).

        Raises InputError before any call when the key's variable cannot be used, and StoppedError when no call
        can succeed any more: quota, key, model or address refused, no connection, a wait longer than allowed,
        several calls in a row given up.
        """
        replies: dict[int, ChatReply] = {}

        async def make_calls(caller: Caller) -> None:
            async def make_call(position: int) -> None:
                request = requests[position]
                outcome = await caller.call(self._body(request), batch.pause)
                replies[position] = self._accept(request, outcome)
                self._report(position, request, outcome.body, replies[position], on_reply)
                self._watch(_no_answer(outcome), replies[position].detail)

            batch = Batch(len(requests), make_call)
            await batch.run(self.concurrency)

        if requests:
            self._run(make_calls)
        return [replies[position] for position in range(len(requests))]

    def preflight(self) -> None:
        """One call of one token, so that what cannot work fails before the work.

        Raises InputError for an endpoint, key or model that cannot be used, StoppedError for one that cannot now.
        """

        async def make_call(caller: Caller) -> Outcome:
            return await caller.call(self._body(SHORTEST), lambda sleeping: sleeping)

        outcome = self._run(make_call)
        if isinstance(outcome.result, Failure) and outcome.result.kind in UNUSABLE:
            raise InputError(self._explained(outcome.result))
        reply = self._accept(SHORTEST, outcome)
        if outcome.failed in AGAIN:
            raise StoppedError(self._explained(Failure("passing", reply.detail)))
        if reply.status == "provider_error":
            raise InputError(
                f"{self.endpoint} refuses the plainest request to {self.model!r} ({reply.detail}); "
                "check the model and the extra parameters"
            )

    def _run(self, work: Callable[[Caller], Coroutine[Any, Any, Value]]) -> Value:
        """Run the calls of one batch in an event loop of their own, in this thread."""
        key = read_key(os.environ, self.key_variable, self.endpoint)
        with suppress(RuntimeError):  # raised when no loop runs, which is the good case
            asyncio.get_running_loop()
            raise InputError(
                "an event loop already runs in this thread, as in a notebook; calls need their own; "
                "use asyncio.to_thread or a thread"
            )

        async def connected() -> Value:
            async with open_client(self.endpoint, key, self.timeout_seconds) as client:
                with scrubbed_logs(key):
                    return await work(self._caller(client, key))

        return asyncio.run(connected())

    def _caller(self, client: Any, key: Key) -> Caller:
        policy = RetryPolicy(self.max_attempts, self.max_wait_seconds)
        return Caller(client, key, policy, self.pace, self.timeout_seconds, self.count_tokens)

    def _body(self, request: ChatRequest) -> dict[str, Any]:
        return adapted(plain_body(self.model, request, self.extra), self.adaptations.remembered(self.model_id))

    def _accept(self, request: ChatRequest, outcome: Outcome) -> ChatReply:
        """The reply of an outcome, what its model refuses remembered; StoppedError for a failure that all share."""
        if isinstance(outcome.result, Failure):
            raise self._stopped(outcome.result)
        if outcome.adapted:
            known = self.adaptations.remembered(self.model_id)
            forms = learnt(plain_body(self.model, request, self.extra), outcome.body)
            change = {name: form for name, form in forms.items() if form != known.get(name, name)}
            if change:
                self.adaptations.remember(self.model_id, change)
                LOG.warning("%s refuses a parameter; from now on it is sent as: %s", self.model_id, change)
        return outcome.result

    def _watch(self, why: FailureKind | None, detail: str) -> None:
        """StoppedError when the endpoint has answered none of the last calls: to go on would fail all that is left."""
        if why is None:
            self._given_up.clear()
            return
        self._given_up.append(detail)
        if len(self._given_up) >= GIVEN_UP:
            raise self._stopped(Failure(why, f"{len(self._given_up)} calls in a row failed; {detail}"))

    def _stopped(self, failure: Failure) -> StoppedError:
        return StoppedError(
            f"{self._explained(failure)}; replies that came are kept, the same command goes on from there"
        )

    def _report(
        self, position: int, request: ChatRequest, body: dict[str, Any], reply: ChatReply, on_reply: OnReply
    ) -> None:
        self._reporting.append((request, body))
        try:
            on_reply(position, reply)
        finally:
            self._reporting.pop()

    def _explained(self, failure: Failure) -> str:
        """Value, rule and cure of a failure that ends the work."""
        form = {**UNUSABLE, **FOR_NOW}[failure.kind]
        variable = self.key_variable or "key_variable, which is not set"
        return form.format(endpoint=self.endpoint, model=self.model, variable=variable, detail=failure.detail)


def _no_answer(outcome: Outcome) -> FailureKind | None:
    """How a call failed, where that says more of the endpoint than of the one prompt: "passing" or "refused"."""
    if isinstance(outcome.result, Failure) or outcome.result.status != "provider_error":
        return None
    return "passing" if outcome.failed in AGAIN else "refused"


def check_endpoint(endpoint: str) -> None:
    """InputError for what is no http(s) base URL; one that may hold a secret is refused without being shown."""
    try:
        parts = urlsplit(endpoint)
        parts.port  # noqa: B018  raises ValueError for what is no port
    except ValueError as error:
        raise InputError("the endpoint is no address; it must look like https://host:8000/v1") from error
    if parts.username or parts.password or parts.query or parts.fragment:
        raise InputError(
            "the endpoint's address holds a user name, a password, a query or a fragment; "
            "a key belongs in the environment variable that key_variable names; give the bare address"
        )
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(f"endpoint {endpoint!r} is no address; it must look like https://host/v1")
    if parts.path.rstrip("/").endswith("/completions"):
        raise InputError(f"endpoint {endpoint!r} names one call; give the address before /chat/completions")
