"""The response store with real files, processes and signals: nothing lost, nothing paid twice, every fault named."""

import json
import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.errors import InputError
from memgauge.llm.chat import ChatReply, ChatRequest, OnReply, ignore
from memgauge.llm.ledger import Ledger
from memgauge.llm.store import ResponseStore, canonical, key
from memgauge.llm.stored import StoredChatModel
from memgauge.tasks.base import Message

PAYLOAD = {"model": "m", "endpoint": "http://localhost/v1", "messages": [{"role": "user", "content": "Where?"}]}
OSLO = ChatReply("Oslo", "stop", 12, 3, latency_seconds=0.5)


@pytest.fixture
def store(tmp_path: Path) -> ResponseStore:
    return ResponseStore(tmp_path / "replies.sqlite")


def request(text: str, sample: int = 0) -> ChatRequest:
    return ChatRequest((Message(role="user", content=text),), 16, sample=sample)


@dataclass
class Scripted:
    """Replies with a function of the last message, counts what it was asked; fails or stops as told."""

    reply: Callable[[str], ChatReply] = lambda text: replace(OSLO, text=f"re: {text}")
    asked: list[str] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)

    def payload(self, request: ChatRequest) -> dict[str, Any]:
        return {"model": "m", "messages": list(request.messages), "max_tokens": request.max_new_tokens, **self.extra}

    def generate(self, requests: Sequence[ChatRequest], on_reply: OnReply = ignore) -> list[ChatReply]:
        replies = []
        for position, item in enumerate(requests):
            text = item.messages[-1]["content"]
            self.asked.append(text)
            replies.append(self.reply(text))
            on_reply(position, replies[-1])
        return replies


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), json_values, max_size=5), st.randoms())
def test_key_ignores_order_and_whitespace_and_survives_a_json_file(payload: dict[str, Any], random: Any) -> None:
    names = list(payload)
    random.shuffle(names)
    written = json.loads(json.dumps({name: payload[name] for name in names}, indent=3))
    assert key(written, 1) == key(payload, 1)


FIELDS: dict[str, Any] = {**PAYLOAD, "temperature": 0, "max_tokens": 64, "seed": 1, "tools": [], "system": "short"}


@pytest.mark.parametrize("name", sorted(FIELDS))
def test_any_sent_field_changes_the_key_and_absent_is_not_zero(name: str) -> None:
    without = {other: value for other, value in FIELDS.items() if other != name}
    changed = {**FIELDS, name: "other"}
    variants = [FIELDS, without, changed, {**FIELDS, name: None}, {**FIELDS, name: False}]
    assert len({key(payload, 0) for payload in variants}) == len({canonical(payload) for payload in variants}) == 5


def test_samples_are_entries_of_their_own(store: ResponseStore) -> None:
    keys = [key(PAYLOAD, sample) for sample in range(3)]
    for sample in range(2):
        store.add(keys[sample], PAYLOAD, sample, replace(OSLO, text=f"Oslo {sample}"))
    assert {name: reply.text for name, reply in store.find(keys).items()} == {keys[0]: "Oslo 0", keys[1]: "Oslo 1"}


def test_not_a_number_is_no_request() -> None:
    with pytest.raises(InputError, match="not finite"):
        key({"temperature": float("nan")}, 0)


@pytest.mark.parametrize("text", ["Oslo", "Осло ＧＰＵ\u200b", "cut emoji \ud83d", "\x00 null", "a" * 300_000])
def test_a_reply_comes_back_as_it_was(store: ResponseStore, text: str) -> None:
    store.add("k", {"messages": text}, 0, replace(OSLO, text=text))
    assert ResponseStore(store.file).find(["k"]) == {"k": replace(OSLO, text=text, origin="store")}
    assert next(store.calls(["k"])).payload == {"messages": text}


@pytest.mark.parametrize(
    "reply",
    [
        ChatReply("The city of", "length"),
        ChatReply("", "stop"),
        ChatReply(" \n", "stop"),
        ChatReply("no", "content_filter"),
        ChatReply("quota", "stop", status="provider_error"),
        ChatReply("", "error", status="context_truncated"),
    ],
)
def test_unusable_reply_is_never_found_but_kept_for_the_tape(store: ResponseStore, reply: ChatReply) -> None:
    store.add("k", PAYLOAD, 0, reply)
    assert store.find(["k"]) == {}
    assert next(store.calls(["k"])).reply.finish_reason == reply.finish_reason
    store.add("k", PAYLOAD, 0, OSLO)
    assert next(store.calls(["k"])).reply.text == "Oslo"


def test_first_reply_of_a_key_stays(store: ResponseStore) -> None:
    store.add("k", PAYLOAD, 0, OSLO)
    store.add("k", PAYLOAD, 0, replace(OSLO, text="Bergen"))
    assert store.find(["k"])["k"].text == "Oslo"


def test_more_keys_than_a_query_takes(store: ResponseStore) -> None:
    for number in range(0, 1200, 100):
        store.add(f"{number:04}", PAYLOAD, 0, OSLO)
    assert sorted(store.find(f"{number:04}" for number in range(1200))) == [f"{n:04}" for n in range(0, 1200, 100)]


def test_adaptations_add_up_and_reach_a_second_process(store: ResponseStore) -> None:
    assert store.remembered("m@host") == {}
    store.remember("m@host", {"max_tokens": "max_completion_tokens"})
    store.remember("m@host", {"temperature": None})
    assert ResponseStore(store.file).remembered("m@host") == {
        "max_tokens": "max_completion_tokens",
        "temperature": None,
    }
    assert store.remembered("m") == {}


# Several processes and threads


def add_many(file: Path, writer: int) -> None:
    store = ResponseStore(file)
    for number in range(40):
        store.add(f"{writer}-{number}", PAYLOAD, 0, OSLO)
        store.remember("m", {f"{writer}": number})


def test_processes_that_start_at_once_lose_nothing(store: ResponseStore) -> None:
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=add_many, args=(store.file, writer)) for writer in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0] * 4
    assert len(store.find(f"{writer}-{number}" for writer in range(4) for number in range(40))) == 160
    assert store.remembered("m") == {str(writer): 39 for writer in range(4)}


def test_threads_share_one_store_and_a_fork_opens_its_own(store: ResponseStore) -> None:
    store.add("parent", PAYLOAD, 0, OSLO)
    threads = [threading.Thread(target=lambda n=n: store.add(f"t{n}", PAYLOAD, 0, OSLO)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    child = multiprocessing.get_context("fork").Process(target=store.add, args=("child", PAYLOAD, 0, OSLO))
    child.start()
    child.join(60)
    store.add("after", PAYLOAD, 0, OSLO)
    assert len(store.find(["parent", "child", "after", *(f"t{n}" for n in range(8))])) == 11


def test_a_writer_that_never_ends_is_one_error(store: ResponseStore) -> None:
    store.add("k", PAYLOAD, 0, OSLO)
    other = sqlite3.connect(store.file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    impatient = ResponseStore(store.file, wait_seconds=0.05)
    assert impatient.find(["k"])  # reading does not wait for a writer
    with pytest.raises(InputError, match="another process has been writing for too long"):
        impatient.add("l", PAYLOAD, 0, OSLO)
    other.execute("ROLLBACK")
    impatient.add("l", PAYLOAD, 0, OSLO)
    other.close()


# Faults of the file


def test_damaged_file_is_set_aside_and_never_silently_begun_anew(store: ResponseStore) -> None:
    for _ in range(2):
        store.file.write_bytes(b"not a database at all, and long enough to have a header" * 40)
        with pytest.raises(InputError, match=r"damaged.*now lies in .*\.damaged-\d.*salvage.*paid, again"):
            store.find(["k"])
    again = ResponseStore(store.file)
    with pytest.raises(InputError, match=r"replies\.sqlite\.damaged-2"):
        again.add("k", PAYLOAD, 0, OSLO)
    assert not store.file.exists()
    assert sorted(p.name[-9:] for p in store.file.parent.iterdir()) == ["damaged-1", "damaged-2"]
    for path in store.file.parent.iterdir():
        path.unlink()
    again.add("k", PAYLOAD, 0, OSLO)
    assert again.find(["k"])


def closed_store(file: Path, replies: int) -> dict[str, str]:
    """A store with nothing left in its log, and what is in it."""
    writer = ResponseStore(file)
    texts = {f"{number:03}": f"reply {number} " + "word " * 60 for number in range(replies)}
    for name, text in texts.items():
        writer.add(name, PAYLOAD, 0, replace(OSLO, text=text))
    plain = sqlite3.connect(file)
    plain.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    plain.close()
    return texts


def test_no_damage_ever_changes_a_reply(tmp_path: Path) -> None:
    texts = closed_store(tmp_path / "whole.sqlite", 60)
    whole = (tmp_path / "whole.sqlite").read_bytes()
    seen = 0
    for place in range(50, len(whole), len(whole) // 60):
        folder = tmp_path / str(place)
        folder.mkdir()
        (folder / "s.sqlite").write_bytes(
            whole[:place] + bytes(255 - b for b in whole[place : place + 24]) + whole[place + 24 :]
        )
        try:
            found = ResponseStore(folder / "s.sqlite").find(texts)
        except InputError:
            seen += 1
            continue
        assert all(texts[name] == reply.text for name, reply in found.items())
    assert seen >= 10


@pytest.mark.parametrize("hurt", ["one reply", "a page of the table", "first page"])
def test_salvage_copies_all_that_is_whole(store: ResponseStore, hurt: str) -> None:
    texts = closed_store(store.file, 60)
    whole = bytearray(store.file.read_bytes())
    place = whole.index(b"reply 30")
    start, size = {"one reply": (place, 8), "a page of the table": (place // 4096 * 4096, 4096), "first page": (0, 90)}[
        hurt
    ]
    whole[start : start + size] = bytes(range(1, 9)) * (size // 8) + b"!" * (size % 8)
    store.file.write_bytes(whole)
    with pytest.raises(InputError, match=r"python -m memgauge\.llm\.salvage"):
        ResponseStore(store.file).find(texts)
    aside = f"{store.file}.damaged-1"
    run = subprocess.run(
        [sys.executable, "-m", "memgauge.llm.salvage", aside], capture_output=True, text=True, check=True
    )
    found = ResponseStore(store.file).find(texts)
    assert all(texts[name] == reply.text for name, reply in found.items())
    assert f"{len(found)} replies" in run.stdout
    assert len(found) >= {"one reply": 59, "a page of the table": 40, "first page": 0}[hurt]


def test_another_database_is_refused_and_left_alone(store: ResponseStore) -> None:
    other = sqlite3.connect(store.file)
    other.execute("CREATE TABLE vectors (key)")
    other.commit()
    other.close()
    with pytest.raises(InputError, match="no response store of this version; choose another path"):
        store.find(["k"])
    assert store.file.exists()


def test_store_deleted_while_in_use_is_one_error(store: ResponseStore) -> None:
    store.add("k", PAYLOAD, 0, OSLO)
    store.file.unlink()
    with pytest.raises(InputError, match="moved, replaced or deleted while in use"):
        store.add("l", PAYLOAD, 0, OSLO)


def test_full_disk_is_one_error_and_keeps_what_was_there(store: ResponseStore) -> None:
    store.add("k", PAYLOAD, 0, OSLO)
    with store._database.transaction() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(InputError, match="full; free space and run again"):
        store.add("l", PAYLOAD, 0, replace(OSLO, text="a" * 100_000))
    assert set(store.find(["k", "l"])) == {"k"}


@pytest.fixture
def read_only() -> Iterator[Path]:
    """A folder that nobody may write to, seen by a user without special rights."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ResponseStore(folder / "replies.sqlite").add("k", PAYLOAD, 0, OSLO)
        (folder / "replies.sqlite").chmod(0o444)
        folder.chmod(0o555)
        if os.geteuid() == 0:
            os.seteuid(65534)
            yield folder
            os.seteuid(0)
        else:
            yield folder
        folder.chmod(0o755)


@pytest.mark.parametrize("name", ["replies.sqlite", "other.sqlite", "folder/other.sqlite"])
def test_read_only_disk_is_one_error(read_only: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"writable|cannot make"):
        ResponseStore(read_only / name).add("l", PAYLOAD, 0, OSLO)


# The chat model over the store


def test_equal_requests_are_one_call_and_come_back_in_order(store: ResponseStore) -> None:
    inner = Scripted()
    reported: list[tuple[int, str]] = []
    requests = [request("a"), request("b"), request("a"), request("a", sample=1)]
    replies = StoredChatModel(inner, store).generate(requests, lambda at, reply: reported.append((at, reply.origin)))
    assert inner.asked == ["a", "b", "a"]
    assert [reply.text for reply in replies] == ["re: a", "re: b", "re: a", "re: a"]
    assert [reply.origin for reply in replies] == ["model", "model", "store", "model"]
    assert sorted(reported) == list(enumerate(reply.origin for reply in replies))
    again = StoredChatModel(Scripted(reply=lambda text: pytest.fail("called again")), store).generate(requests)
    assert [reply.text for reply in again] == [reply.text for reply in replies]
    assert {reply.origin for reply in again} == {"store"}


def test_a_cut_reply_is_asked_for_again(store: ResponseStore) -> None:
    inner = Scripted(reply=lambda text: ChatReply("The", "length", 5, 16))
    for _ in range(2):
        assert StoredChatModel(inner, store).generate([request("a")])[0].finish_reason == "length"
    assert inner.asked == ["a", "a"]


def test_what_was_reported_before_a_fault_is_kept(store: ResponseStore) -> None:
    def fail_at_third(text: str) -> ChatReply:
        if text == "2":
            raise KeyboardInterrupt
        return OSLO

    requests = [request(str(number)) for number in range(5)]
    with pytest.raises(KeyboardInterrupt):
        StoredChatModel(Scripted(reply=fail_at_third), store).generate(requests)
    inner = Scripted()
    StoredChatModel(inner, store).generate(requests)
    assert inner.asked == ["2", "3", "4"]


def test_a_caller_that_stops_loses_no_reply(store: ResponseStore) -> None:
    def stop(position: int, reply: ChatReply) -> None:
        raise InputError("enough")

    with pytest.raises(InputError, match="enough"):
        StoredChatModel(Scripted(), store).generate([request("a"), request("b")], stop)
    inner = Scripted()
    StoredChatModel(inner, store).generate([request("a"), request("b")])
    assert inner.asked == ["b"]


def test_replay_says_what_is_missing_before_anything_is_sent(store: ResponseStore) -> None:
    inner = Scripted()
    StoredChatModel(inner, store).generate([request("a")])
    offline = StoredChatModel(inner, store, "replay")
    assert offline.generate([request("a")])[0].text == "re: a"
    with pytest.raises(InputError, match=r"replay: 2 of 3 calls of m are not in .*fetch the tape.*llm\.mode to live"):
        offline.generate([request("a"), request("b"), request("c"), request("b")], lambda *_: pytest.fail("reported"))
    assert inner.asked == ["a"]


def test_a_reply_is_kept_under_what_was_really_sent(store: ResponseStore) -> None:
    """An endpoint refuses a parameter during the first call: the second process knows, and pays nothing."""
    first = Scripted()

    def adapt(text: str) -> ChatReply:
        first.extra = {"max_completion_tokens": 16}
        return OSLO

    first.reply = adapt
    StoredChatModel(first, store, run="r", cell="c").generate([request("a")])
    second = Scripted(extra={"max_completion_tokens": 16})
    assert StoredChatModel(second, store).generate([request("a")])[0].origin == "store"
    assert store.used("r") == {"c": [key(second.payload(request("a")), 0)]}


def test_keys_used_by_a_cell(store: ResponseStore) -> None:
    for run, cell, texts in [("r", "answer@b", "bc"), ("r", "answer@a", "ab"), ("q", "answer@a", "z")]:
        StoredChatModel(Scripted(), store, run=run, cell=cell).generate([request(text) for text in texts])
    names = {text: key(Scripted().payload(request(text)), 0) for text in "abcz"}
    used = {"answer@a": sorted([names["a"], names["b"]]), "answer@b": sorted([names["b"], names["c"]])}
    assert store.used("r") == used
    assert list(store.used("r")) == ["answer@a", "answer@b"]
    assert store.used("r", ["answer@b"]) == {"answer@b": used["answer@b"]}
    store.start_use("r", "answer@b")
    assert list(store.used("r")) == ["answer@a"]


# A process killed in the middle of 500 calls


class Billing(ThreadingHTTPServer):
    """Counts a call as billed when its reply is written, or as told; kills its client once, at call `kill_at`."""

    def __init__(self, kill_at: int = -1, moment: str = "") -> None:
        super().__init__(("127.0.0.1", 0), Billed)
        self.kill_at, self.moment = kill_at, moment
        self.received: list[str] = []
        self.billed: list[str] = []
        self.client: subprocess.Popen[str] | None = None

    def kill(self, moment: str) -> bool:
        if len(self.received) != self.kill_at or moment != self.moment or self.client is None:
            return False
        self.client.send_signal(signal.SIGKILL)
        self.client.wait()
        self.client = None
        return True


class Billed(BaseHTTPRequestHandler):
    server: Billing

    def do_POST(self) -> None:
        text = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"][0]["content"]
        self.server.received.append(text)
        if self.server.kill("before it is answered"):
            return
        self.server.billed.append(text)
        if self.server.kill("billed, not yet answered"):
            return
        body = json.dumps({"text": f"re: {text}"}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()
        self.server.kill("just answered")

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the test counts."""


def start(server: Billing, folder: Path, calls: int, *pause: str) -> subprocess.Popen[str]:
    script = Path(__file__).with_name("kill_calls.py")
    command = [sys.executable, str(script), f"http://127.0.0.1:{server.server_port}", str(folder), str(calls), *pause]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize(
    ("moment", "calls", "most"),
    [
        ("between two calls", 500, 500),
        ("before it is answered", 100, 100),
        ("just answered", 100, 101),
        ("billed, not yet answered", 100, 101),
    ],
)
def test_killed_in_the_middle_nothing_finished_is_paid_twice(
    tmp_path: Path, moment: str, calls: int, most: int
) -> None:
    """Only a call that is under way at the kill can be billed twice: its reply never reached us."""
    middle = calls // 2
    server = Billing(middle, moment)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        first = start(server, tmp_path, calls, *([str(middle - 1)] if moment == "between two calls" else []))
        server.client = first
        assert first.stdout is not None
        if moment == "between two calls":
            assert first.stdout.readline() == "paused\n"
            first.send_signal(signal.SIGKILL)
        assert first.wait(60) == -signal.SIGKILL
        assert middle - 1 <= len(server.billed) <= middle
        second = start(server, tmp_path, calls)
        assert second.communicate(timeout=60)[0] == "finished\n"
    finally:
        server.shutdown()
        server.server_close()
    assert len(set(server.billed)) == calls
    assert calls <= len(server.billed) <= most
    total = Ledger(tmp_path / "ledger.sqlite").totals(["run"])[("kill",)]
    assert calls - 1 <= total.paid <= calls
    print(f"{moment}: {len(server.billed)} billed, {total.paid} on the ledger, for {calls} replies")
