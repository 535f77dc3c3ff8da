"""One request until its reply is there or given up: attempts, waits, and sending again without what is refused."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from memgauge.llm.chat import ChatReply
from memgauge.llm.remote_calls import send
from memgauge.llm.remote_keys import Key
from memgauge.llm.remote_parameters import CHANGES, adapted
from memgauge.llm.remote_replies import CountTokens, failed_reply, read_response
from memgauge.llm.retries import STOPS, Failure, FailureKind, Pace, RetryPolicy

if TYPE_CHECKING:
    from openai import AsyncOpenAI

Pause = Callable[[Awaitable[None]], Awaitable[None]]
"""Awaits a sleep; it is the batch's way to end a call that waits to be tried again."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a request ended: a reply (a failed one too), or the failure that every other call would share.

    `body` was sent last; `adapted` tells that the model took it after refusing a parameter, `failed` the kind of
    the failure that a failed reply stands for.
    """

    result: ChatReply | Failure
    body: dict[str, Any]
    adapted: bool = False
    failed: FailureKind | None = None


@dataclass(frozen=True)
class Caller:
    """Makes the calls of one batch over one client."""

    client: "AsyncOpenAI"
    key: Key
    policy: RetryPolicy
    pace: Pace
    timeout_seconds: float
    count_tokens: CountTokens | None = None

    async def call(self, body: dict[str, Any], pause: Pause) -> Outcome:
        """Send a body until a reply or a failure that lasts; each parameter is renamed or left out at most once."""
        attempts = failures = 0
        first_failed: float | None = None
        given_up: set[str | None] = set()
        while True:
            started = self.pace.clock()
            result = await self._attempt(body)
            attempts += 1
            ended = self.pace.clock()
            if isinstance(result, ChatReply):
                return Outcome(
                    replace(result, attempts=attempts, latency_seconds=ended - started), body, bool(given_up)
                )
            parameter = result.parameter
            if parameter is not None and parameter not in given_up:
                given_up |= {parameter, CHANGES[parameter]}
                body = adapted(body, {parameter: CHANGES[parameter]})
                await pause(self.pace.sleep(0))
                continue
            failures += 1
            first_failed = ended if first_failed is None else first_failed
            wait = self.policy.wait_seconds(result, failures, ended - first_failed, self.pace.chance())
            if wait is None:
                return Outcome(self._last(result, body, attempts), body, failed=result.kind)
            await pause(self.pace.sleep(wait))

    async def _attempt(self, body: dict[str, Any]) -> ChatReply | Failure:
        answer = await send(self.client, body, self.key, self.timeout_seconds)
        if isinstance(answer, Failure):
            return answer
        found = read_response(answer, body, self.count_tokens, self.pace.now())
        return replace(found, detail=self.key.scrub(found.detail))  # it is shown; a reply's text is not touched

    def _last(self, failure: Failure, body: dict[str, Any], attempts: int) -> ChatReply | Failure:
        """What a failure that is not tried again ends: this call, or all calls."""
        if failure.kind in STOPS:
            return failure
        if self.policy.too_long(failure):
            limit = f"max_wait_seconds is {self.policy.max_wait_seconds:g}"
            return replace(failure, detail=f"asked to wait {failure.asked_seconds:g} s, {limit}; {failure.detail}")
        return replace(failed_reply(failure, body, self.count_tokens), attempts=attempts)
