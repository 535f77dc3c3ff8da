"""Histories with questions, streamed one history at a time; the same seed gives the same bytes."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from memgauge.datasets.prepared import stream_prepared
from memgauge.datasets.synthetic.dialogue import Talk
from memgauge.datasets.synthetic.draws import Draws
from memgauge.datasets.synthetic.filler_world import TOPICS
from memgauge.datasets.synthetic.options import FILLERS, SyntheticOptions
from memgauge.datasets.synthetic.people import make_persona
from memgauge.datasets.synthetic.plan import Placed, Plan, plan_history
from memgauge.datasets.synthetic.spoken_dates import session_moments
from memgauge.records import History, Question, Session, Split, Turn
from memgauge.seeds import named_seed

NAME = "synthetic"


@dataclass(frozen=True, slots=True)
class Fact:
    """Ground truth of one telling: whose `key` has which `value` (dates as ISO days), told in which turn.

    `superseded_by` is the turn that tells another value of the same thing, when one does.
    """

    history_id: str
    kind: str
    owner: str
    key: str
    value: str
    turn_id: str
    date: str
    superseded_by: str | None = None


def generate(options: SyntheticOptions, seed: int) -> Iterator[tuple[History, tuple[Question, ...]]]:
    """Each history with its questions, in order; only one is held in memory."""
    for history, questions, _ in generate_with_facts(options, seed):
        yield history, questions


def generate_with_facts(
    options: SyntheticOptions, seed: int
) -> Iterator[tuple[History, tuple[Question, ...], tuple[Fact, ...]]]:
    """The same with every told fact in history order."""
    groups = group_count(options)
    splits = group_splits(options, seed)
    for number in range(options.histories):
        group = number * groups // options.histories
        yield _one(options, seed, number, group, splits[group])


def group_count(options: SyntheticOptions) -> int:
    """Source groups: histories / group_size rounded up, but enough of them to fill the three splits.

    >>> [group_count(SyntheticOptions(histories=number, group_size=3)) for number in (12, 3, 2)]
    [4, 3, 2]
    """
    return max(-(-options.histories // options.group_size), min(options.histories, 3))


def group_splits(options: SyntheticOptions, seed: int) -> list[Split]:
    """The split of each group: at least one for test, then train, then val, the rest by share."""
    groups = group_count(options)
    test = max(1, min(round(groups * options.test_share), groups - 2))
    val = max(1, min(round(groups * options.val_share), groups - test - 1)) if groups > 2 else 0
    order = sorted(range(groups), key=lambda group: (named_seed(seed, NAME, "split", str(group)), group))
    splits: list[Split] = ["train"] * groups
    for position, group in enumerate(order[: test + val]):
        splits[group] = "test" if position < test else "val"
    return splits


def _one(
    options: SyntheticOptions, seed: int, number: int, group: int, split: Split
) -> tuple[History, tuple[Question, ...], tuple[Fact, ...]]:
    persona = make_persona(Draws(seed, NAME, "persona", str(group)), len(TOPICS))
    draws = Draws(seed, NAME, "history", str(number))
    moments = session_moments(draws, options.sessions_per_history)
    asked = moments[-1] + timedelta(days=draws.between(1, 10), minutes=draws.between(0, 90))
    plan = plan_history(options, number, draws, persona, moments, asked)
    name = f"synthetic-{number:05d}"
    talk = Talk(draws, persona, FILLERS[options.filler])
    sessions = _sessions(name, talk, plan, moments, options.turns_per_session // 2)
    history = History(name, f"persona-{group:05d}", split, sessions)
    ids = _statement_turns(plan, sessions, options.turns_per_session // 2)
    questions = tuple(_question(name, place, placed, ids, asked) for place, placed in enumerate(plan.threads, 1))
    return history, questions, _facts(name, plan, ids, sessions, options.turns_per_session // 2)


def _sessions(name: str, talk: Talk, plan: Plan, moments: list[datetime], exchanges: int) -> tuple[Session, ...]:
    sessions = []
    told = plan.told
    for place, moment in enumerate(moments):
        identity = f"{name}-s{place + 1}"
        turns = []
        for exchange in range(exchanges):
            said, reply = talk.exchange(told.get(place * exchanges + exchange), exchange == 0)
            turns.append(Turn(f"{identity}-t{2 * exchange + 1}", "user", said))
            turns.append(Turn(f"{identity}-t{2 * exchange + 2}", "assistant", reply))
        sessions.append(Session(identity, _minute(moment), tuple(turns)))
    return tuple(sessions)


def _minute(moment: datetime) -> str:
    return moment.isoformat(timespec="minutes")


def _statement_turns(plan: Plan, sessions: tuple[Session, ...], exchanges: int) -> dict[int, str]:
    """For each exchange with a statement the id of the turn that tells its fact."""
    ids = {}
    for slot, statement in plan.told.items():
        session, exchange = divmod(slot, exchanges)
        ids[slot] = sessions[session].turns[2 * exchange + (statement.speaker == "assistant")].id
    return ids


def _question(name: str, place: int, placed: Placed, ids: dict[int, str], asked: datetime) -> Question:
    thread = placed.thread
    return Question(
        id=f"{name}-q{place}" + ("_abs" if thread.abstention else ""),
        history_id=name,
        text=thread.question,
        type=thread.type,
        golds=thread.golds,
        date=_minute(asked),
        evidence=tuple(ids[placed.slots[position]] for position in thread.evidence),
        abstention=thread.abstention,
        trap=thread.trap,
    )


def _facts(
    name: str, plan: Plan, ids: dict[int, str], sessions: tuple[Session, ...], exchanges: int
) -> tuple[Fact, ...]:
    superseded = {}
    for placed in plan.threads:
        if placed.thread.updates:
            for earlier, later in zip(placed.slots[:-1], placed.slots[1:], strict=True):
                if plan.told[earlier].value != plan.told[later].value:
                    superseded[earlier] = ids[later]
    facts = []
    for slot in sorted(plan.told):
        told = plan.told[slot]
        day = (sessions[slot // exchanges].date or "")[:10]
        facts.append(
            Fact(name, plan.kinds[slot], told.owner, told.key, told.value, ids[slot], day, superseded.get(slot))
        )
    return tuple(facts)


def read(folder: Path, quirks: Counter[str]) -> Iterator[tuple[History, tuple[Question, ...]]]:
    """Stream `histories.jsonl` and `questions.jsonl`; generated data has no oddities, so `quirks` stays as it is."""
    return stream_prepared(folder)
