"""One HTTP call to an OpenAI-compatible endpoint with the official client, which is told never to retry by itself."""

import asyncio
import ssl
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from memgauge.llm.remote_failures import Response
from memgauge.llm.remote_keys import Key
from memgauge.llm.retries import Failure, FailureKind

if TYPE_CHECKING:
    from openai import AsyncOpenAI

CONNECT_SECONDS = 10.0


def open_client(endpoint: str, key: Key, timeout_seconds: float) -> "AsyncOpenAI":
    """A client for one batch. It follows no redirect: the key and the prompt go where they were meant to go."""
    import openai

    timeout = openai.Timeout(timeout_seconds, connect=min(timeout_seconds, CONNECT_SECONDS))
    http_client = openai.DefaultAsyncHttpxClient(follow_redirects=False, timeout=timeout, verify=_certificates())
    return openai.AsyncOpenAI(
        base_url=endpoint,
        api_key=key.value or "none",
        max_retries=0,
        http_client=http_client,
    )


async def send(client: "AsyncOpenAI", body: Mapping[str, Any], key: Key, timeout_seconds: float) -> Response | Failure:
    """Send a body as it is; what came back with any status, or why nothing did. No secret key is in either.

    Without a key no header is sent for one, also when the environment holds another service's key.
    The time limit is for the whole call: a server that sends a byte now and then is not waited for.
    Failures are returned, not raised, because the client's exceptions hold the request and its headers.
    """
    import openai

    headers = {} if key.value else {"Authorization": openai.Omit()}
    rest = {name: value for name, value in body.items() if name not in ("model", "messages")}
    completions: Any = client.chat.completions.with_raw_response
    try:
        async with asyncio.timeout(timeout_seconds):
            raw = await completions.create(
                model=body["model"], messages=body["messages"], extra_body=rest, extra_headers=headers
            )
            return _response(raw.http_response, key)
    except openai.APIStatusError as error:
        return _response(error.response, key)
    except (TimeoutError, openai.APITimeoutError) as error:
        return Failure(_kind(error), f"no complete answer within {timeout_seconds:g} s")
    except openai.APIConnectionError as error:
        return Failure(_kind(error), key.scrub(f"{type(error.__cause__).__name__}: {error.__cause__}"))


def _kind(error: BaseException) -> FailureKind:
    import httpx2

    no_connection = isinstance(error.__cause__, httpx2.ConnectError | httpx2.ConnectTimeout)
    return "unreachable" if no_connection else "passing"


@cache
def _certificates() -> ssl.SSLContext:
    """Read once: every client would read the certificates anew, 20 to 100 ms before each batch."""
    import httpx2

    return httpx2.create_ssl_context()


def _response(response: Any, key: Key) -> Response:
    """What came, a secret key taken out of all of it; a stand-in for one would spoil answers and error codes."""
    clean = key.scrub if key.secret else str
    headers = {name.lower(): clean(value) for name, value in response.headers.items()}
    return Response(response.status_code, headers, clean(response.content.decode("utf-8", "replace")))
