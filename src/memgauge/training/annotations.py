"""A teacher without a model: what a benchmark's own annotators, or its generator, noted about train histories.

LoCoMo's raw file has observations with evidence, session summaries and event summaries; the synthetic generator
knows which turn told which fact. They become traces of `write_episode` and `extract_facts`: the other two
operations are not annotated. Nothing of a question, its golds or its evidence is read.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memgauge.datasets.locomo import split_evidence
from memgauge.datasets.raw import convert, load_json
from memgauge.datasets.synthetic.generate import Fact
from memgauge.memory.session_notes import spoken
from memgauge.records import History, Session
from memgauge.solvers.extractive.context import dates_of
from memgauge.solvers.extractive.lexicon import content_stems
from memgauge.solvers.extractive.probes import day_of, statements
from memgauge.solvers.extractive.segments import topic_of
from memgauge.solvers.extractive.summary import Candidate, resolve_dates
from memgauge.tasks.extract_facts import LONGEST_FACT, ExtractFacts
from memgauge.tasks.write_episode import LONGEST_TITLE, Episode, WriteEpisode
from memgauge.text.sentences import split_sentences
from memgauge.text.tokens import count_tokens
from memgauge.training.traces import Trace, require_train, trace_of

EVENTS = frozenset({"event", "two_events", "appointment", "tally", "spending"})  # kinds of synthetic fact that pass
_TOLD = 0.8  # share of a statement's stems at which the note already tells it
_STEP = 8  # tokens to which a budget is rounded up


@dataclass(frozen=True, slots=True)
class Noted:
    """One statement about a session and the ids of the turns it was drawn from."""

    text: str
    turns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SessionNotes:
    """What was noted about one session, by its place in the history: a note, and lasting facts in turn order.

    An empty `content` is no note: then `write_episode` has no trace, and facts are shown beside small talk.
    """

    session: int
    title: str
    content: str
    facts: tuple[Noted, ...]


def read_locomo_notes(path: Path, quirks: Counter[str]) -> dict[str, dict[str, Any]]:
    """The annotations of LoCoMo's raw file by history id; InputError for a file without them."""
    samples = convert(load_json(path, quirks), list[dict[str, Any]], str(path))
    parts = ("observation", "session_summary", "event_summary")
    return {
        str(sample.get("sample_id")): {
            part: convert(sample.get(part), dict[str, Any], f"{path} {sample.get('sample_id')} {part}")
            for part in parts
        }
        for sample in samples
    }


def locomo_notes(history: History, annotations: dict[str, Any], quirks: Counter[str]) -> list[SessionNotes]:
    """Session summaries as notes under their first event, observations as facts; what names no turn is counted."""
    notes = []
    for place, session in enumerate(history.sessions):
        events = annotations["event_summary"].get(f"events_{session.id}", {})
        told = [event for name, some in events.items() if name != "date" for event in some]
        summary = str(annotations["session_summary"].get(f"{session.id}_summary", ""))
        observed = annotations["observation"].get(f"{session.id}_observation", {})
        facts = list(_observations(session, observed, quirks))
        title = str(told[0])[:LONGEST_TITLE].rstrip(".") if told else topic_of(spoken(session))
        notes.append(SessionNotes(place, title, summary, tuple(facts)))
    return notes


def _observations(session: Session, observed: dict[str, Any], quirks: Counter[str]) -> Iterator[Noted]:
    order = {turn.id: at for at, turn in enumerate(session.turns)}
    found = []
    for pairs in observed.values():
        for text, evidence in pairs:
            named = split_evidence([evidence] if isinstance(evidence, str) else list(evidence))
            turns = sorted({turn for turn in named if turn in order}, key=order.__getitem__)
            quirks["observations_without_turn"] += not turns
            if turns and str(text).strip():
                found.append(Noted(" ".join(str(text).split()), tuple(turns)))
    yield from sorted(found, key=lambda one: order[one.turns[0]])


def synthetic_notes(history: History, facts: Iterable[Fact]) -> list[SessionNotes]:
    """What happened, as a note in the speakers' words with days written out; what stays true, as facts."""
    by_turn: dict[str, list[Fact]] = {}
    for fact in facts:
        by_turn.setdefault(fact.turn_id, []).append(fact)
    notes = []
    for place, session in enumerate(history.sessions):
        told = [(fact, said) for fact, said in _told(session, by_turn)]
        passing = [said for fact, said in told if fact.kind in EVENTS]
        lasting = tuple(said for fact, said in told if fact.kind not in EVENTS)
        titles = dict.fromkeys(fact.key for fact, _ in told if fact.kind in EVENTS)
        notes.append(SessionNotes(place, ", ".join(titles), "\n".join(one.text for one in passing), lasting))
    return notes


def _told(session: Session, by_turn: dict[str, list[Fact]]) -> Iterator[tuple[Fact, Noted]]:
    day = day_of(session.date)
    for turn in session.turns:
        for fact in by_turn.get(turn.id, ()):
            wanted = set(content_stems(f"{fact.key} {'' if _is_day(fact.value) else fact.value}"))
            sentences = split_sentences(turn.text)
            shared = [len(wanted & set(content_stems(sentence))) for sentence in sentences]
            best = max(shared, default=0)
            if best:
                text = f"{turn.speaker}: {resolve_dates(sentences[shared.index(best)], day)}"
                yield fact, Noted(text, (turn.id,))


def _is_day(value: str) -> bool:
    return re.fullmatch(r"\d{4}-\d{2}-\d{2}", value) is not None


def annotation_traces(
    history: History, notes: Sequence[SessionNotes], made_by: str, most_facts: int = 5
) -> list[Trace]:
    """Traces in session order; InputError for a history outside the split train."""
    require_train(history)
    made: list[Trace | None] = []
    for one in notes:
        session = history.sessions[one.session]
        episode = _episode(session, one)
        if one.content.strip():
            budget = -(-count_tokens(episode.text) // _STEP) * _STEP
            task = WriteEpisode(session.date, spoken(session), topic_of(spoken(session)), budget)
            made.append(trace_of(task, _reason(one), episode, history.id, made_by))
        made += [
            trace_of(*_facts(session, episode, group, most_facts), history.id, made_by)
            for group in _groups(one.facts, episode, most_facts)
        ]
    return [trace for trace in made if trace is not None]


def _episode(session: Session, notes: SessionNotes) -> Episode:
    """The note, or the first statement outside the facts' turns where there is none."""
    if notes.content.strip():
        lines = (line.strip() for line in notes.content.splitlines())
        content = "\n".join(line for line in lines if line)
        return Episode(" ".join(notes.title.split()) or "A talk", content, session.date)
    taken = {turn for fact in notes.facts for turn in fact.turns}
    others: list[Candidate] = [
        one for one in statements(session.date, spoken(session)) if session.turns[one.turn].id not in taken
    ]
    return Episode("small talk", others[0].text if others else "Nothing much was said.", session.date)


def _reason(notes: SessionNotes) -> str:
    days = [span.label for line in notes.content.splitlines() for span in dates_of(line, None)]
    named = ", ".join(list(dict.fromkeys([*notes.title.split(", "), *days]))[:3])
    return f"Worth keeping: {named}."


def _groups(facts: Sequence[Noted], episode: Episode, most: int) -> Iterator[list[Noted]]:
    """The facts that the note does not tell, at most so many at a time, in turn order."""
    told = set(content_stems(episode.content))
    fresh = [one for one in facts if len(one.text) <= LONGEST_FACT and not _covered(one.text, told)]
    for start in range(0, len(fresh), most):
        yield fresh[start : start + most]


def _covered(text: str, told: set[str]) -> bool:
    stems = set(content_stems(text))
    return len(stems & told) >= _TOLD * len(stems)


def _facts(
    session: Session, episode: Episode, group: Sequence[Noted], most: int
) -> tuple[ExtractFacts, str, tuple[str, ...]]:
    """The task on the turns from the first fact's to the last one's, its reason, and its output."""
    order = {turn.id: at for at, turn in enumerate(session.turns)}
    places = sorted(order[turn] for fact in group for turn in fact.turns)
    start = max(places[0] - 1, 0)
    shown = spoken(session)[start : places[-1] + 1]
    numbers = ", ".join(str(place - start + 1) for place in dict.fromkeys(places))
    task = ExtractFacts(session.date, shown, episode, (), most)
    return task, f"New and lasting: message {numbers}.", tuple(one.text for one in group)
