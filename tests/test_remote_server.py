"""The remote chat model against a real OpenAI-compatible server: `transformers serve` with the small chat model."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from memgauge.errors import InputError
from memgauge.llm.chat import ChatRequest
from memgauge.llm.remote import RemoteChatModel

START_SECONDS = 120
pytestmark = pytest.mark.models


@pytest.fixture(scope="session")
def served(models: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """Endpoint and model name of a running server; it is stopped at the end."""
    folder = models / "smollm2"
    if not (folder / "config.json").is_file():
        pytest.skip("the small chat model is not in models/smollm2")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = tmp_path_factory.mktemp("server") / "log.txt"
    command = [str(Path(sys.executable).with_name("transformers")), "serve", str(folder), "--device", "cpu"]
    command += ["--dtype", "float32", "--host", "127.0.0.1", "--port", str(port)]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}
    with log.open("wb") as sink:
        server = subprocess.Popen(command, env=environment, stdout=sink, stderr=subprocess.STDOUT)
        try:
            wait_until_ready(server, f"http://127.0.0.1:{port}/health", log)
            yield f"http://127.0.0.1:{port}/v1", str(folder)
        finally:
            server.terminate()
            server.wait(timeout=30)


def wait_until_ready(server: "subprocess.Popen[bytes]", address: str, log: Path) -> None:
    """Return when the server answers; fail with its log when it ended or took too long."""
    deadline = time.monotonic() + START_SECONDS
    while server.poll() is None and time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.5)
    pytest.fail(f"the server is not ready: {log.read_text()[-2000:]}")


def question(limit: int) -> ChatRequest:
    """A short chat with a short reply."""
    return ChatRequest(({"role": "user", "content": "Say hello to Ann."},), limit)


def test_a_real_server_answers(served: tuple[str, str]) -> None:
    endpoint, name = served
    model = RemoteChatModel(name, endpoint, concurrency=2)
    before = model.payload(question(8))
    reported: list[int] = []
    first, second = model.generate([question(8), question(2)], lambda position, _: reported.append(position))
    assert first.text.strip()
    assert (first.status, first.attempts, first.measured) == ("ok", 1, True)
    assert first.finish_reason in ("stop", "length")
    assert 10 < first.input_tokens < 100
    assert 0 < first.output_tokens <= 8
    assert (second.finish_reason, second.output_tokens) == ("length", 2)
    assert first.text.startswith(second.text)
    assert sorted(reported) == [0, 1]
    assert model.payload(question(8)) == before


def test_preflight_passes_and_a_wrong_name_is_one_clear_error(served: tuple[str, str]) -> None:
    endpoint, name = served
    RemoteChatModel(name, endpoint).preflight()
    with pytest.raises(InputError, match="has no model 'no-such-model'"):
        RemoteChatModel("no-such-model", endpoint).preflight()
