"""Message retention: nine arms of paper C and further policies, asked of one reader, with what each text supports."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from memgauge.datasets.retention.replay import replay
from memgauge.datasets.retention.stimuli import Stimulus
from memgauge.datasets.retention.wording import Variant
from memgauge.errors import InputError
from memgauge.experiments.retention_matching import Counter, match, pad
from memgauge.experiments.retention_policies import Line, RetentionPolicy, kept_positions, make_policy
from memgauge.records import Status
from memgauge.tasks.base import Solver, solve_all
from memgauge.tasks.track_state import Note, Slot, State, TrackState

BASE = "user_history"  # whose prompt matched policies are brought to
Chosen = tuple[tuple[int, ...], TrackState]  # positions kept, and the task that shows them


@dataclass(frozen=True, slots=True)
class ArmPlan:
    """One arm: a policy's messages, with the named offer put back or not, and how the reader is asked.

    Arms that share a `group` are padded to one length.
    """

    name: str
    policy: str
    note: Note = "none"
    constrained: bool = True
    restored: bool = False
    group: str | None = None


NINE: tuple[ArmPlan, ...] = (
    ArmPlan("full_history", "full_history"),
    ArmPlan("user_history", BASE),
    ArmPlan("recency", "recency"),
    ArmPlan("full_guidance", "full_history", note="guidance", group="notes"),
    ArmPlan("full_placebo", "full_history", note="placebo", group="notes"),
    ArmPlan("full_unconstrained", "full_history", constrained=False),
    ArmPlan("user_history_unconstrained", BASE, constrained=False),
    ArmPlan("oracle_removed", BASE, group="oracle"),
    ArmPlan("oracle_restored", BASE, restored=True, group="oracle"),
)


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: the arm, the positions of the messages kept, the task and its prompt's tokens."""

    arm: str
    kept: tuple[int, ...]
    task: TrackState
    prompt_tokens: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """One request's end. `response` is None unless `status` is ok.

    `visible` is the state that the retained messages settle, `unresolved` the slots whose accepted offer is not
    among them; `target` the state that the whole history settles. `counter` says how `prompt_tokens` were counted.
    """

    stimulus: str
    family: int
    variant: Variant
    arm: str
    status: Status
    response: State | None
    target: State
    visible: State
    unresolved: tuple[Slot, ...]
    kept: int
    messages: int
    prompt_tokens: int
    counter: str


def arm_plans(policies: Sequence[str] = ()) -> tuple[ArmPlan, ...]:
    """The nine arms and one for each further policy; InputError for a name that an arm has already."""
    plans = NINE
    for policy in policies:
        name = make_policy(policy).name
        if name in [plan.name for plan in plans]:
            raise InputError(f"retention policy {policy!r} would be a second arm {name!r}; leave it out or rename it")
        plans = (*plans, ArmPlan(name, policy))
    return plans


def run_arms(stimuli: Sequence[Stimulus], plans: Sequence[ArmPlan], solver: Solver, counter: Counter) -> list[Outcome]:
    """Every stimulus under every arm, all requests in one call so that the reader can batch them."""
    asked = [(stimulus, each) for stimulus in stimuli for each in requests(stimulus, plans, counter)]
    results = solve_all(solver, [each.task for _, each in asked])
    outcomes = []
    for (stimulus, each), result in zip(asked, results, strict=True):
        shown = replay(stimulus.events[place] for place in each.kept)
        outcomes.append(
            Outcome(
                stimulus.id,
                stimulus.family,
                stimulus.variant,
                each.arm,
                result.status,
                result.output if result.status == "ok" else None,
                stimulus.target,
                shown.state,
                shown.unresolved,
                len(each.kept),
                len(stimulus.events),
                each.prompt_tokens,
                counter.name,
            )
        )
    return outcomes


def requests(stimulus: Stimulus, plans: Sequence[ArmPlan], counter: Counter) -> list[Asked]:
    """One request a plan, in their order; matched policies and arms of one group come out at equal prompt tokens."""
    lines = [
        Line(event.speaker, text, counter.text(f"{text}\n"))
        for event, text in zip(stimulus.events, stimulus.lines, strict=True)
    ]
    base = kept_positions(make_policy(BASE), lines, 0)
    budget = sum(lines[place].tokens for place in base)
    length = counter.prompt(_task(stimulus, base).messages())
    chosen: dict[str, Chosen] = {}
    for plan in plans:
        policy = make_policy(plan.policy)
        if policy.matched:
            chosen[plan.name] = _matched(stimulus, policy, lines, budget, length, counter)
        else:
            chosen[plan.name] = _plain(stimulus, plan, kept_positions(policy, lines, budget))
    tasks = {name: task for name, (_, task) in chosen.items()}
    tasks |= _grouped(tasks, plans, counter)
    return [
        Asked(name, kept, tasks[name], counter.prompt(tasks[name].messages())) for name, (kept, _) in chosen.items()
    ]


def _task(stimulus: Stimulus, kept: Sequence[int]) -> TrackState:
    return TrackState("\n".join(stimulus.lines[place] for place in kept))


def _plain(stimulus: Stimulus, plan: ArmPlan, kept: tuple[int, ...]) -> Chosen:
    """What a plan shows before any padding; the restored offer stands in its old place (paper C)."""
    if plan.restored:
        kept = tuple(sorted({*kept, stimulus.offered}))
    return kept, replace(_task(stimulus, kept), note=plan.note, constrained=plan.constrained)


def _matched(
    stimulus: Stimulus, policy: RetentionPolicy, lines: Sequence[Line], budget: int, length: int, counter: Counter
) -> Chosen:
    """What the policy keeps within the largest budget that filler can bring to a prompt of `length` tokens."""
    for kept in _shrinking(policy, lines, budget):
        padded = pad(_task(stimulus, kept), length, counter)
        if padded is not None:
            return kept, padded
    raise InputError(
        f"retention policy {policy.name!r} keeps too much of stimulus {stimulus.id} at every budget up to {budget} "
        "tokens; a matched policy must keep less under a smaller one"
    )


def _shrinking(policy: RetentionPolicy, lines: Sequence[Line], budget: int) -> Iterator[tuple[int, ...]]:
    while budget >= 0:
        kept = kept_positions(policy, lines, budget)
        yield kept
        budget = min(budget, sum(lines[place].tokens for place in kept)) - 1


def _grouped(tasks: Mapping[str, TrackState], plans: Sequence[ArmPlan], counter: Counter) -> dict[str, TrackState]:
    """The tasks of arms that share a group, padded to one length."""
    groups: dict[str, list[str]] = {}
    for plan in plans:
        if plan.group is not None:
            groups.setdefault(plan.group, []).append(plan.name)
    padded: dict[str, TrackState] = {}
    for names in groups.values():
        padded.update(zip(names, match([tasks[name] for name in names], counter), strict=True))
    return padded
