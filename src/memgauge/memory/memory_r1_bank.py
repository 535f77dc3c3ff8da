"""The entries of Memory-R1 and what an operation does to them: the runtime owns them, a reply only proposes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from memgauge.records import Entry
from memgauge.tasks.manage_memories import Operation
from memgauge.text.render import entry_tokens


@dataclass(frozen=True, slots=True)
class Kept:
    """One entry: its text, the turns it came from in history order, their dates, the step that last wrote it."""

    text: str
    sources: tuple[str, ...]
    dates: tuple[str | None, ...]
    step: int

    @property
    def date(self) -> str | None:
        """The date of its sessions; None where they differ, since a text written anew has no one date."""
        return self.dates[0] if len(self.dates) == 1 else None


@dataclass(frozen=True, slots=True)
class Said:
    """Where the facts of one step come from."""

    sources: tuple[str, ...]
    date: str | None
    step: int


@dataclass(frozen=True, slots=True)
class Bank:
    """All entries by number, in the order made; `made` counts those ever made, so that no number comes again."""

    entries: Mapping[int, Kept] = field(default_factory=dict)
    made: int = 0

    def added(self, text: str, said: Said) -> "Bank":
        """The bank with one more entry."""
        return Bank({**self.entries, self.made: Kept(text, said.sources, (said.date,), said.step)}, self.made + 1)

    def listed(self) -> tuple[Entry, ...]:
        """The entries in the order made, their numbers as ids."""
        return tuple(Entry(str(number), one.text, one.sources, one.date) for number, one in self.entries.items())


def apply(bank: Bank, operations: Sequence[Operation], shown: Sequence[int], said: Said, counts: Counter[str]) -> Bank:
    """The bank after a reply's operations; `shown` gives the numbers of the entries that the reply counts from 0.

    UPDATE keeps the entry and puts the new text in; one on an entry that was not shown is an ADD, as in the paper,
    and counted. DELETE or NONE on such an entry, and a second change of one entry, do nothing and are counted.
    """
    changed: set[int] = set()
    for operation in operations:
        number = _named(operation, shown)
        if operation.event == "ADD":
            bank = bank.added(operation.text, said)
        elif operation.event == "UPDATE" and number is None:
            counts["updates_as_added"] += 1
            bank = bank.added(operation.text, said)
        elif (number is None and operation.number is not None) or number in changed:
            counts["operations_invalid"] += 1
            continue
        elif operation.event != "NONE" and number is not None:
            changed.add(number)
            bank = _changed(bank, operation, number, said, counts)
        counts[f"operations_{operation.event.lower()}"] += 1
    return bank


def _named(operation: Operation, shown: Sequence[int]) -> int | None:
    """The number in the bank of the entry an operation names, None where it names none that was shown."""
    at = operation.number
    return shown[at] if at is not None and 0 <= at < len(shown) else None


def _changed(bank: Bank, operation: Operation, number: int, said: Said, counts: Counter[str]) -> Bank:
    entries = dict(bank.entries)
    if operation.event == "DELETE":
        del entries[number]
        return replace(bank, entries=entries)
    old = entries[number]
    counts["updates_of_another_text"] += operation.old is not None and operation.old.strip() != old.text
    entries[number] = Kept(
        operation.text,
        tuple(dict.fromkeys((*old.sources, *said.sources))),
        tuple(dict.fromkeys((*old.dates, said.date))),
        said.step,
    )
    return replace(bank, entries=entries)


def newest_kept(bank: Bank, budget_tokens: int, order: Mapping[str, int]) -> tuple[Entry, ...]:
    """The entries written last that fit, passing over one that no longer does; in the order of their first turns.

    `order` gives each turn's place in the history.
    """
    made = list(zip(bank.entries, bank.listed(), strict=True))
    chosen: list[tuple[int, Entry]] = []
    for number, entry in sorted(made, key=lambda one: (-bank.entries[one[0]].step, -one[0])):
        cost = entry_tokens(entry)
        if cost <= budget_tokens:
            budget_tokens -= cost
            chosen.append((number, entry))
    chosen.sort(key=lambda one: (order[one[1].sources[0]], one[0]))
    return tuple(entry for _, entry in chosen)
