"""What writing took, per session, so that systems can be compared at equal cost (paper A, "Cost-Matched")."""

from collections.abc import Iterable
from dataclasses import dataclass

from memgauge.records import Store


@dataclass(frozen=True, slots=True)
class WriteCost:
    """Totals over all stores of one system. A solver without a language model has tasks but no calls."""

    system: str
    sessions: int
    tasks: int
    calls: int
    input_tokens: int
    output_tokens: int
    store_tokens: int
    failures: int

    def per_session(self, total: int) -> float | None:
        """A total divided by the sessions; None without sessions."""
        return total / self.sessions if self.sessions else None


def write_cost(system: str, stores: Iterable[Store]) -> WriteCost:
    """Add up what the stores' counts say of the writer; a count that a system does not give is 0."""
    totals: dict[str, int] = {}
    tokens = failures = 0
    for store in stores:
        tokens += store.tokens
        failures += sum(count for name, count in store.counts.items() if name.startswith("status_"))
        for name, count in store.counts.items():
            totals[name] = totals.get(name, 0) + count
    return WriteCost(
        system=system,
        sessions=totals.get("sessions_total", 0),
        tasks=totals.get("writer_tasks", 0),
        calls=totals.get("writer_calls", 0),
        input_tokens=totals.get("writer_input_tokens", 0),
        output_tokens=totals.get("writer_output_tokens", 0),
        store_tokens=tokens,
        failures=failures,
    )
