"""Chat models that count: one puts every reply on the ledger and shows progress, one stops at a limit of money."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from time import monotonic
from typing import Any

from tqdm import tqdm

from memgauge.errors import InputError, MemgaugeError
from memgauge.llm.chat import ChatModel, ChatReply, ChatRequest, OnReply, ignore
from memgauge.llm.ledger import Ledger, Line, make_line, usd, was_sent
from memgauge.llm.prices import FREE, PICO, PriceRow
from memgauge.llm.store import Replies
from memgauge.llm.stored import Mode, StoredChatModel

_BAR_DELAY_SECONDS = 2.0  # what is quicker shows no bar


class BudgetError(MemgaugeError):
    """The run id has spent its limit; nothing is lost, and a higher limit goes on from here."""

    exit_code = 4


def no_subject(request: ChatRequest) -> str:
    """The subject of a request whose history or question is not noted."""
    return ""


@dataclass(frozen=True, slots=True)
class Account:
    """To whose account calls go: the run id, the role, the DVC stage instance, the model with its price.

    `price` None is unknown; a model in this process is FREE. `max_usd` limits the whole run id, over all its
    processes and resumptions. `subject` names the history or question of a request. `clock` is read per reply.
    """

    ledger: Ledger
    run: str
    role: str
    cell: str
    model: str
    price: PriceRow | None
    clock: Callable[[], datetime]
    max_usd: Decimal | None = None
    subject: Callable[[ChatRequest], str] = no_subject

    def limit(self) -> int | None:
        """`max_usd` in pico-dollars; raises InputError when it is no amount, or cannot be kept for want of a price."""
        if self.max_usd is None or self.price == FREE:  # what costs nothing passes no limit
            return None
        if not self.max_usd.is_finite() or self.max_usd < 0:
            raise InputError(f"max_usd is {self.max_usd}; it must be an amount in USD, at least 0")
        if self.price is None:
            raise InputError(
                f"the price of {self.model} is unknown, so a limit of {self.max_usd} USD cannot be kept;"
                f" add it to prices.models in params.yaml, or run without a limit"
            )
        return int(self.max_usd * PICO)


def account_for(model: ChatModel, replies: Replies, account: Account, mode: Mode = "live") -> ChatModel:
    """A model with all that a paid one needs, in the one order that works.

    The ledger outside sees replies from the store too; the limit inside stops only calls that would be paid.
    """
    stored = StoredChatModel(CappedChatModel(model, account), replies, mode, account.run, account.cell)
    return MeteredChatModel(stored, account)


@dataclass(frozen=True, slots=True)
class CappedChatModel:
    """Stops before the next call when the account's run id has spent its limit.

    Replies must be put on the ledger by the `on_reply` that is given; calls already under way may exceed the limit.
    """

    inner: ChatModel
    account: Account

    def payload(self, request: ChatRequest) -> dict[str, Any]:
        """What the inner model sends."""
        return self.inner.payload(request)

    def generate(self, requests: Sequence[ChatRequest], on_reply: OnReply = ignore) -> list[ChatReply]:
        """Replies in order; raises BudgetError, and InputError for a limit that cannot be kept, before it sends."""
        limit = self.account.limit()
        if limit is None or not requests:
            return self.inner.generate(requests, on_reply)
        self._check(limit)
        left = len(requests)

        def count(position: int, reply: ChatReply) -> None:
            nonlocal left
            left -= 1
            on_reply(position, reply)
            if left:
                self._check(limit)

        try:
            return self.inner.generate(requests, count)
        except BudgetError as error:
            raise self._exhausted() from error  # with what calls under way have cost meanwhile

    def _check(self, limit: int) -> None:
        if self.account.ledger.spent(self.account.run)[0] >= limit:
            raise self._exhausted()

    def _exhausted(self) -> BudgetError:
        spent, unpriced = self.account.ledger.spent(self.account.run)
        return BudgetError(
            f"run {self.account.run!r} has spent {usd(spent, unpriced > 0)} of its limit of {self.account.max_usd} USD;"
            " every finished call is kept: run again with a higher --max-usd to go on from here"
        )


@dataclass(frozen=True, slots=True)
class MeteredChatModel:
    """Puts every reply to a sent request on the account's ledger as it arrives.

    A bar shows calls, tokens, cost, speed and time left of a batch that takes longer than two seconds.
    """

    inner: ChatModel
    account: Account

    def payload(self, request: ChatRequest) -> dict[str, Any]:
        """What the inner model sends."""
        return self.inner.payload(request)

    def generate(self, requests: Sequence[ChatRequest], on_reply: OnReply = ignore) -> list[ChatReply]:
        """The inner model's replies."""
        progress, waiting = Progress(), list[Line]()
        label = f"{self.account.role} {self.account.model}"
        with tqdm(total=len(requests), desc=label, unit="call", delay=_BAR_DELAY_SECONDS) as bar:
            start = monotonic()

            def record(position: int, reply: ChatReply) -> None:
                nonlocal progress
                if was_sent(reply):
                    line = self._line(requests[position], reply)
                    waiting.append(line)
                    progress = progress.after(reply, line.cost)
                if reply.origin == "model":  # what cost nothing can wait, and goes faster together
                    self._write(waiting)
                bar.set_postfix_str(progress.text(monotonic() - start), refresh=False)
                bar.update()
                on_reply(position, reply)

            try:
                return self.inner.generate(requests, record)
            finally:
                self._write(waiting)

    def _line(self, request: ChatRequest, reply: ChatReply) -> Line:
        account = self.account
        return make_line(
            reply,
            account.price,
            run=account.run,
            time=account.clock(),
            role=account.role,
            cell=account.cell,
            subject=account.subject(request),
            model=account.model,
        )

    def _write(self, waiting: list[Line]) -> None:
        if waiting:
            self.account.ledger.add(waiting)
            waiting.clear()


@dataclass(frozen=True, slots=True)
class Progress:
    """What a batch has taken so far; cost in pico-dollars, None added as unknown."""

    paid: int = 0
    from_store: int = 0
    tokens: int = 0
    cost: int = 0
    unpriced: int = 0

    def after(self, reply: ChatReply, cost: int | None) -> "Progress":
        """With one more reply; tokens are those that a model read or wrote, not the store's."""
        if reply.origin != "model":
            return Progress(self.paid, self.from_store + 1, self.tokens, self.cost, self.unpriced)
        tokens = self.tokens + reply.input_tokens + reply.output_tokens
        return Progress(self.paid + 1, self.from_store, tokens, self.cost + (cost or 0), self.unpriced + (cost is None))

    def text(self, seconds: float) -> str:
        """One line for a progress bar, which itself shows calls and time left.

        >>> Progress(3, 2, 4500, 1_200_000_000).text(10.0)
        '2 from store, 4,500 tokens, 450 tokens/s, 0.0012 USD'
        """
        speed = self.tokens / seconds if seconds > 0 else 0.0
        amount = usd(self.cost, self.unpriced > 0)
        return f"{self.from_store} from store, {self.tokens:,} tokens, {speed:,.0f} tokens/s, {amount}"
