"""A chat model that never makes a finished call twice: it looks in the response store, or in a tape, first.

A finished reply that its task cannot read is a failure, not a result: no later batch is served it, each asks the
call once more. So it is with every model, though a greedy one in this process answers the same: such a call costs
nothing but its time, and its weights, not its code, are in the key. A tape serves what results rest on, failures too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from memgauge.errors import InputError
from memgauge.llm.chat import ChatModel, ChatReply, ChatRequest, OnReply, ignore
from memgauge.llm.store import Replies, key

Mode = Literal["live", "replay"]


@dataclass(frozen=True, slots=True)
class StoredChatModel:
    """Replies from `replies` where they are there; in mode live the others come from `inner` and are kept.

    `run` and `cell` (one DVC stage instance) say whose results rest on the calls; without a cell nothing is noted.
    """

    inner: ChatModel
    replies: Replies
    mode: Mode = "live"
    run: str = ""
    cell: str = ""

    def payload(self, request: ChatRequest) -> dict[str, Any]:
        """What the inner model sends."""
        return self.inner.payload(request)

    def generate(self, requests: Sequence[ChatRequest], on_reply: OnReply = ignore) -> list[ChatReply]:
        """Replies in order; one call for equal payloads of one sample, each reply kept before it is reported.

        Raises InputError, before anything is sent, when in mode replay a reply is not there.
        """
        positions: dict[str, list[int]] = {}
        for position, request in enumerate(requests):
            positions.setdefault(key(self.payload(request), request.sample), []).append(position)
        known = self._known(requests, positions)
        missing = [name for name in positions if name not in known]
        if missing and self.mode == "replay":
            raise self._absent(len(missing), len(positions), requests[positions[missing[0]][0]])
        replies: dict[int, ChatReply] = {}
        for name, reply in known.items():
            for position in positions[name]:
                replies[position] = reply
                on_reply(position, reply)
        used = set(known)
        try:
            if missing:
                self._ask(requests, [positions[name] for name in missing], replies, used, on_reply)
        finally:
            if self.cell and self.mode == "live":
                self.replies.use(self.run, self.cell, used)
        return [replies[position] for position in range(len(requests))]

    def _known(self, requests: Sequence[ChatRequest], positions: Mapping[str, Sequence[int]]) -> dict[str, ChatReply]:
        """The replies that are there, by key; in mode live an unreadable one, of an older parser, is put aside."""
        known = self.replies.find(positions)
        if self.mode == "replay":
            return known
        for name, reply in list(known.items()):
            request = requests[positions[name][0]]
            if not request.readable(reply.text):
                self.replies.add(name, self.payload(request), request.sample, known.pop(name), readable=False)
        return known

    def _ask(
        self,
        requests: Sequence[ChatRequest],
        groups: Sequence[Sequence[int]],
        replies: dict[int, ChatReply],
        used: set[str],
        on_reply: OnReply,
    ) -> None:
        """One call for each group of equal requests; fills `replies` by position and adds to the keys `used`."""

        def keep(place: int, reply: ChatReply) -> None:
            first, *others = groups[place]
            # Only now is the payload the one that was sent: an endpoint may have made the model adapt it.
            payload, sample = self.payload(requests[first]), requests[first].sample
            name = key(payload, sample)
            self.replies.add(name, payload, sample, reply, requests[first].readable(reply.text))
            used.add(name)
            replies[first] = reply
            on_reply(first, reply)
            for position in others:
                replies[position] = replace(reply, origin="store")
                on_reply(position, replies[position])

        self.inner.generate([requests[group[0]] for group in groups], keep)

    def _absent(self, missing: int, total: int, first: ChatRequest) -> InputError:
        model = self.payload(first).get("model", "an unnamed model")
        return InputError(
            f"replay: {missing} of {total} calls of {model} are not in {self.replies}; fetch the tape that was saved"
            " with these parameters, or set llm.mode to live to make the missing calls"
        )
