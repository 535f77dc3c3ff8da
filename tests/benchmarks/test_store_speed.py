"""What remembering costs beside asking: key hashing, store hits and adds, against a dict and a JSON file."""

import json
from pathlib import Path
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from memgauge.llm.chat import ChatReply
from memgauge.llm.store import ResponseStore, key

CONTEXT = "Ann: I moved to Oslo with my two cats last spring and started to learn the piano.\n" * 100
REPLY = ChatReply("Oslo, since last spring.", "stop", 2000, 8)
CALLS, BATCH = 1000, 30


def payload(number: int) -> dict[str, Any]:
    """A question about a context of 8,300 characters (some 2,000 tokens)."""
    content = f"{CONTEXT}\nWhere did Ann live in year {number}?"
    return {
        "model": "m",
        "endpoint": "http://localhost/v1",
        "temperature": 0,
        "messages": [{"role": "user", "content": content}],
    }


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[ResponseStore, list[str]]:
    store = ResponseStore(tmp_path_factory.mktemp("store") / "replies.sqlite")
    keys = [key(payload(number), 0) for number in range(CALLS)]
    for number, name in enumerate(keys):
        store.add(name, payload(number), 0, REPLY)
    return store, keys


@pytest.mark.benchmark(group="key of a request of 8,300 characters")
def test_key(benchmark: BenchmarkFixture) -> None:
    assert len(benchmark(key, payload(1), 0)) == 64


@pytest.mark.benchmark(group="30 hits among 1,000 replies")
def test_store(benchmark: BenchmarkFixture, filled: tuple[ResponseStore, list[str]]) -> None:
    store, keys = filled
    assert len(benchmark(store.find, keys[::33][:BATCH])) == BATCH


@pytest.mark.benchmark(group="30 hits among 1,000 replies")
def test_store_with_keys_made(benchmark: BenchmarkFixture, filled: tuple[ResponseStore, list[str]]) -> None:
    store, _ = filled
    payloads = [payload(number) for number in range(BATCH)]
    assert len(benchmark(lambda: store.find([key(one, 0) for one in payloads]))) == BATCH


@pytest.mark.benchmark(group="30 hits among 1,000 replies")
def test_dict(benchmark: BenchmarkFixture, filled: tuple[ResponseStore, list[str]]) -> None:
    store, keys = filled
    known = store.find(keys)
    assert len(benchmark(lambda: [known[name] for name in keys[::33][:BATCH]])) == BATCH


@pytest.mark.benchmark(group="30 hits among 1,000 replies")
def test_json_file(benchmark: BenchmarkFixture, filled: tuple[ResponseStore, list[str]], tmp_path: Path) -> None:
    """A file of replies alone, read anew for a batch, as a new process must."""
    _, keys = filled
    (tmp_path / "replies.json").write_text(json.dumps(dict.fromkeys(keys, REPLY.text)), encoding="utf-8")

    def look() -> list[str]:
        known = json.loads((tmp_path / "replies.json").read_text(encoding="utf-8"))
        return [known[name] for name in keys[::33][:BATCH]]

    assert len(benchmark(look)) == BATCH


@pytest.mark.benchmark(group="one hit among 1,000 replies")
def test_one_hit(benchmark: BenchmarkFixture, filled: tuple[ResponseStore, list[str]]) -> None:
    store, keys = filled
    assert benchmark(store.find, [keys[500]])


@pytest.mark.benchmark(group="one reply kept")
def test_add(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    store, sent = ResponseStore(tmp_path / "replies.sqlite"), payload(1)
    numbers = iter(range(10**9))
    benchmark(lambda: store.add(f"{next(numbers):064}", sent, 0, REPLY))


@pytest.mark.benchmark(group="one reply kept")
def test_json_file_written_anew(
    benchmark: BenchmarkFixture, filled: tuple[ResponseStore, list[str]], tmp_path: Path
) -> None:
    """All 1,000 replies again, without payloads and without a flush: what a JSON file costs per call."""
    _, keys = filled
    known = dict.fromkeys(keys, REPLY.text)
    benchmark(lambda: (tmp_path / "replies.json").write_text(json.dumps(known), encoding="utf-8"))
