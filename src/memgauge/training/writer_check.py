"""What training bought a writer on histories it never saw: operations that validate, facts that survive."""

from collections.abc import Sequence
from dataclasses import dataclass

from memgauge.datasets.synthetic.generate import Fact
from memgauge.metrics.lexical import contains_match
from memgauge.records import Question, Store


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
