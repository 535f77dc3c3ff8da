"""Rated exchanges that fade unless talk returns to them (MemoryBank, arXiv 2305.10250, and its released code).

Keeps dated exchanges (a turn and the one after it) with an importance, one summary for every day of more than
one exchange, and one summary of these days. A recall is a later exchange whose likest earlier one is like
enough; the clock is the dialogue's, ending with its last session. Under the budget the exchanges of the least
importance * R go, R = exp(-t / (c * S)); summaries are never forgotten, as in the release. An exchange is ranked
by cosine * ((1 - w) + w * importance / 10), a day like an unrated exchange, and the summary of all days leads every
ranking, since the release always shows it. An exchange's importance stands in its entry's id: a store has no other
place for it.
Deviations: importance (paper A's variant of this system) where the paper has none; forgetting by rank once at the
end of the history, where the release draws at random at every start; summaries within a part of the budget; no
portraits of the user's personality; neighbouring entries are not merged.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import ClassVar

from memgauge.errors import InputError
from memgauge.memory.base import Hit, Query, Ranking, Tools, Written
from memgauge.memory.decay import dialogue_days, strengths
from memgauge.memory.session_notes import spoken
from memgauge.memory.shared import count_result, dense_hits, split_text, turn_text
from memgauge.memory.summaries import Note, summarise_notes, summarise_sessions, without_blanks
from memgauge.records import Entry, History, Session, Store, Turn
from memgauge.tasks.rate_importance import MOST, RateImportance
from memgauge.text.render import entry_tokens, render_date, render_turn
from memgauge.text.tokens import count_tokens

GLOBAL = "all"


@dataclass(frozen=True, slots=True)
class Memorybank:
    """`exchange_tokens`: the most tokens of an exchange's text; `unrated`: importance where a rating failed.

    `day_share`, `global_share`: parts of the budget for all days' summaries and for the summary of them;
    `recall_threshold`: the cosine from which on an exchange recalls another; `decay_days` and `as_released`: see
    `decay.Strength.log_retention`; `importance_weight`: how much importance counts in ranking, 0 to 1.
    """

    name: ClassVar[str] = "memorybank"
    card: ClassVar[dict[str, str]] = {
        "exchange_tokens": "ours: the release indexes whole turn pairs",
        "day_share": "ours: the release has no budget",
        "global_share": "ours: the release has no budget",
        "unrated": "ours: the middle of the scale",
        "recall_threshold": "ours, on synthetic train histories: the release counts real look-ups",
        "decay_days": "src: 5, as its formula is meant; paper: 1",
        "as_released": "src: true; off, since precedence there turns the formula round",
        "importance_weight": "ours: paper A states no mix",
    }

    exchange_tokens: int = 200
    day_share: float = 0.2
    global_share: float = 0.05
    unrated: int = 5
    recall_threshold: float = 0.7
    decay_days: float = 5.0
    as_released: bool = False
    importance_weight: float = 0.5

    def write(self, history: History, budget_tokens: int, tools: Tools) -> Written:
        """Summaries first, then the exchanges worth most that still fit; entries in history order."""
        self._check()
        counts: Counter[str] = Counter()
        told = without_blanks(history)
        exchanges = [
            exchange
            for at, session in enumerate(told.sessions)
            for exchange in _exchanges(at, session, self.exchange_tokens)
        ]
        summaries = self._summaries(_days(told, exchanges), budget_tokens, tools, counts)
        ratings = self._ratings(exchanges, tools, counts)
        worths = self._worths(
            exchanges, ratings, dialogue_days([session.date for session in told.sessions]), tools, counts
        )
        left = budget_tokens - sum(map(entry_tokens, summaries))
        kept = _keep([exchange.entry for exchange in exchanges], worths, left)
        counts["exchanges_forgotten"] = len(exchanges) - len(kept)
        rated = [replace(exchanges[at].entry, id=f"{at}:{ratings[at]}") for at in kept]
        order = {turn.id: at for at, (_, turn) in enumerate(history.turns())}
        entries = sorted([*summaries, *rated], key=lambda entry: order[entry.sources[0]])  # stable: summaries lead
        return Written(tuple(entries), dict(sorted(counts.items())))

    def retrieve(self, store: Store, queries: Sequence[Query], tools: Tools) -> list[Ranking]:
        """The summary of all days, then everything else by similarity and importance, ties by store position."""
        factors = [self._factor(entry.id) for entry in store.entries]
        return [
            Ranking(tuple(sorted((self._hit(hit, store, factors) for hit in ranking.hits), key=_best_first)))
            for ranking in dense_hits(store, queries, tools.encoder)
        ]

    def _check(self) -> None:
        if self.day_share + self.global_share >= 1:
            raise InputError(f"{self}: day_share and global_share must leave a part of the budget to exchanges")
        if not self.decay_days > 0:
            raise InputError(f"{self}: decay_days must be above 0")
        if self.importance_weight > 1 or not 1 <= self.unrated <= MOST:
            raise InputError(f"{self}: importance_weight must be at most 1, unrated from 1 to {MOST}")

    def _summaries(self, days: History, budget_tokens: int, tools: Tools, counts: Counter[str]) -> list[Entry]:
        """The summary of all days, where there are several, and the days' own, each with its id."""
        told = summarise_sessions(days, int(budget_tokens * self.day_share), tools.solver, counts)
        notes = [Note(render_date(day.date).strip("[]"), day) for day in told]
        speakers = {turn.speaker for _, turn in days.turns()}
        groups = [notes] if len(notes) > 1 else []
        tokens = int(budget_tokens * self.global_share)
        overall = summarise_notes(groups, tokens, speakers, tools.solver, counts)
        return [
            *(replace(entry, id=GLOBAL) for entry in overall if entry is not None),
            *(replace(entry, id=f"day {number}") for number, entry in enumerate(told, 1)),
        ]

    def _ratings(self, exchanges: Sequence["Exchange"], tools: Tools, counts: Counter[str]) -> list[int]:
        """The importance of every exchange, all in one call; a failed rating counts as `unrated`."""
        tasks = [RateImportance(exchange.entry.date, exchange.said) for exchange in exchanges]
        ratings = []
        for result in tools.solver.solve(tasks) if tasks else []:
            count_result(result, counts)
            counts["ratings_failed"] += result.output is None
            ratings.append(self.unrated if result.output is None else result.output)
        return ratings

    def _worths(
        self,
        exchanges: Sequence["Exchange"],
        ratings: Sequence[int],
        days: Sequence[float],
        tools: Tools,
        counts: Counter[str],
    ) -> list[float]:
        """ln(importance * R) of every exchange at the end of the history."""
        if not exchanges:
            return []
        vectors = tools.encoder.encode([exchange.entry.text for exchange in exchanges])
        held = strengths(vectors, [exchange.session for exchange in exchanges], days, self.recall_threshold)
        counts["recalls"] = sum(strength.recalls for strength in held)
        return [
            log(rating) + strength.log_retention(max(days), self.decay_days, self.as_released)
            for rating, strength in zip(ratings, held, strict=True)
        ]

    def _factor(self, id: str) -> float:
        """What an entry's cosine is multiplied with; days, and ids of another making, weigh as `unrated`."""
        _, _, rating = id.partition(":")
        importance = int(rating) if rating.isdecimal() else self.unrated
        return 1 - self.importance_weight + self.importance_weight * importance / MOST

    def _hit(self, hit: Hit, store: Store, factors: Sequence[float]) -> Hit:
        if store.entries[hit.position].id == GLOBAL:
            return Hit(hit.position, 1.0)  # no other score is higher, and it stands first in the store
        return Hit(hit.position, round(hit.score * factors[hit.position], 6))


def _best_first(hit: Hit) -> tuple[float, int]:
    return -hit.score, hit.position


@dataclass(frozen=True, slots=True)
class Exchange:
    """A turn and the one after it, or a piece of a long turn: its entry (without id), what is said, its session."""

    entry: Entry
    said: tuple[tuple[str, str], ...]
    session: int


def _exchanges(number: int, session: Session, limit_tokens: int) -> Iterator[Exchange]:
    for start in range(0, len(session.turns), 2):
        pair = replace(session, turns=session.turns[start : start + 2])
        text = "\n".join(map(render_turn, pair.turns))
        if count_tokens(text) <= limit_tokens:
            sources = tuple(turn.id for turn in pair.turns)
            yield Exchange(Entry("", text, sources, pair.date), spoken(pair), number)
        else:
            yield from (piece for turn in pair.turns for piece in _pieces(number, pair.date, turn, limit_tokens))


def _pieces(number: int, date: str | None, turn: Turn, limit_tokens: int) -> Iterator[Exchange]:
    """One turn in pieces that each repeat its speaker."""
    for text in map(str.strip, split_text(turn_text(turn), limit_tokens)):
        if text:
            yield Exchange(Entry("", f"{turn.speaker}: {text}", (turn.id,), date), ((turn.speaker, text),), number)


def _days(history: History, exchanges: Sequence[Exchange]) -> History:
    """Days of more than one exchange as sessions; the sessions of one day are one, undated ones each alone."""
    sizes = Counter(exchange.session for exchange in exchanges)
    days: dict[str | int, list[int]] = {}
    for at, session in enumerate(history.sessions):
        days.setdefault(at if session.date is None else session.date[:10], []).append(at)
    told = [
        Session(
            "",
            history.sessions[members[0]].date if len(members) == 1 else str(day),
            tuple(turn for at in members for turn in history.sessions[at].turns),
        )
        for day, members in days.items()
        if sum(sizes[at] for at in members) > 1
    ]
    return replace(history, sessions=tuple(told))


def _keep(entries: Sequence[Entry], worths: Sequence[float], budget_tokens: int) -> list[int]:
    """Positions of the entries worth most that fit, ties to the newer; one that no longer fits is passed over."""
    costs = [entry_tokens(entry) for entry in entries]
    kept = []
    for position in sorted(range(len(entries)), key=lambda at: (-worths[at], -at)):
        if costs[position] <= budget_tokens:
            kept.append(position)
            budget_tokens -= costs[position]
    return sorted(kept)
