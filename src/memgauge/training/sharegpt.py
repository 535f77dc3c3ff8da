"""ShareGPT: chats to learn from, as many trainers read them.

One JSON object a chat: `conversations`, a list of `{"from": "system" | "human" | "gpt", "value": text}`.
The role stands in the label, never in the position.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from memgauge.tasks.base import Message
from memgauge.training.traces import Trace

LABELS = {"system": "system", "user": "human", "assistant": "gpt"}
ROLES = {
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "assistant": "assistant",
    "system": "system",
}


@dataclass(frozen=True, slots=True)
class Chat:
    """A prompt, system message first where there is one, and the reply to learn."""

    messages: tuple[Message, ...]
    reply: str


def to_sharegpt(trace: Trace) -> dict[str, Any]:
    """A trace as one chat; `task`, `history` and `made_by` say where it comes from.

    >>> user: Message = {"role": "user", "content": "Hi"}
    >>> row = to_sharegpt(Trace("t", "h", (user,), "Yo", "", "Yo", "me"))
    >>> row["conversations"]
    [{'from': 'human', 'value': 'Hi'}, {'from': 'gpt', 'value': 'Yo'}]
    """
    turns = [{"from": LABELS[message["role"]], "value": message["content"]} for message in trace.messages]
    return {
        "conversations": [*turns, {"from": "gpt", "value": trace.reply}],
        "task": trace.task,
        "history": trace.history,
        "made_by": trace.made_by,
    }


def read_sharegpt(rows: Iterable[object], counts: Counter[str]) -> Iterator[Chat]:
    """The chats of rows that are some, in order; `counts` says by reason what was skipped.

    The list may be called `messages`, with `role` and `content`; a system text may stand beside it. Neighbours of
    one role, which a chat template would refuse, become one message. A chat must end with a reply that is not
    empty, and ask something before it.
    """
    for row in rows:
        found = _chat(row)
        if isinstance(found, Chat):
            yield found
        else:
            counts[found] += 1


def _chat(row: object) -> Chat | str:
    if not isinstance(row, Mapping):
        return "rows_no_object"
    items = row.get("conversations", row.get("messages"))
    if not isinstance(items, list):
        return "rows_without_conversation"
    turns = [_turn(item) for item in items]
    if any(turn is None for turn in turns):
        return "rows_with_unreadable_turn"
    system = row.get("system")
    told: list[tuple[str, str]] = [("system", system)] if isinstance(system, str) and system.strip() else []
    told += [turn for turn in turns if turn is not None and turn[1].strip()]
    runs = groupby(sorted(told, key=lambda turn: turn[0] != "system"), key=lambda turn: turn[0])
    messages: list[Message] = [{"role": role, "content": "\n".join(text for _, text in run)} for role, run in runs]
    if not messages or messages[-1]["role"] != "assistant":
        return "rows_without_reply"
    if not any(message["role"] == "user" for message in messages):
        return "rows_without_question"
    return Chat(tuple(messages[:-1]), messages[-1]["content"])


def _turn(item: object) -> tuple[str, str] | None:
    """(role, text) of one item; None for what is no turn."""
    if not isinstance(item, Mapping):
        return None
    role, text = item.get("from", item.get("role")), item.get("value", item.get("content"))
    if not isinstance(role, str) or role not in ROLES or not isinstance(text, str):
        return None
    return ROLES[role], text
