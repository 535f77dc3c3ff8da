"""A process to be killed: asks an HTTP server one call after the other through the response store and the ledger.

python kill_calls.py URL FOLDER CALLS [PAUSE]     stops for good after call PAUSE has been kept
"""

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from memgauge.llm.chat import ChatReply, ChatRequest, OnReply, ignore
from memgauge.llm.ledger import Ledger
from memgauge.llm.metered import Account, account_for
from memgauge.llm.prices import PriceRow
from memgauge.llm.store import ResponseStore


@dataclass(frozen=True)
class PostingChatModel:
    """One POST per request, one at a time."""

    url: str

    def payload(self, request: ChatRequest) -> dict[str, Any]:
        return {"model": "posted", "messages": list(request.messages)}

    def generate(self, requests: Sequence[ChatRequest], on_reply: OnReply = ignore) -> list[ChatReply]:
        replies = []
        for position, request in enumerate(requests):
            body = json.dumps(self.payload(request)).encode()
            with urlopen(Request(self.url, body, {"Content-Type": "application/json"}), timeout=30) as answer:
                replies.append(ChatReply(json.load(answer)["text"], "stop", 100, 10))
            on_reply(position, replies[-1])
        return replies


def main(url: str, folder: Path, calls: int, pause: int) -> None:
    requests = [ChatRequest(({"role": "user", "content": f"question {number}"},), 16) for number in range(calls)]

    def stop(position: int, reply: ChatReply) -> None:
        if position == pause:
            print("paused", flush=True)
            time.sleep(300)

    price = PriceRow("posted", Decimal("0.15"), Decimal("0.6"))
    account = Account(
        Ledger(folder / "ledger.sqlite"), "kill", "reader", "answer@kill", "posted", price, lambda: datetime.now(UTC)
    )
    model = account_for(PostingChatModel(url), ResponseStore(folder / "replies.sqlite"), account)
    replies = model.generate(requests, stop)
    assert [reply.text for reply in replies] == [f"re: question {number}" for number in range(calls)]
    print("finished", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]) if len(sys.argv) > 4 else -1)
