"""Questions whose evidence one system's store keeps and another's loses (paper A, "Qualitative Case Studies")."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memgauge.metrics.evidence import entry_index, span_recall
from memgauge.metrics.lexical import contains_match
from memgauge.metrics.scoring import ScoredItem, usable_golds
from memgauge.protocol.questions import evidence_texts
from memgauge.records import Answer, Benchmark, Question, Store
from memgauge.text.polarity import gold_polarity
from memgauge.text.render import render_entries

KINDS = ("both keep it", "first only", "second only", "neither keeps it")


@dataclass(frozen=True, slots=True)
class Side:
    """One system's part in a case: the entry closest to each evidence turn (None where no word is shared),
    with its similarity (token-set Jaccard), and the answer from the whole store."""

    system: str
    entries: tuple[tuple[str, float] | None, ...]
    answer: str
    right: bool | None


@dataclass(frozen=True, slots=True)
class Case:
    """A question with its golds and evidence turns, the system that keeps the evidence and the one that loses it."""

    question: Question
    evidence: tuple[str, ...]
    keeper: Side
    loser: Side


@dataclass(frozen=True, slots=True)
class System:
    """One system's material: name, stores by history id, CSM items and CSM answers by question id."""

    name: str
    stores: Mapping[str, Store]
    items: Mapping[str, ScoredItem]
    answers: Mapping[str, Answer]

    def right(self, question: Question) -> bool | None:
        """Whether the answer from the whole store is right; None when it has no score."""
        item = self.items.get(question.id)
        return None if item is None or item.contains_match is None else item.contains_match == 1


def keeps(system: System, question: Question, evidence: Sequence[str]) -> bool | None:
    """Whether a store keeps what the question asks for; None where that cannot be said.

    It does when its answer is right, or when the gold stands in it: all names, dates and numbers of a gold, or
    the gold itself where it has none. What stands in no evidence turn (a sum, a duration, yes or no) cannot be
    looked for, nor is a question judged that was not read.
    """
    if question.id not in system.items:
        return None
    if system.right(question):
        return True
    golds = [gold for gold in usable_golds(question) if gold_polarity(gold) is None]
    told = [gold for gold in golds if _stands(gold, "\n".join(evidence))]
    if not told:
        return None
    text = render_entries(system.stores[question.history_id].entries)
    return any(_stands(gold, text) for gold in told)


def count_kept(benchmark: Benchmark, first: System, second: System) -> dict[str, dict[str, int]]:
    """Questions by type and by which of two stores keeps what they ask for; types by name.

    Only questions of which that can be said for both stores count.
    """
    evidence = evidence_texts(benchmark)
    counts: dict[str, Counter[str]] = {}
    for question in benchmark.questions:
        mine, theirs = (keeps(system, question, evidence[question.id]) for system in (first, second))
        if mine is not None and theirs is not None:
            kind = KINDS[(not mine) * 2 + (not theirs)]
            counts.setdefault(question.type, Counter())[kind] += 1
    return {kind: {each: counts[kind][each] for each in KINDS} for kind in sorted(counts)}


def find_cases(benchmark: Benchmark, keeper: System, loser: System, most: int) -> list[Case]:
    """At most `most` questions whose evidence `keeper` holds and `loser` does not.

    First those the keeper answers right and the loser wrong, of as many question types as there are, then
    in benchmark order; evidence must name a turn.
    """
    evidence = evidence_texts(benchmark)
    chosen: list[tuple[bool, int, int, Question]] = []
    seen: Counter[tuple[bool, str]] = Counter()
    for place, question in enumerate(benchmark.questions):
        kept, lost = (keeps(system, question, evidence[question.id]) for system in (keeper, loser))
        if kept and lost is False and evidence[question.id]:
            plain = not (keeper.right(question) and loser.right(question) is False)
            chosen.append((plain, seen[plain, question.type], place, question))
            seen[plain, question.type] += 1
    cases = []
    for _, _, _, question in sorted(chosen, key=lambda each: each[:3])[:most]:
        texts = tuple(evidence[question.id])
        sides = (_side(system, question, texts) for system in (keeper, loser))
        cases.append(Case(question, texts, *sides))
    return cases


def _stands(gold: str, text: str) -> bool:
    """Whether all details of a gold stand in a text, or the gold itself where it has none."""
    recall = span_recall([gold], text)
    return bool(contains_match(text, gold)) if recall is None else recall == 1


def _side(system: System, question: Question, evidence: Sequence[str]) -> Side:
    texts = tuple(entry.text for entry in system.stores[question.history_id].entries)
    index = entry_index(texts)
    closest = (index.closest(text) for text in evidence)
    found = tuple(None if each is None else (texts[each[0]], each[1]) for each in closest)
    answer = system.answers.get(question.id)
    return Side(system.name, found, "" if answer is None else answer.text, system.right(question))
