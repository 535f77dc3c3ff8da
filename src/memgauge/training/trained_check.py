"""What training bought on histories it never saw: operations that validate, facts that survive, reward gained."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memgauge.datasets.synthetic.generate import Fact
from memgauge.llm.chat import ChatModel, ChatRequest
from memgauge.metrics.lexical import contains_match
from memgauge.records import Question, Store
from memgauge.stats.intervals import Difference, mean, paired_difference
from memgauge.training.reward import Reward, Score, Summary
from memgauge.training.summary_rows import SummaryRow


@dataclass(frozen=True, slots=True)
class WriterCheck:
    """What a writer left of some histories.

    `operations` and `invalid` count what it asked the store to do and what did not validate; `facts` counts the told
    facts that some question has as evidence, `kept` those whose value stands in an entry made of their turn,
    `kept_anywhere` those whose value stands in any entry.
    """

    operations: int
    invalid: int
    facts: int
    kept: int
    kept_anywhere: int

    @property
    def valid_rate(self) -> float | None:
        """Share of operations that validated; None of none."""
        return None if not self.operations else 1 - self.invalid / self.operations

    @property
    def fact_recall(self) -> float | None:
        """Share of the facts that survive, with the right source; None of none."""
        return None if not self.facts else self.kept / self.facts


def check_writer(
    stores: Sequence[Store], facts: Sequence[Fact], questions: Sequence[Question], seen: frozenset[str]
) -> WriterCheck:
    """Count over the stores of one writer, which saw the turns `seen` of each history.

    A fact counts when its turn was seen and is evidence of an answerable question; its value survives when it
    stands in an entry's text by the contains match of the metrics. `operations` and `operations_invalid` are read
    from the stores' own counts.
    """
    evidence = {(question.history_id, turn) for question in questions if question.golds for turn in question.evidence}
    entries = {store.history_id: store.entries for store in stores}
    told = [
        fact
        for fact in facts
        if fact.history_id in entries and fact.turn_id in seen and (fact.history_id, fact.turn_id) in evidence
    ]
    kept = anywhere = 0
    for fact in told:
        holding = [entry for entry in entries[fact.history_id] if contains_match(entry.text, fact.value)]
        anywhere += bool(holding)
        kept += any(fact.turn_id in entry.sources for entry in holding)
    return WriterCheck(
        operations=sum(store.counts.get("operations", 0) for store in stores),
        invalid=sum(store.counts.get("operations_invalid", 0) for store in stores),
        facts=len(told),
        kept=kept,
        kept_anywhere=anywhere,
    )


@dataclass(frozen=True, slots=True)
class Checked:
    """One held-out prompt: the summary and its reward (None: unscorable)."""

    row: SummaryRow
    summary: Summary
    reward: Reward | None


def check_summariser(
    model: ChatModel,
    rows: Sequence[SummaryRow],
    score: Score,
    limit_tokens: int,
    samples: int = 1,
    seed: int = 0,
) -> list[Checked]:
    """Each row's summary and reward: one greedy rollout, as at inference, or `samples` of them at temperature 1.

    The rows of one prompt stand together, sample by sample.
    """
    tasks = [row.task(limit_tokens) for row in rows for _ in range(samples)]
    requests = [
        ChatRequest(
            tuple(task.messages()),
            task.max_new_tokens,
            temperature=0.0 if samples == 1 else 1.0,
            sample=number % samples,
            seed=None if samples == 1 else seed,
        )
        for number, task in enumerate(tasks)
    ]
    replies = model.generate(requests)
    summaries = [
        Summary(reply.text, reply.output_tokens - (reply.finish_reason == "stop"), reply.finish_reason == "stop")
        for reply in replies
    ]
    repeated = [row for row in rows for _ in range(samples)]
    found = score(summaries, repeated)
    return [Checked(*each) for each in zip(repeated, summaries, found, strict=True)]


@dataclass(frozen=True, slots=True)
class SummariserCheck:
    """Means over the scored summaries of held-out prompts; `empty` and `unscorable` are shares of all."""

    summaries: int
    reward: float | None
    f1: float | None
    saving: float | None
    tokens: float | None
    empty: float
    unscorable: float


def summarise_check(checked: Sequence[Checked]) -> SummariserCheck:
    """The means of one summariser; None of nothing scored."""
    known = [each.reward for each in checked if each.reward is not None]
    return SummariserCheck(
        summaries=len(checked),
        reward=mean([one.reward for one in known]),
        f1=mean([one.f1 for one in known]),
        saving=mean([one.saving for one in known]),
        tokens=mean([each.summary.tokens for each in checked]),
        empty=sum(not each.summary.shown for each in checked) / max(1, len(checked)),
        unscorable=sum(each.reward is None for each in checked) / max(1, len(checked)),
    )


def gained(
    after: Sequence[Checked], before: Sequence[Checked], draws: int, generator: np.random.Generator
) -> Difference:
    """Reward after minus before on the same prompts, in order, redrawn by history (questions of one are alike)."""
    first, second = ([None if one.reward is None else one.reward.reward for one in some] for some in (after, before))
    return paired_difference(first, second, [each.row.history_id for each in after], draws, generator)
