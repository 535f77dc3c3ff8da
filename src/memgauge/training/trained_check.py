"""What training bought a summariser on questions it never saw: reward gained, and by what."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memgauge.llm.chat import ChatModel, ChatRequest
from memgauge.stats.intervals import Difference, mean, paired_difference
from memgauge.training.reward import Reward, Score, Summary
from memgauge.training.summary_rows import SummaryRow


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
