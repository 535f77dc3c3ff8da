"""The conditions of the diagnosis: what a reader is shown, within budgets (paper A, 3 and 4).

Warnings are fixed texts, so that tables can count them; the numbers behind them are in a store's counts.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence

from memgauge.errors import InputError, unknown_name
from memgauge.memory.base import Hit, MemorySystem, Ranking, Tools, Written
from memgauge.records import Context, Entry, History, Question, Session, Store, Turn
from memgauge.text.render import entry_tokens, render_date, render_entries, render_turn, render_turns
from memgauge.text.tokens import count_tokens, truncate

EMPTY_STORE = "empty store"
PARTIAL_STORE = "store covers less than its history"
COVERING_K = "k covers the store"
COVERING_BUDGET = "read budget covers the store"
CUT_ENTRY = "best entry cut to the read budget"
CUT_TURN = "newest turn cut to the limit"
NO_EVIDENCE = "no evidence turn"
UNRESOLVED_EVIDENCE = "evidence that names no turn"
MODES = ("topk", "fill")


def write_store(system: MemorySystem, history: History, budget_tokens: int, tools: Tools) -> Store:
    """Let a system write, then hold it to its word: budget, known sources, distinct entry ids.

    Entries beyond the budget are dropped whole, in store order; sources that name no turn of the history are
    dropped. Both are counted.
    """
    if budget_tokens < 1:
        raise InputError(f"the write budget is {budget_tokens}; it must be at least 1 token")
    written = system.write(history, budget_tokens, tools)
    _check_ids(system.name, written)
    counts = Counter(written.counts)
    known = {turn.id for _, turn in history.turns()}
    entries = [_known_sources(entry, known, counts) for entry in _within(written.entries, budget_tokens)]
    counts["dropped_over_budget"] = len(written.entries) - len(entries)
    _count_coverage(history, entries, counts)
    return Store(
        history_id=history.id,
        system=system.name,
        entries=tuple(entries),
        tokens=sum(map(entry_tokens, entries)),
        budget_tokens=budget_tokens,
        counts=dict(sorted(counts.items())),
        warnings=_store_warnings(counts),
        probes=written.probes,
    )


def _check_ids(system: str, written: Written) -> None:
    repeated = sorted(id for id, times in Counter(entry.id for entry in written.entries).items() if times > 1)
    if repeated:
        raise InputError(f"memory system {system} wrote entry id {repeated[0]!r} twice; ids must differ")


def _within(entries: Sequence[Entry], budget_tokens: int) -> Sequence[Entry]:
    """The longest start of the store that fits the budget."""
    left = budget_tokens
    for position, entry in enumerate(entries):
        left -= entry_tokens(entry)
        if left < 0:
            return entries[:position]
    return entries


def _known_sources(entry: Entry, known: set[str], counts: Counter[str]) -> Entry:
    sources = tuple(source for source in entry.sources if source in known)
    counts["sources_unknown"] += len(entry.sources) - len(sources)
    return Entry(entry.id, entry.text, sources, entry.date)


def _count_coverage(history: History, entries: Sequence[Entry], counts: Counter[str]) -> None:
    covered = {source for entry in entries for source in entry.sources}
    counts["entries"] = len(entries)
    counts["turns_total"] = sum(1 for _ in history.turns())
    counts["turns_covered"] = len(covered)
    counts["sessions_total"] = len(history.sessions)
    sessions = [{turn.id for turn in session.turns} for session in history.sessions]
    counts["sessions_covered"] = sum(not covered.isdisjoint(turns) for turns in sessions)


def _store_warnings(counts: Counter[str]) -> tuple[str, ...]:
    if not counts["entries"]:
        return (EMPTY_STORE,)
    return (PARTIAL_STORE,) if counts["turns_covered"] < counts["turns_total"] else ()


def no_memory(question: Question) -> Context:
    """NM: the question alone."""
    return Context(question.id, "NM", "", 0)


def recent(questions: Sequence[Question], history: History, limit_tokens: int) -> list[Context]:
    """TFC for every question of one history: its newest whole turns, at most `limit_tokens` as rendered.

    Where not even the newest turn fits, the start of it is shown with a warning.
    """
    if limit_tokens < 1:
        raise InputError(f"the limit of recent turns is {limit_tokens}; it must be at least 1 token")
    turns = _newest(history, limit_tokens)
    text = render_turns(turns)
    warnings: tuple[str, ...] = ()
    while count_tokens(text) > limit_tokens and len(turns) > 1:
        turns = turns[1:]
        text = render_turns(turns)
    if count_tokens(text) > limit_tokens:
        text, warnings = cut(text, limit_tokens), (CUT_TURN,)
    tokens = count_tokens(text)
    return [Context(question.id, "TFC", text, tokens, warnings=warnings) for question in questions]


def _newest(history: History, limit_tokens: int) -> list[tuple[Session, Turn]]:
    """The newest turns whose lines fit the limit one by one, at least one; oldest first."""
    newest: list[tuple[Session, Turn]] = []
    spent = 0
    for session, turn in reversed(list(history.turns())):
        spent += count_tokens(f"{render_turn(turn)}\n")
        if not newest or newest[-1][0] is not session:
            spent += count_tokens(f"{render_date(session.date)}\n")
        if newest and spent > limit_tokens + 1:  # the last line has no line break
            break
        newest.append((session, turn))
    return newest[::-1]


def oracle(question: Question, history: History) -> Context:
    """OE: the evidence turns in history order under their sessions' dates, whatever their length."""
    evidence = set(question.evidence)
    turns = [(session, turn) for session, turn in history.turns() if turn.id in evidence]
    unresolved = bool(question.unresolved) or len(turns) < len(evidence)
    warnings = ((NO_EVIDENCE,) if not turns else ()) + ((UNRESOLVED_EVIDENCE,) if unresolved else ())
    text = render_turns(turns)
    return Context(question.id, "OE", text, count_tokens(text), warnings=warnings)


def complete(question: Question, store: Store) -> Context:
    """CSM: the whole store in store order, with the store's warnings."""
    text = render_entries(store.entries)
    ids = tuple(entry.id for entry in store.entries)
    return Context(question.id, "CSM", text, count_tokens(text), ids, store.warnings)


def retrieved(
    question: Question, store: Store, ranking: Ranking, k: int, mode: str, read_budget_tokens: int
) -> Context:
    """RM: the best-ranked entries, shown in store order, at most `read_budget_tokens` as rendered.

    `topk` shows the first `k` hits, `fill` as many as the read budget holds; in both the ranking is cut
    before the first hit that overflows the budget; a best hit that alone overflows it is cut, with a warning.
    """
    _check_cut(k, mode, read_budget_tokens)
    positions = ranked_positions(ranking.hits, store)
    candidates = positions[:k] if mode == "topk" else positions[:read_budget_tokens]
    fitting = bisect_right(
        range(1, len(candidates) + 1),
        read_budget_tokens,
        key=lambda count: count_tokens(_text(candidates[:count], store)),
    )
    shown = candidates[: max(fitting, 1)]
    warnings = _read_warnings(store, len(shown), k, mode)
    text = _text(shown, store)
    if count_tokens(text) > read_budget_tokens:
        text, warnings = cut(text, read_budget_tokens), (*warnings, CUT_ENTRY)
    ids = tuple(store.entries[position].id for position in shown)
    return Context(question.id, "RM", text, count_tokens(text), ids, warnings, ranking.counts)


def _check_cut(k: int, mode: str, read_budget_tokens: int) -> None:
    if mode not in MODES:
        raise unknown_name("read mode", mode, list(MODES))
    if k < 1:
        raise InputError(f"k is {k}; it must be at least 1")
    if read_budget_tokens < 1:
        raise InputError(f"the read budget is {read_budget_tokens}; it must be at least 1 token")


def ranked_positions(hits: Sequence[Hit], store: Store) -> list[int]:
    """Ranked positions, each once; a position outside the store is the system's error."""
    positions = list(dict.fromkeys(hit.position for hit in hits))
    for position in positions:
        if not 0 <= position < len(store.entries):
            raise InputError(
                f"memory system {store.system} ranked position {position} of {len(store.entries)} entries;"
                " it must return positions in the store"
            )
    return positions


def _text(positions: Sequence[int], store: Store) -> str:
    return render_entries([store.entries[position] for position in sorted(positions)])


def _read_warnings(store: Store, shown: int, k: int, mode: str) -> tuple[str, ...]:
    if not store.entries:
        return (EMPTY_STORE,)
    if mode == "topk":
        return (COVERING_K,) if k >= len(store.entries) else ()
    return (COVERING_BUDGET,) if shown == len(store.entries) else ()


def cut(text: str, limit_tokens: int) -> str:
    """The start of a text that counts at most `limit_tokens`; a cut text may count anew as one token more."""
    limit = limit_tokens
    while count_tokens(start := truncate(text, limit)) > limit_tokens:
        limit -= 1
    return start
