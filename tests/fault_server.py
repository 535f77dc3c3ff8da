"""An OpenAI-compatible server on loopback that does, request by request, what a script says; real HTTP, real sockets.

A step of the script is what is done with one request: `answer(...)`, `cut(...)`, `drip(...)`, `by_request(...)`. When
the script has run out its last step is repeated.
"""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from memgauge.llm.chat import ChatRequest
from memgauge.llm.retries import Pace

Step = Callable[["Handler"], None]

USAGE = {"prompt_tokens": 20, "completion_tokens": 3, "total_tokens": 23}


def completion(text: str | None = "Oslo", finish: str | None = "stop", usage: object = USAGE, **message: Any) -> Any:
    """A chat completion as servers send it; `message` adds to its message."""
    body: dict[str, Any] = {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "small",
        "choices": [
            {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}
        ],
    }
    return body if usage == "absent" else {**body, "usage": usage}


def error(message: str, code: object = None, kind: str = "invalid_request_error", param: str | None = None) -> Any:
    """An error body as hosted services send it."""
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def answer(body: Any = None, status: int = 200, headers: Mapping[str, str] | None = None, seconds: float = 0.0) -> Step:
    """A complete answer after some seconds; a body that is text is sent as it is."""

    def step(handler: "Handler") -> None:
        time.sleep(seconds)
        text = body if isinstance(body, str) else json.dumps(completion() if body is None else body)
        handler.reply(status, text.encode(), headers or {})

    return step


def by_request(choose: Callable[[dict[str, Any]], Step]) -> Step:
    """A step that depends on the request's body."""
    return lambda handler: choose(handler.request_body)(handler)


def cut(after_bytes: int = 20) -> Step:
    """The connection ends in the middle of the body."""

    def step(handler: "Handler") -> None:
        text = json.dumps(completion()).encode()
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(text)))
        handler.end_headers()
        handler.wfile.write(text[:after_bytes])
        handler.wfile.flush()
        handler.close_connection = True
        handler.connection.shutdown(socket.SHUT_RDWR)

    return step


def drip(seconds_between: float, count: int) -> Step:
    """A blank now and then before a good answer: every read is in time, the whole may not be."""

    def step(handler: "Handler") -> None:
        text = json.dumps(completion("late")).encode()
        handler.send_response(200)
        handler.send_header("Content-Length", str(count + len(text)))
        handler.end_headers()
        for _ in range(count):
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(seconds_between)
        handler.wfile.write(text)

    return step


@dataclass
class Seen:
    """What came, in order: bodies, headers (names in lower case); and the most requests held at once."""

    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    most_held: int = 0


class Handler(BaseHTTPRequestHandler):
    """Takes the next step of the script for each request."""

    protocol_version = "HTTP/1.1"
    server: "FaultServer"
    request_body: dict[str, Any]

    def do_POST(self) -> None:
        """Every chat call."""
        self.request_body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            self.server.arrive(self)(self)
        except (BrokenPipeError, ConnectionResetError):  # the client gave up, as some tests want it to
            self.close_connection = True
        finally:
            self.server.leave()

    def reply(self, status: int, text: bytes, headers: Mapping[str, str]) -> None:
        """A complete answer; the server's slot is free before the client can know. ECHO becomes the client's key."""
        key = self.headers.get("Authorization", "").removeprefix("Bearer ")
        text = text.replace(b"ECHO", key.encode())
        self.send_response_only(status)  # no Date header of this machine's clock
        for name, value in headers.items():
            self.send_header(name, value.replace("ECHO", key))
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.server.leave()
        self.wfile.write(text)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on the terminal."""


@dataclass
class FakeTime:
    """Clocks that only sleeping moves; `waits` are the seconds slept."""

    seconds: float = 0.0
    waits: list[float] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        """Note the wait and let others run."""
        self.waits += [seconds] if seconds else []
        self.seconds += seconds
        await asyncio.sleep(0)

    def pace(self) -> Pace:
        """What a chat model needs of it; the date stays Mon, 03 Mar 2025 12:00:00 GMT, chance 0.5."""
        return Pace(self.sleep, lambda: self.seconds, lambda: datetime(2025, 3, 3, 12, tzinfo=UTC), lambda: 0.5)


def ask(content: str = "Where does Ann live?", **fields: Any) -> ChatRequest:
    """A request of one message."""
    return ChatRequest(({"role": "user", "content": content},), fields.pop("max_new_tokens", 8), **fields)


class FaultServer(ThreadingHTTPServer):
    """Runs a script; `seen` tells what came."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, script: Sequence[Step]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = list(script)
        self.seen = Seen()
        self.lock = threading.Lock()
        self.inside: set[int] = set()

    @property
    def endpoint(self) -> str:
        """The base URL for a client."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    def arrive(self, handler: Handler) -> Step:
        """Note a request and choose its step."""
        with self.lock:
            place = len(self.seen.bodies)
            self.seen.bodies.append(handler.request_body)
            self.seen.headers.append({name.lower(): value for name, value in handler.headers.items()})
            self.inside.add(threading.get_ident())
            self.seen.most_held = max(self.seen.most_held, len(self.inside))
            return self.script[min(place, len(self.script) - 1)]

    def leave(self) -> None:
        """The request of this thread is answered."""
        with self.lock:
            self.inside.discard(threading.get_ident())


@contextmanager
def serving(*script: Step) -> Iterator[FaultServer]:
    """A running server; closed at the end."""
    server = FaultServer(script)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
