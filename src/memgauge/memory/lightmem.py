"""Facts from compressed messages, consolidated while nobody asks (LightMem, arXiv 2510.18866, and its released code).

Each message is compressed, waits in a sensory buffer and leaves it as part of a topic; topics gather in a short-term
buffer whose overflow is one extraction call. Every fact becomes an entry with its message's time, inserted without
looking at the others. Then the entries sleep: an entry that newer ones resemble is updated, deleted or left alone,
all on the entries as they were inserted. CSM is all entries by time; RM the entries likest the question (cosine).
Deviations:
- a message keeps the words that tell most by the history's own statistics (the paper's alternative), negations and
  digits always, where the release runs LLMLingua-2's classifier, which is no light dependency;
- topics are cut by adjacent cosine alone: the coarse cut needs that classifier's attention weights, and where no coarse
  cut is near, the release keeps all fine ones too;
- messages of one session stay in order by their place, where the release adds half a second each;
- an entry's id names its topic; weekday and speaker are not stored apart, and the date stands above an entry;
- "not newer" means earlier in the store, also within one message;
- an updated entry comes from all turns behind it and is undated where these are of several dates; its vector is that
  of its new text, where the release keeps the old vector: a store has texts only;
- how many entries a question gets is the harness's choice (released scripts: 60 on LoCoMo, 20 on LongMemEval);
- a budget: what is over it goes oldest first.
A failed extraction loses its messages' facts, as in the release, but counted. Not reproduced: state that leaks between
instances there. Its online update, which writes nothing, is `update` "online"; "none" only inserts.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from memgauge.errors import InputError, unknown_name
from memgauge.memory.base import Encoder, Query, Ranking, Tools, Written
from memgauge.memory.lightmem_buffers import (
    ASSISTANT,
    Exchange,
    Said,
    SensoryBuffer,
    WordStatistics,
    gather,
    make_exchanges,
)
from memgauge.memory.lightmem_queues import consolidate, newer_lookalikes
from memgauge.memory.shared import count_result, dense_hits, turn_text
from memgauge.memory.summaries import without_blanks
from memgauge.records import Entry, History, Store
from memgauge.tasks.base import Solver
from memgauge.tasks.list_facts import ListFacts
from memgauge.text.render import entry_tokens

UPDATES = ("sleep", "none", "online")
Batch = list[tuple[int, Said]]  # messages with their topic's number


@dataclass(frozen=True, slots=True)
class Lightmem:
    """`rate`: words a message keeps, again at `message_tokens`; `sensory_tokens`, `short_term_tokens`: the buffers.

    `lowest_cut`, `highest_cut`, `cut_step`: the rising cosine under which neighbours part; `assistant`: whether an
    assistant's messages are extracted from; `neighbours`, `queue`, `similarity`: see `newer_lookalikes`; `update`:
    sleep, none or online.
    """

    name: ClassVar[str] = "lightmem"
    card: ClassVar[dict[str, str]] = {
        "rate": "src: 0.8 (LoCoMo script 0.6; paper sweeps 0.4 to 0.8)",
        "message_tokens": "src: 512",
        "sensory_tokens": "src: 512",
        "short_term_tokens": "src: 512 (paper 256 to 1024; its best readme row 768)",
        "lowest_cut": "src: 0.20",
        "highest_cut": "src: 0.50",
        "cut_step": "src: 0.05",
        "assistant": "src: false, only users' messages",
        "neighbours": "src: 20",
        "queue": "src: 10",
        "similarity": "src: 0.9 (readme and LongMemEval runs 0.8)",
        "update": "src: offline, after all insertions",
    }

    rate: float = 0.8
    message_tokens: int = 512
    sensory_tokens: int = 512
    short_term_tokens: int = 512
    lowest_cut: float = 0.2
    highest_cut: float = 0.5
    cut_step: float = 0.05
    assistant: bool = False
    neighbours: int = 20
    queue: int = 10
    similarity: float = 0.9
    update: str = "sleep"

    def write(self, history: History, budget_tokens: int, tools: Tools) -> Written:
        """All extractions in one call, all updates in another; the newest entries within the budget, by time."""
        self._check()
        counts: Counter[str] = Counter()
        batches = self._batches(self._exchanges(without_blanks(history), counts), tools.encoder, counts)
        entries = _extract(batches, tools.solver, counts)
        if self.update == "online":
            counts["facts_not_written"], entries = len(entries), []
        if self.update == "sleep" and entries:
            vectors = tools.encoder.encode([entry.text for entry in entries])
            lookalikes = newer_lookalikes(vectors, self.neighbours, self.queue, self.similarity)
            entries = consolidate(entries, lookalikes, tools.solver, counts)
        return Written(tuple(_newest(entries, budget_tokens, counts)), dict(sorted(counts.items())))

    def retrieve(self, store: Store, queries: Sequence[Query], tools: Tools) -> list[Ranking]:
        """All entries by similarity to the question."""
        return dense_hits(store, queries, tools.encoder)

    def _check(self) -> None:
        if self.update not in UPDATES:
            raise unknown_name("way to update", self.update, list(UPDATES))
        if not 0 < self.rate <= 1:
            raise InputError(f"{self}: rate must be above 0 and at most 1")
        if not self.cut_step > 0 or self.highest_cut > 1 or self.lowest_cut > self.highest_cut:
            raise InputError(f"{self}: cut_step must be above 0, lowest_cut at most highest_cut, that at most 1")

    def _exchanges(self, told: History, counts: Counter[str]) -> list[Exchange]:
        """The history's messages, compressed by its own statistics."""
        texts = [turn_text(turn) for _, turn in told.turns()]
        statistics = WordStatistics(texts)
        shorter = [statistics.compress(text, self.rate, self.message_tokens) for text in texts]
        counts["words_read"] = sum(len(text.split()) for text in texts)
        counts["words_passed_on"] = sum(len(text.split()) for text in shorter)
        return make_exchanges(told, shorter)

    def _batches(self, exchanges: Sequence[Exchange], encoder: Encoder, counts: Counter[str]) -> list[Batch]:
        """What each extraction call reads: the messages of some topics."""
        if not exchanges:
            return []
        tokens = [exchange.tokens for exchange in exchanges]
        buffer = SensoryBuffer(self.sensory_tokens, self._thresholds())
        topics = buffer.topics(tokens, encoder.encode([exchange.text for exchange in exchanges]))
        counts["topics"] = len(topics)
        sums = [sum(tokens[at] for at in topic) for topic in topics]
        batches = []
        for group in gather(sums, self.short_term_tokens):
            said = [(number, one) for number in group for at in topics[number] for one in exchanges[at].messages]
            shown = [(number, one) for number, one in said if self.assistant or one.turn.speaker != ASSISTANT]
            counts["turns_not_shown"] += len(said) - len(shown)
            batches += [shown] if shown else []
        return batches

    def _thresholds(self) -> tuple[float, ...]:
        """The lowest cut and every step above it up to the highest."""
        steps = int((self.highest_cut - self.lowest_cut) / self.cut_step + 1e-6)
        return tuple(round(self.lowest_cut + step * self.cut_step, 6) for step in range(steps + 1))


def _extract(batches: Sequence[Batch], solver: Solver, counts: Counter[str]) -> list[Entry]:
    """One entry a fact, in the order of the messages they come from."""
    tasks = [ListFacts(tuple((said.date, said.turn.speaker, said.text) for _, said in batch)) for batch in batches]
    entries: list[Entry] = []
    for batch, result in zip(batches, solver.solve(tasks) if tasks else [], strict=True):
        count_result(result, counts)
        if result.output is None:
            counts["extractions_failed"] += 1
            counts["turns_lost"] += len(batch)
        for fact in sorted(result.output or (), key=lambda fact: fact.turn):
            topic, said = batch[fact.turn]
            entries.append(Entry(f"{topic}.{len(entries)}", fact.text, (said.turn.id,), said.date))
    counts["facts"] = len(entries)
    return entries


def _newest(entries: Sequence[Entry], budget_tokens: int, counts: Counter[str]) -> list[Entry]:
    """The newest entries that fit, in order; one that alone is over the budget is passed over and counted."""
    fitting = [(entry, cost) for entry in entries if (cost := entry_tokens(entry)) <= budget_tokens]
    counts["facts_too_long"] = len(entries) - len(fitting)
    kept: list[Entry] = []
    for entry, cost in reversed(fitting):
        budget_tokens -= cost
        if budget_tokens < 0:
            break
        kept.append(entry)
    counts["facts_evicted"] = len(fitting) - len(kept)
    return kept[::-1]
