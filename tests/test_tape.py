"""Tapes: same calls, same bytes; replay without a model; every fault of a file named; nothing private in it."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import zstandard

from memgauge.errors import InputError
from memgauge.llm.chat import ChatModel, ChatReply, ChatRequest
from memgauge.llm.ledger import Ledger
from memgauge.llm.metered import Account, account_for
from memgauge.llm.prices import PriceRow
from memgauge.llm.remote import RemoteChatModel
from memgauge.llm.replay import TapeStore
from memgauge.llm.store import ResponseStore, key
from memgauge.llm.stored import Mode, StoredChatModel
from memgauge.llm.tape import TapeSummary, read_tape, save_tape, verify_tape

from .fault_server import Step, answer, ask, by_request, completion, error, serving

CANARY = "sk-canary-1f9d"
OSLO = ChatReply("Oslo \ud83d é", "stop", 12, 3, cached_input_tokens=4, latency_seconds=0.5, detail="x")
CUT = ChatReply("The", "length", 12, 16)


def payload(number: int, **more: Any) -> dict[str, Any]:
    return {"model": "m", "temperature": 1.0, "messages": [{"role": "user", "content": f"q{number}"}], **more}


def filled(file: Path, numbers: list[int], reply: ChatReply = OSLO) -> tuple[ResponseStore, list[str]]:
    store = ResponseStore(file)
    for number in numbers:
        store.add(key(payload(number), 0), payload(number), 0, reply)
    return store, [key(payload(number), 0) for number in numbers]


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    store, keys = filled(tmp_path / "s.sqlite", [0, 1, 2, 3])
    store.add(key(payload(9), 0), payload(9), 0, CUT)
    store.remember("m@http://host", {"max_tokens": "max_completion_tokens"})
    store.remember("another", {"temperature": None})
    save_tape(tmp_path / "t.jsonl.zst", store, [*keys, key(payload(9), 0)])
    return tmp_path / "t.jsonl.zst"


def lines(path: Path) -> list[bytes]:
    return zstandard.ZstdDecompressor().decompressobj().decompress(path.read_bytes()).splitlines(keepends=True)


def write(path: Path, content: list[bytes]) -> None:
    path.write_bytes(zstandard.compress(b"".join(content)))


def test_same_calls_give_the_same_bytes_however_they_were_made(tmp_path: Path) -> None:
    first, keys = filled(tmp_path / "a.sqlite", [1, 2, 3, 4])
    slower = replace(OSLO, latency_seconds=9.0, attempts=3, detail="")
    second, _ = filled(tmp_path / "b.sqlite", [4, 7, 3, 2, 1], slower)
    assert save_tape(tmp_path / "a.zst", first, keys) == 4
    assert save_tape(tmp_path / "b.zst", second, keys[::-1] + keys) == 4
    assert (tmp_path / "a.zst").read_bytes() == (tmp_path / "b.zst").read_bytes()


class Absent:
    """A model that must not be called."""

    def payload(self, request: ChatRequest) -> dict[str, Any]:
        return {"model": "m", "temperature": 1, "messages": list(request.messages)}

    def generate(self, requests: object, on_reply: object = None) -> list[ChatReply]:
        raise AssertionError("called")


def test_replay_gives_what_was_recorded_failures_included(tape: Path) -> None:
    model = StoredChatModel(Absent(), TapeStore(tape), "replay", cell="c")
    requests = [ChatRequest(({"role": "user", "content": f"q{number}"},), 16) for number in (9, 0)]
    expected = replace(OSLO, latency_seconds=0.0, detail="", origin="tape")
    assert model.generate(requests) == [replace(CUT, origin="tape"), expected]
    with pytest.raises(InputError, match=r"replay: 1 of 1 calls of m are not in the tape .*t\.jsonl\.zst"):
        model.generate([ChatRequest(({"role": "user", "content": "q5"},), 16)])


def test_a_tape_is_never_written_to(tape: Path) -> None:
    before = tape.read_bytes()
    with pytest.raises(InputError, match="only read"):
        TapeStore(tape).add("k", {}, 0, OSLO)
    with pytest.raises(InputError, match="only read"):
        TapeStore(tape).remember("m", {"temperature": None})
    assert tape.read_bytes() == before


def test_adaptations_of_the_tape_s_models_come_along(tape: Path) -> None:
    assert TapeStore(tape).remembered("m@http://host") == {"max_tokens": "max_completion_tokens"}
    assert TapeStore(tape).remembered("another") == {}


def test_summary(tape: Path) -> None:
    assert verify_tape(tape) == TapeSummary(5, 1, {"m": 5}, 60, 28)


def test_call_that_was_never_finished_is_no_tape(tmp_path: Path) -> None:
    store, keys = filled(tmp_path / "s.sqlite", [1, 2])
    with pytest.raises(InputError, match="1 of 3 calls are not in the response store"):
        save_tape(tmp_path / "t.zst", store, [*keys, "0" * 64])
    assert [path.name for path in tmp_path.iterdir() if "t.zst" in path.name] == []


def exchange(content: list[bytes]) -> list[bytes]:
    return [content[0], content[2], content[1], *content[3:]]


def other_payload(content: list[bytes]) -> list[bytes]:
    """A call whose own checksum is right, but whose key is another payload's."""
    from memgauge.llm.tape import _checksum

    line = {name: value for name, value in json.loads(content[1]).items() if name != "sum"}
    line["payload"]["top_p"] = 1
    return [content[0], json.dumps({**line, "sum": _checksum(line)}).encode() + b"\n", *content[2:]]


FAULTS: dict[str, tuple[Callable[[list[bytes]], list[bytes]], str]] = {
    "changed reply": (lambda c: [*c[:2], c[2].replace(b"Oslo", b"Rome"), *c[3:]], "line 3 has another checksum"),
    "repeated": (lambda c: [*c[:3], *c[2:]], "line 4 repeats a call"),
    "out of order": (exchange, "line 3 is out of order"),
    "line left out": (lambda c: [*c[:2], *c[3:]], "holds 4 calls, but was written with 5"),
    "end missing": (lambda c: c[:-1], "is cut after line 6"),
    "cut in a line": (lambda c: [*c[:3], c[3][:40]], "line 4 is cut"),
    "cut in the end": (lambda c: [*c[:-1], c[-1][:-1]], "line 7 is cut"),
    "foreign line": (lambda c: [*c[:2], b'{"key": "a"}\n', *c[2:]], "line 3 is no line of a tape"),
    "no JSON": (lambda c: [*c[:2], b"hello\n", *c[2:]], "line 3 is no line of a tape"),
    "not a number": (lambda c: [c[0], c[1].replace(b'"sample":0', b'"sample":NaN'), *c[2:]], "line 2 is no line"),
    "deep": (lambda c: [c[0], b"[" * 100_000 + b"\n", *c[1:]], "line 2 is no line of a tape"),
    "another file": (lambda c: [b'{"question": "Where?"}\n'], "is no tape of this version"),
    "empty": (lambda c: [], "is no tape of this version"),
    "later version": (lambda c: [c[0].replace(b"1", b"2"), *c[1:]], "is no tape of this version"),
    "goes on": (lambda c: [*c, c[1]], "goes on after its last line"),
    "other adaptations": (lambda c: [*c[:-1], c[-1].replace(b"max_completion", b"min_completion")], "as a whole"),
    "another key": (other_payload, "line 2 has a key that is not its payload's"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_of_a_tape_is_one_error(tape: Path, fault: str) -> None:
    change, message = FAULTS[fault]
    write(tape, change(lines(tape)))
    with pytest.raises(InputError, match=message):
        verify_tape(tape)
    with pytest.raises(InputError, match=message):
        TapeStore(tape).find(["k"])


def test_no_damage_of_the_bytes_changes_a_call(tape: Path) -> None:
    whole, calls = tape.read_bytes(), read_tape(tape)
    harmless = 0
    for place in [*range(30), *range(30, len(whole), 5)]:
        tape.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
        try:
            assert read_tape(tape) == calls
            harmless += 1
        except InputError:
            continue
    assert harmless <= 2  # of the frame header: a bit without meaning, and how much the reader keeps in memory
    for broken in (whole[:-1], whole[: len(whole) // 2], whole + b"x", whole + whole, b""):
        tape.write_bytes(broken)
        with pytest.raises(InputError):
            verify_tape(tape)


def test_absent_tape(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file or directory; fetch the tape"):
        TapeStore(tmp_path / "t.zst").find(["k"])


@pytest.mark.parametrize(
    "sent",
    [
        payload(1, messages=[{"role": "user", "content": f"my key is {CANARY}"}]),
        payload(1, endpoint=f"http://ann:{CANARY}@host/v1"),
        payload(1, endpoint="http://ann:secret@host/v1"),
        payload(1, user="ann"),
        payload(1, Authorization="Bearer x"),
        payload(1, path="/home/ann/models/m"),
    ],
)
def test_nothing_private_reaches_a_tape_or_its_error(tmp_path: Path, sent: dict[str, Any]) -> None:
    store = ResponseStore(tmp_path / "s.sqlite")
    store.add("k", sent, 0, OSLO)
    with pytest.raises(InputError) as caught:
        save_tape(tmp_path / "t.zst", store, ["k"], private=[CANARY, "/home/ann"])
    assert not any(text in str(caught.value) for text in (CANARY, "ann", "secret"))
    assert not (tmp_path / "t.zst").exists()


def test_details_of_failures_stay_behind(tmp_path: Path) -> None:
    failed = ChatReply("", "error", status="provider_error", detail=f"401 for {CANARY}, organisation 7")
    store, keys = filled(tmp_path / "s.sqlite", [1], failed)
    save_tape(tmp_path / "t.zst", store, keys, private=[CANARY])
    assert not any(CANARY.encode() in line or b"organisation" in line for line in lines(tmp_path / "t.zst"))


def build(endpoint: str, folder: Path, replies: ResponseStore | TapeStore, mode: Mode, run: str) -> ChatModel:
    """As a stage builds a paid model."""
    remote = RemoteChatModel("gpt-4o-mini", endpoint, "CANARY_KEY", adaptations=replies)
    price = PriceRow("gpt-4o-mini", Decimal("0.15"), Decimal("0.6"))
    ledger = Ledger(folder / "ledger.sqlite")
    account = Account(ledger, run, "reader", "answer@a", "gpt-4o-mini", price, lambda: datetime.now(UTC))
    return account_for(remote, replies, account, mode)


def test_a_run_comes_back_in_a_second_process_and_from_a_tape_without_key_and_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The real client, an endpoint that refuses a parameter, one reply that is cut, and a key that must not appear."""

    def choose(body: dict[str, Any]) -> Step:
        if "max_tokens" in body:
            refusal = "Unsupported parameter: use 'max_completion_tokens'"
            return answer(error(refusal, "unsupported_parameter", param="max_tokens"), 400)
        text = body["messages"][0]["content"]
        return answer(completion(f"re: {text}", "length" if text == "q3" else "stop"))

    monkeypatch.setenv("CANARY_KEY", CANARY)
    requests = [ask(f"q{number}") for number in range(8)]
    file = tmp_path / "replies.sqlite"
    with serving(by_request(choose)) as server:
        first = build(server.endpoint, tmp_path, ResponseStore(file), "live", "first").generate(requests)
        before = len(server.seen.bodies)
        second = build(server.endpoint, tmp_path, ResponseStore(file), "live", "second").generate(requests)
        assert [body["messages"][0]["content"] for body in server.seen.bodies[before:]] == ["q3"]
    texts = [f"re: q{number}" for number in range(8)]
    store, tape = ResponseStore(file), tmp_path / "t.jsonl.zst"
    save_tape(tape, store, store.used("second")["answer@a"], [CANARY])
    monkeypatch.delenv("CANARY_KEY")
    replayed = build(server.endpoint, tmp_path, TapeStore(tape), "replay", "replayed").generate(requests)
    assert [reply.text for reply in replayed] == [reply.text for reply in second] == [r.text for r in first] == texts
    assert [reply.finish_reason for reply in replayed] == [reply.finish_reason for reply in first]
    assert {reply.origin for reply in replayed} == {"tape"}
    totals = Ledger(tmp_path / "ledger.sqlite").totals(["run"])
    assert {run: (total.paid, total.from_store) for (run,), total in totals.items()} == {
        "first": (8, 0),
        "second": (1, 7),
        "replayed": (0, 8),
    }
    assert totals[("replayed",)].cost == 0
    assert not any(CANARY.encode() in path.read_bytes() for path in tmp_path.iterdir())
