"""Walks the pipeline without a single model call and notes what every stage would ask: `memgauge estimate`.

The real stages run in a scratch folder on the real prepared data; a language model's replies are stood in for by
texts of the length that is expected of them, so that contexts have about their real size.
"""

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zlib import crc32

from memgauge.errors import InputError
from memgauge.files import write_json
from memgauge.llm.chat import ChatModel, ChatReply, ChatRequest, OnReply, ignore
from memgauge.llm.estimate import Estimate, Plan, estimate, plan
from memgauge.llm.local import LocalChatModel
from memgauge.llm.prices import PriceRow, check_prices
from memgauge.llm.remote import RemoteChatModel
from memgauge.llm.replay import TapeStore
from memgauge.llm.store import ResponseStore
from memgauge.params import Params, select
from memgauge.stages.layout import PREPARED
from memgauge.stages.solving import INSTEAD, price_row, replies_of
from memgauge.stages.table import STAGES, check_params
from memgauge.text.tokens import count_tokens

ANSWER_TOKENS = 200  # what the reader's task allows; a task that allows more writes notes
EXPECTED_ANSWER = 8  # tokens of a short answer
FRAME = 4  # tokens of chat template a message, where the model's own template is not at hand
# The stages that ask solvers, in the pipeline's order, and the role of those that no later one needs.
ASKING = {
    "find_evidence": "finder",
    "write": "",
    "retrieve": "",
    "refer": "",
    "read": "",
    "judge": "judge",
    "qualify": "judge",
    "qualify_source": "judge",
}
# They ask too, for arms, evidence, passages and stimuli of their own.
NOT_WALKED = ("run_arms", "read_silver", "rank_entries", "read_passages", "score_passages")
TRACKING = "track_states"  # of readers of its own
# They ask models that the pipeline has yet to train.
TRAINED_LATER = ("distil", "write_student", "summarise_retrieved")


@dataclass(slots=True)
class Walker:
    """Stands in for every chat model, and keeps what was asked by (role, stage instance)."""

    prices: Mapping[str, PriceRow]
    replies: ResponseStore | TapeStore
    cell: str = ""
    asked: dict[tuple[str, str], tuple["Dry", PriceRow | None]] = field(default_factory=dict)

    def around(self, model: ChatModel, name: str, price: str | None, *, role: str) -> ChatModel:
        """A model that only notes; one for each role and stage instance. It keys calls as the run would."""
        if isinstance(model, RemoteChatModel):
            model = replace(model, adaptations=self.replies)
        row = price_row(self.prices, name, price)
        dry, _ = self.asked.setdefault((role, self.cell), (Dry(model), row))
        return dry

    def plans(self) -> Iterator[tuple[Plan, "Dry"]]:
        """What was asked, in the order of the walk."""
        for (role, cell), (dry, row) in self.asked.items():
            yield plan(role, cell, dry.requests, dry.model, row), dry


@dataclass(slots=True)
class Dry:
    """A chat model that is never called: every reply is a stand-in of the expected length."""

    model: ChatModel
    requests: list[ChatRequest] = field(default_factory=list)

    def payload(self, request: ChatRequest) -> dict[str, Any]:
        """What the real model would send."""
        return self.model.payload(request)

    def generate(self, requests: Sequence[ChatRequest], on_reply: OnReply = ignore) -> list[ChatReply]:
        """Stand-ins, noted."""
        self.requests.extend(requests)
        replies = [ChatReply(stand_in(each), "stop") for each in requests]
        for position, reply in enumerate(replies):
            on_reply(position, reply)
        return replies

    def input_tokens(self, request: ChatRequest) -> int:
        """The model's own count where it runs here, cl100k_base and a frame a message elsewhere."""
        if isinstance(self.model, LocalChatModel):
            return len(self.model.encode(request).ids)
        return sum(count_tokens(message["content"]) + FRAME for message in request.messages)


def stand_in(request: ChatRequest) -> str:
    """A text of the expected length. Its number differs by request: equal answers would be judged in one call.

    >>> stand_in(ChatRequest(({"role": "user", "content": "Where?"},), max_new_tokens=4))
    '- 356 so so'
    """
    number = crc32("\n".join(message["content"] for message in request.messages).encode()) % 900 + 100
    return f"- {number}" + " so" * (expected_output(request) - 2)


def expected_output(request: ChatRequest) -> int:
    """Tokens a reply is expected to have: a short answer, or notes that fill the room they were given by half."""
    if request.max_new_tokens <= ANSWER_TOKENS:
        return min(EXPECTED_ANSWER, request.max_new_tokens)
    return request.max_new_tokens // 2


def estimate_pipeline(tree: Params) -> list[Estimate]:
    """One estimate for each stage instance that asks a language model; the response store's replies count 0.

    Raises InputError where the prepared data is not there.
    """
    check_params(tree)
    for benchmark in tree["benchmarks"]:
        if not (PREPARED / benchmark).is_dir():
            raise InputError(f"{PREPARED / benchmark} is not there; run `dvc repro prepare@{benchmark}` first")
    walker = Walker(check_prices(tree["prices"]), replies_of(tree["llm"]))
    walker.replies.find(())  # a tape is read here, where its path leads to it
    token = INSTEAD.set(walker.around)
    try:
        with _scratch(tree):
            for stage, axes in _cells(tree):
                walker.cell = "@".join(filter(None, (stage, "-".join(axes.values()))))
                run = import_module(f"memgauge.stages.{stage}").main
                with _silent():
                    run(select(tree, STAGES[stage].keys(axes)), **axes)
            planned = list(walker.plans())
            known = set(walker.replies.find(key for each, _ in planned for key in each.keys))
            return [found for each, dry in planned for found in _estimate(each, dry, known)]
    finally:
        INSTEAD.reset(token)


def not_counted(tree: Params) -> tuple[str, ...]:
    """The stages whose calls no estimate holds: of models yet to be trained, of arms that a language model makes."""
    roles = [tree["role"]["writer"], *(tree["role"]["reader"][name] for name in tree["variant_readers"])]
    trackers = [tree["role"]["reader"][name] for name in tree["retention"]["readers"]]
    arms, tracking = (any(role.get("solver") == "language_model" for role in each) for each in (roles, trackers))
    return (*(NOT_WALKED if arms else ()), *((TRACKING,) if tracking else ()), *TRAINED_LATER)


def _estimate(each: Plan, dry: Dry, known: set[str]) -> list[Estimate]:
    found = estimate([each], dry.input_tokens, expected_output, known)
    known.update(each.keys)
    return found


def _cells(tree: Params) -> Iterator[tuple[str, dict[str, str]]]:
    grid = {"benchmark": tree["benchmarks"], "system": tree["systems"], "reader": tree["readers"]}
    for stage, role in ASKING.items():
        if role and tree["role"][role].get("solver") != "language_model":
            continue
        rows: list[dict[str, str]] = [{}]
        for axis in STAGES[stage].axes:
            rows = [{**row, axis: value} for row in rows for value in grid[axis]]
        for row in rows:
            yield stage, row


@contextmanager
def _scratch(tree: Params) -> Iterator[None]:
    """A folder with the real models and prepared data, in which stages may write."""
    here = Path.cwd()
    before = os.environ.get("DVC_ROOT")
    with TemporaryDirectory(prefix="memgauge-walk-") as folder, contextlib.chdir(folder):
        os.environ.setdefault("DVC_ROOT", str(here))
        (Path(folder) / "data").mkdir()
        for name in ("models", str(PREPARED)):
            (Path(folder) / name).symlink_to(here / name)
        write_json(Path(folder) / "params.yaml", tree)
        try:
            yield
        finally:
            if before is None:
                os.environ.pop("DVC_ROOT", None)


@contextmanager
def _silent() -> Iterator[None]:
    """Without the stages' own bars."""
    with open(os.devnull, "w") as nothing, contextlib.redirect_stderr(nothing):
        yield
