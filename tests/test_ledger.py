"""The ledger, the limit and the estimate: exact sums over a whole run id, stops before the call that would exceed."""

import multiprocessing
import re
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memgauge.errors import InputError
from memgauge.llm.chat import ChatReply, ChatRequest, OnReply, ignore
from memgauge.llm.estimate import estimate, plan
from memgauge.llm.ledger import Ledger, Total, make_line, usd
from memgauge.llm.metered import Account, BudgetError, Progress, account_for
from memgauge.llm.prices import FREE, PICO, PriceRow
from memgauge.llm.store import ResponseStore, key
from memgauge.tasks.base import Message

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
PRICE = PriceRow("m", Decimal("1"), Decimal("2"), Decimal("0.5"))  # 1, 2 and 0.5 million pico-dollars a token
REPLY = ChatReply("Oslo", "stop", 100, 10, cached_input_tokens=40, reasoning_tokens=5)
COST = 100_000_000  # 60 x 1 + 40 x 0.5 + 10 x 2 millionths of a dollar, in pico-dollars


def request(text: str) -> ChatRequest:
    return ChatRequest((Message(role="user", content=text),), 16)


@dataclass
class Counting:
    """Replies to all, `at_once` of them under way together, and counts what it was asked."""

    at_once: int = 1
    reply: ChatReply = REPLY
    asked: list[str] = field(default_factory=list)

    def payload(self, request: ChatRequest) -> dict[str, Any]:
        return {"model": "m", "messages": list(request.messages)}

    def generate(self, requests: Sequence[ChatRequest], on_reply: OnReply = ignore) -> list[ChatReply]:
        for start in range(0, len(requests), self.at_once):
            fault: Exception | None = None
            for position in range(start, min(start + self.at_once, len(requests))):
                self.asked.append(requests[position].messages[-1]["content"])
                try:
                    on_reply(position, self.reply)
                except BudgetError as error:
                    fault = error  # the others are under way already, and still reported
            if fault:
                raise fault
        return [self.reply] * len(requests)


@dataclass
class Scene:
    folder: Path

    @property
    def ledger(self) -> Ledger:
        return Ledger(self.folder / "ledger.sqlite")

    def ask(self, inner: Counting, texts: str, **account: Any) -> list[ChatReply]:
        """As a stage does; a new store and ledger object each time, as in a new process."""
        options = {"run": "r", "role": "reader", "cell": "answer@a", "model": "m", "price": PRICE} | account
        full = Account(ledger=self.ledger, clock=lambda: NOON, **options)
        replies = ResponseStore(self.folder / "replies.sqlite")
        return account_for(inner, replies, full).generate([request(text) for text in texts])


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def test_totals_by_hand(scene: Scene) -> None:
    scene.ask(Counting(), "abb")
    scene.ask(Counting(), "ac", role="judge", cell="judge@a")
    scene.ask(Counting(reply=replace(REPLY, measured=False)), "d", run="other")
    two = Total(2, 1, 200, 80, 20, 10, 0, 2 * COST, COST, 0)
    one = Total(1, 1, 100, 40, 10, 5, 0, COST, COST, 0)
    assert scene.ledger.totals(["role", "cell"], run="r") == {("judge", "judge@a"): one, ("reader", "answer@a"): two}
    assert scene.ledger.totals([], run="r")[()].cost == 3 * COST
    assert list(scene.ledger.totals(["run"])) == [("other",), ("r",)]
    assert scene.ledger.totals(["run"])[("other",)].estimated == 1
    assert scene.ledger.totals(["run"], run="absent") == {}
    assert scene.ledger.totals([], run="absent") == {(): Total()}
    assert scene.ledger.spent("r") == (3 * COST, 0)
    assert scene.ledger.spent("absent") == (0, 0)


def test_line_as_it_is_kept(scene: Scene) -> None:
    scene.ask(Counting(), "a", subject=lambda request: "question " + request.messages[-1]["content"])
    row = sqlite3.connect(scene.folder / "ledger.sqlite").execute("SELECT * FROM calls").fetchone()
    price = '{"model": "m", "input": "1", "cached_input": "0.5", "output": "2"}'
    assert row == (
        *(1, "r", "2026-03-01T12:00:00+00:00", "reader", "answer@a", "question a", "m", "model", "ok"),
        *(100, 40, 10, 5, 0, price, COST, 0),
    )


def test_a_line_can_be_neither_changed_nor_deleted(scene: Scene) -> None:
    scene.ask(Counting(), "a")
    database = sqlite3.connect(scene.folder / "ledger.sqlite")
    for statement in ("UPDATE calls SET cost = 0", "DELETE FROM calls"):
        with pytest.raises(sqlite3.IntegrityError, match="only added to"):
            database.execute(statement)


def test_a_damaged_ledger_is_never_begun_anew_by_itself(scene: Scene) -> None:
    (scene.folder / "ledger.sqlite").write_bytes(b"no database " * 100)
    for _ in range(2):
        with pytest.raises(InputError, match=r"ledger .* is damaged .*damaged-1: move it elsewhere.*max-usd"):
            scene.ledger.spent("r")


def test_unknown_name_of_a_sum(scene: Scene) -> None:
    with pytest.raises(InputError, match=r"cannot sum by \['stage'\]; choose from run, role, cell"):
        scene.ledger.totals(["stage"])  # type: ignore[list-item]


def test_unknown_price_makes_a_total_a_lower_bound(scene: Scene) -> None:
    scene.ask(Counting(), "a")
    scene.ask(Counting(), "bc", price=None, model="x")
    total = scene.ledger.totals(["run"])[("r",)]
    assert (total.cost, total.unpriced, total.paid) == (COST, 2, 3)
    assert usd(total.cost, total.unpriced > 0) == "at least 0.0001 USD"
    assert scene.ledger.spent("r") == (COST, 2)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), max_size=20))
def test_sums_are_exact_and_running(tmp_path: Path, tokens: list[tuple[int, int]]) -> None:
    ledger, run = Ledger(tmp_path / "l.sqlite"), f"{tokens}"
    price, before = PriceRow("m", Decimal("0.1"), Decimal("0.7")), ledger.spent(run)[0]
    for read, written in tokens:
        reply = replace(REPLY, input_tokens=read, cached_input_tokens=0, output_tokens=written)
        ledger.add([make_line(reply, price, run=run, time=NOON, role="", cell="", subject="", model="m")])
        ledger.spent(run)
    expected = sum(Decimal(read) / 10**7 + Decimal(written) * 7 / 10**7 for read, written in tokens)
    assert ledger.spent(run)[0] - before == Ledger(tmp_path / "l.sqlite").spent(run)[0] - before == expected * PICO


def add_lines(file: Path, count: int) -> None:
    ledger = Ledger(file)
    for _ in range(count):
        ledger.add([make_line(REPLY, PRICE, run="r", time=NOON, role="", cell="", subject="", model="m")])


def test_processes_add_to_one_total(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "l.sqlite")
    assert ledger.spent("r") == (0, 0)
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=add_lines, args=(ledger.file, 30)) for _ in range(3)]
    for worker in workers:
        worker.start()
    add_lines(ledger.file, 30)
    for worker in workers:
        worker.join(60)
    assert ledger.spent("r") == (120 * COST, 0)


def test_request_refused_for_its_length_was_never_a_call(scene: Scene) -> None:
    refused = ChatReply("", "error", 9000, 0, "context_truncated")
    scene.ask(Counting(reply=refused), "a")
    assert scene.ledger.totals(["run"]) == {}
    scene.ask(Counting(reply=replace(refused, output_tokens=7)), "a")  # cut by the server, which bills it
    assert scene.ledger.spent("r") == ((9000 + 14) * PICO // 1_000_000, 0)


# The limit


def test_limit_stops_before_the_next_call_and_a_higher_one_goes_on(scene: Scene) -> None:
    limit = Decimal(3 * COST) / PICO
    inner = Counting()
    with pytest.raises(BudgetError, match=re.escape(f"run 'r' has spent 0.0003 USD of its limit of {limit} USD")):
        scene.ask(inner, "abcdefgh", max_usd=limit)
    assert inner.asked == list("abc")
    with pytest.raises(BudgetError, match="run again with a higher --max-usd to go on"):
        scene.ask(inner, "abcdefgh", max_usd=limit)
    assert inner.asked == list("abc")  # a new process: nothing is reset
    scene.ask(inner, "abcdefgh", max_usd=2 * limit + 1)
    assert inner.asked == list("abcdefgh")
    assert scene.ledger.spent("r")[0] == 8 * COST


def test_what_the_store_holds_is_never_stopped(scene: Scene) -> None:
    limit = Decimal(2 * COST) / PICO
    scene.ask(Counting(), "ab", max_usd=limit)  # the last call may reach the limit
    replies = scene.ask(Counting(), "abba", max_usd=limit)
    assert [reply.origin for reply in replies] == ["store"] * 4


def test_calls_under_way_are_kept_and_counted(scene: Scene) -> None:
    inner = Counting(at_once=4)
    with pytest.raises(BudgetError, match=r"has spent 0\.0004 USD of its limit of 0\.0001 USD"):
        scene.ask(inner, "abcdefgh", max_usd=Decimal(COST) / PICO)
    assert inner.asked == list("abcd")
    assert scene.ledger.spent("r")[0] == 4 * COST
    scene.ask(inner, "abcdefgh", max_usd=Decimal(1))
    assert inner.asked == list("abcdefgh")


def test_limit_counts_the_run_id_over_roles_and_no_other_run(scene: Scene) -> None:
    limit = Decimal(2 * COST) / PICO
    scene.ask(Counting(), "abc", run="yesterday")
    scene.ask(Counting(), "d", role="judge", max_usd=limit)
    inner = Counting()
    with pytest.raises(BudgetError):
        scene.ask(inner, "ef", max_usd=limit)
    assert inner.asked == ["e"]


def test_limit_of_nothing_pays_nothing(scene: Scene) -> None:
    inner = Counting()
    with pytest.raises(BudgetError):
        scene.ask(inner, "a", max_usd=Decimal(0))
    assert inner.asked == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"price": None, "max_usd": Decimal(1)}, r"the price of m is unknown.*add it to prices\.models"),
        ({"max_usd": Decimal(-1)}, "max_usd is -1; it must be an amount"),
        ({"max_usd": Decimal("nan")}, "max_usd is NaN"),
    ],
)
def test_limit_that_cannot_be_kept_is_refused_before_sending(scene: Scene, options: Any, message: str) -> None:
    inner = Counting()
    with pytest.raises(InputError, match=message):
        scene.ask(inner, "a", **options)
    assert inner.asked == []


def test_a_model_in_this_process_costs_nothing_and_knows_no_limit(scene: Scene) -> None:
    scene.ask(Counting(), "abc", price=FREE, max_usd=Decimal("0.01"))
    assert scene.ledger.spent("r") == (0, 0)


# Progress


def test_progress_counts_what_a_model_read_and_wrote() -> None:
    progress = Progress().after(REPLY, COST).after(replace(REPLY, origin="store"), 0).after(REPLY, None)
    assert progress == Progress(2, 1, 220, COST, 1)
    assert progress.text(2.0) == "1 from store, 220 tokens, 110 tokens/s, at least 0.0001 USD"
    assert progress.text(0.0).startswith("1 from store, 220 tokens, 0 tokens/s")


def test_quick_batch_shows_no_bar(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    scene.ask(Counting(), "abc")
    assert capsys.readouterr().err == ""


# The estimate


def test_estimate_counts_each_new_call_once(scene: Scene) -> None:
    model = Counting()
    known = {key(model.payload(request("a")), 0)}
    plans = [
        plan("reader", "answer@a", [request(text) for text in "abcb"], model, PRICE),
        plan("reader", "answer@b", [request(text) for text in "cd"], model, None),
    ]
    first, second = estimate(plans, lambda one: 100 * len(one.messages), lambda one: 10, known)
    assert (first.calls, first.from_store, first.input_tokens) == (2, 2, 200)
    assert (first.expected_output_tokens, first.most_output_tokens) == (20, 32)
    assert (first.low, first.high) == (240 * PICO // 1_000_000, 264 * PICO // 1_000_000)
    assert (second.calls, second.from_store, second.low, second.high) == (1, 1, None, None)


def test_estimate_of_a_finished_run_is_nothing_and_before_it_is_what_it_took(scene: Scene) -> None:
    model, texts = Counting(), "abcdd"
    one = plan("reader", "answer@a", [request(text) for text in texts], model, PRICE)
    store = ResponseStore(scene.folder / "replies.sqlite")
    count: Callable[[ChatRequest], int] = lambda _: 100  # noqa: E731  the tokens the model reports
    before = estimate([one], count, lambda _: 10, store.find(one.keys))[0]
    scene.ask(model, texts)
    total = scene.ledger.totals(["cell"])[("answer@a",)]
    assert (before.calls, before.input_tokens, before.expected_output_tokens) == (
        total.paid,
        total.input_tokens,
        total.output_tokens,
    )
    after = estimate([one], count, lambda _: 10, store.find(one.keys))[0]
    assert (after.calls, after.from_store, after.low, after.high) == (0, 5, 0, 0)
