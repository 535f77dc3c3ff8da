"""How fast the local engine reads and writes beside plain one-by-one generation: the table of `memgauge bench llm`.

All ways continue the same prompts in one run. The slow ways are timed on the first few prompts and compared by
seconds a prompt; `measured` says how many were timed.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from time import perf_counter

from memgauge.llm.batching import Group, Prompt, plan
from memgauge.llm.chat import ChatRequest
from memgauge.llm.local import LocalChatModel
from memgauge.seeds import generator
from memgauge.tasks.answer_question import AnswerQuestion

NAMES = ("Ann", "Bob", "Cy", "Dora", "Eve", "Finn", "Gus", "Hana")
DEEDS = ("moved to", "wrote about", "flew over", "painted", "left", "dreamt of", "walked through", "read about")
PLACES = ("Oslo", "a quiet lake", "the old harbour", "Lima", "her garden", "a long tunnel", "Perth", "the north pier")
UNSHARED_STORE_TOKENS = 300  # of the prompts that have nothing in common


@dataclass(frozen=True, slots=True)
class SpeedOptions:
    """Tokens are the model's own. `sample` prompts are timed for the ways that read every prompt in full."""

    store_tokens: int = 2_000
    questions: tuple[int, ...] = (10, 30, 60)
    unshared: int = 8
    new_tokens: int = 16
    sample: int = 3


@dataclass(frozen=True, slots=True)
class SpeedRow:
    """One way to continue one set of prompts. `ratio` is one-by-one seconds a prompt over this way's.

    `tokens_per_second` counts prompt and new tokens of the timed prompts, as if every prompt were read in full.
    `differ` counts the new tokens that are not those of one-by-one generation, of the `compared` that both ways wrote.
    """

    prompts: str
    way: str
    asked: int
    measured: int
    input_tokens: int
    output_tokens: int
    seconds: float
    tokens_per_second: float
    ratio: float
    differ: int = 0
    compared: int = 0


@dataclass(frozen=True, slots=True)
class SpeedTable:
    """The measured rows and the settings they hold for; `wait_policy` is OpenMP's, "" for its own default."""

    model: str
    threads: int
    wait_policy: str
    options: SpeedOptions
    rows: tuple[SpeedRow, ...]


def render_speed(found: SpeedTable) -> str:
    """The table as aligned lines."""
    waiting = f"OMP_WAIT_POLICY {found.wait_policy or 'not set'}"
    store = f"store of {found.options.store_tokens:,} tokens"
    lines = [f"{found.model}, float32, {found.threads} threads, {waiting}, {store}"]
    head = f"{'prompts':<22} {'way':<14} {'timed':>6} {'s a prompt':>11} {'tokens/s':>10} {'ratio':>7}"
    lines.append(f"{head} {'differ':>11}")
    for row in found.rows:
        each = row.seconds / row.measured
        numbers = f"{row.measured:>6} {each:>11.3f} {row.tokens_per_second:>10,.0f} {row.ratio:>6.1f}x"
        differ = f"{row.differ} of {row.compared}"
        lines.append(f"{row.prompts:<22} {row.way:<14} {numbers} {differ:>11}")
    return "\n".join(lines)


def measure_speed(
    model: LocalChatModel, options: SpeedOptions | None = None, clock: Callable[[], float] = perf_counter
) -> SpeedTable:
    """Time every way on questions over one store and on prompts that share nothing; minutes at default size."""
    from memgauge.llm.prefix import one_by_one, threads

    options = options or SpeedOptions()
    timer = _Timer(clock, lambda prompts: one_by_one(model.model, prompts), model)
    model.decoder()(Group((model.encode(_request("Who?", "", 1)),)))  # loading is not measured
    rows: list[SpeedRow] = []
    for count in options.questions:
        prompts = prompts_over_one_store(model, count, options.store_tokens, options.new_tokens)
        rows += timer.rows(f"{count} over one store", prompts, options.sample)
    prompts = prompts_sharing_nothing(model, options.unshared, options.new_tokens)
    rows += timer.rows("sharing nothing", prompts, options.unshared)
    waiting = os.environ.get("OMP_WAIT_POLICY", "")
    return SpeedTable(model.folder.name, threads(), waiting, options, tuple(rows))


def differing(new: Sequence[int], plain: Sequence[int]) -> int:
    """Places at which two continuations of one prompt differ; what one lacks at its end differs too.

    >>> differing([5, 6, 7], [5, 9]), differing([5], [5])
    (2, 0)
    """
    return sum(one != other for one, other in zip_longest(new, plain))


def prompts_over_one_store(model: LocalChatModel, count: int, store_tokens: int, new_tokens: int) -> list[Prompt]:
    """Different questions over one made-up store of about so many tokens of the model."""
    store = _store(model, store_tokens, "shared")
    return [model.encode(_request(_question(number), store, new_tokens)) for number in range(count)]


def prompts_sharing_nothing(model: LocalChatModel, count: int, new_tokens: int) -> list[Prompt]:
    """Questions over stores of their own, of unlike lengths."""
    sizes = [UNSHARED_STORE_TOKENS * (number + count) // (2 * count) for number in range(1, count + 1)]
    stores = [_store(model, size, str(number)) for number, size in enumerate(sizes)]
    return [model.encode(_request(_question(at), store, new_tokens)) for at, store in enumerate(stores)]


def _request(question: str, context: str, new_tokens: int) -> ChatRequest:
    return ChatRequest(tuple(AnswerQuestion(question, context).messages()), new_tokens)


def _question(number: int) -> str:
    deed, place = DEEDS[number // 8 % 8], PLACES[(number + number // 64) % 8]
    return f"Who {deed} {place} on day {number} of that year, and what was said about it afterwards?"


def _store(model: LocalChatModel, tokens: int, purpose: str) -> str:
    """Lines of made-up telling until the model's count is reached."""
    draws = generator(0, "speed", purpose)
    text, lines = "[8 May 2023]", 0
    while len(model.tokenizer(text)["input_ids"]) < tokens:
        for _ in range(1 + tokens // 200):
            name, deed, place = (pool[draws.integers(8)] for pool in (NAMES, DEEDS, PLACES))
            lines += 1
            text += f"\n{name}: On day {lines} I {deed} {place}, and it rained for {draws.integers(90)} minutes."
    return text


@dataclass(frozen=True, slots=True)
class _Timer:
    """Times the three ways on one set of prompts."""

    clock: Callable[[], float]
    alone: Callable[[Sequence[Prompt]], list[list[int]]]
    model: LocalChatModel

    def rows(self, label: str, prompts: Sequence[Prompt], sample: int) -> list[SpeedRow]:
        """One by one, padded, and as the engine plans it (packed where that pays)."""
        some = prompts[:sample]
        rows, plain = list[SpeedRow](), list[list[int]]()
        for way, timed, run in (
            ("one by one", some, self.alone),
            ("padded", some, lambda asked: self.model.decoder()(Group(tuple(asked)))),
            ("engine", prompts, self._planned),
        ):
            row, new = self._row(label, way, prompts, timed, run)
            plain = plain or new
            pairs = list(zip(new[: len(some)], plain, strict=True))
            compared = sum(max(len(one), len(other)) for one, other in pairs)
            rows.append(replace(row, differ=sum(differing(*pair) for pair in pairs), compared=compared))
        each = rows[0].seconds / rows[0].measured
        return [replace(row, ratio=each / (row.seconds / row.measured)) for row in rows]

    def _planned(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        """As the engine groups them; new ids in the prompts' order."""
        decode = self.model.decoder()
        groups = plan(prompts, self.model.batch_tokens)
        found = {prompt: new for group in groups for prompt, new in zip(group.prompts, decode(group), strict=True)}
        return [found[prompt] for prompt in prompts]

    def _row(
        self,
        label: str,
        way: str,
        prompts: Sequence[Prompt],
        timed: Sequence[Prompt],
        run: Callable[[Sequence[Prompt]], list[list[int]]],
    ) -> tuple[SpeedRow, list[list[int]]]:
        start = self.clock()
        new = run(timed)
        seconds = self.clock() - start
        read, wrote = sum(len(prompt.ids) for prompt in timed), sum(map(len, new))
        speed = (read + wrote) / seconds if seconds else 0.0
        return SpeedRow(label, way, len(prompts), len(timed), read, wrote, seconds, speed, 1.0), new
