"""refine_summary without a language model: vague sentences give way to ones with details the notes lack."""

from collections import Counter
from collections.abc import Sequence
from datetime import date

from memgauge.solvers.extractive.context import dates_of
from memgauge.solvers.extractive.probes import day_of, statements, worth
from memgauge.solvers.extractive.ranking import Vectors, Weights
from memgauge.solvers.extractive.summary import Candidate
from memgauge.tasks.refine_summary import RefineSummary
from memgauge.tasks.summarise_session import SummaryLine
from memgauge.text.entities import find_names
from memgauge.text.numbers import find_numbers
from memgauge.text.tokens import count_many

_GAIN = 0.12  # what one detail not yet in the notes is worth beside centrality and cues

Details = frozenset[str]


def refine_summaries(
    tasks: Sequence[RefineSummary], vectors: Vectors, weights: Weights
) -> list[tuple[SummaryLine, ...]]:
    """The notes of each task after all swaps that gain details; lines in session order where turns are known.

    Notes that are not this solver's own (no line is one of the session's statements) come back unchanged.
    """
    candidates = [statements(task.date, task.turns) for task in tasks]
    vectors.prepare([one.core for group in candidates for one in group])
    return [_refine(task, group, vectors) for task, group in zip(tasks, candidates, strict=True)]


def details_of(core: str, day: date | None, speakers: frozenset[str]) -> Details:
    """The names, dates and numbers a statement holds, case-folded.

    >>> sorted(details_of("Ann met Zoe in 2021 with 3 dogs", None, frozenset({"ann"})))
    ['2021', '3', 'zoe']
    """
    dates = dates_of(core, day)
    spans = [(span.start, span.text) for span in find_names(core)]
    spans += [(span.start, span.text) for span in find_numbers(core)]
    others = [said.casefold() for start, said in spans if not any(one.start <= start < one.end for one in dates)]
    return frozenset({*others, *(span.label for span in dates)} - speakers)


def _refine(task: RefineSummary, candidates: Sequence[Candidate], vectors: Vectors) -> tuple[SummaryLine, ...]:
    places = {one.text: at for at, one in reversed(list(enumerate(candidates)))}
    said = {line.text for line in task.lines}
    if said.isdisjoint(places):
        return task.lines
    candidates = [candidates[at] for at in sorted(places.values())]  # each wording once
    kept = [at for at, one in enumerate(candidates) if one.text in said]
    speakers = frozenset(speaker.casefold() for speaker, _ in task.turns)
    day = day_of(task.date)
    details = [details_of(one.core, day, speakers) for one in candidates]
    costs = count_many([f"{one.text}\n" for one in candidates])
    values = worth(candidates, task.date, vectors.matrix([one.core for one in candidates])).tolist()
    chosen = _swapped(kept, values, details, costs, task.budget_tokens)
    return tuple(SummaryLine(candidates[at].text, (candidates[at].turn,)) for at in sorted(chosen))


def _swapped(
    kept: Sequence[int], values: Sequence[float], details: Sequence[Details], costs: Sequence[int], budget: int
) -> list[int]:
    """The least informative statement gives way to the most informative one that fits, while that gains.

    What repeats was dropped before, so room is filled first. What a statement is worth counts only the details
    that the other kept ones lack; ties go to the earlier.
    """
    chosen = list(dict.fromkeys(kept))
    while (into := _best_open(chosen, values, details, costs, budget)) is not None:
        chosen.append(into)
    while chosen:
        held = Counter(detail for at in chosen for detail in details[at])
        own = {at: values[at] + _GAIN * sum(held[detail] == 1 for detail in details[at]) for at in chosen}
        out = min(chosen, key=lambda at: (own[at], -at))
        rest = [at for at in chosen if at != out]
        into = _best_open(rest, values, details, costs, budget)
        if into is None or into == out or _gain(into, rest, values, details) <= own[out] + 1e-9:
            break
        chosen = [*rest, into]
    return chosen


def _gain(at: int, chosen: Sequence[int], values: Sequence[float], details: Sequence[Details]) -> float:
    return values[at] + _GAIN * len(details[at].difference(*(details[one] for one in chosen)))


def _best_open(
    chosen: Sequence[int], values: Sequence[float], details: Sequence[Details], costs: Sequence[int], budget: int
) -> int | None:
    """The statement that adds most to the chosen ones within the budget; None when nothing fits."""
    left = budget - sum(costs[at] for at in chosen)
    held = frozenset().union(*(details[at] for at in chosen))
    inside = set(chosen)
    fitting = [at for at in range(len(values)) if at not in inside and costs[at] <= left]
    return min(fitting, key=lambda at: (-(values[at] + _GAIN * len(details[at] - held)), at), default=None)
