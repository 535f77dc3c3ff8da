"""Where each question lost its evidence on the way to the answer from retrieved memory (RM).

Answers say where the chain broke, evidence recalls say whether the evidence was still there. Both err: an answer
may be right by luck, a short detail ("3") may stand in a context by chance. So both readings are given.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from memgauge.metrics.scoring import ScoredItem
from memgauge.protocol.outcomes import CHAIN, any_item, grid_of, is_scorable, value_of
from memgauge.records import PRIMARY

Link = Literal["write", "retrieval", "reading", "kept", "undecided"]
LINKS: tuple[Link, ...] = ("write", "retrieval", "reading", "kept", "undecided")


@dataclass(frozen=True, slots=True)
class Attribution:
    """One question: `pattern` is its outcome under OE, CSM, RM ("+" right, "-" wrong, "?" missing).

    `by_answers` follows from the pattern alone, `link` from pattern and recalls.
    """

    question_id: str
    history_id: str
    type: str
    pattern: str
    by_answers: Link
    link: Link


@dataclass(frozen=True, slots=True)
class Attributed:
    """One question of one cell with what its link rests on, by condition (OE, CSM, RM; absent: no item).

    `status` is the answer's, `contains_match` its score (None: missing), the recalls are those of CSM and RM.
    """

    reader: str
    system: str
    attribution: Attribution
    status: dict[str, str]
    contains_match: dict[str, float | None]
    span_recall: dict[str, float | None]
    turn_recall: dict[str, float | None]


def attributed(reader: str, system: str, items: Sequence[ScoredItem]) -> list[Attributed]:
    """Every scorable question of one cell as a record of its own, in the order of the items."""
    grid = grid_of(items)
    records = []
    for found in attribute(items):
        answered = grid[found.question_id]
        row = {condition: answered[condition] for condition in CHAIN if condition in answered}
        kept = {condition: item for condition, item in row.items() if condition != "OE"}
        records.append(
            Attributed(
                reader,
                system,
                found,
                {condition: item.status for condition, item in row.items()},
                {condition: item.contains_match for condition, item in row.items()},
                {condition: item.span_recall for condition, item in kept.items()},
                {condition: item.turn_recall for condition, item in kept.items()},
            )
        )
    return records


def attribute(items: Sequence[ScoredItem]) -> list[Attribution]:
    """Attribute every scorable question of one cell (one reader's items, not an average of readers)."""
    found = []
    for question_id, row in grid_of(items).items():
        if not is_scorable(row):
            continue
        outcomes = [value_of(row, condition, PRIMARY) for condition in CHAIN]
        pattern = "".join("?" if value is None else "+" if value == 1 else "-" for value in outcomes)
        stored, shown = (holds(row.get(condition)) for condition in ("CSM", "RM"))
        item = any_item(row)
        by_answers = link_by_answers(pattern)
        link = link_by_recall(pattern, stored, shown)
        found.append(Attribution(question_id, item.history_id, item.type, pattern, by_answers, link))
    return found


def holds(item: ScoredItem | None) -> bool | None:
    """Whether all names, dates and numbers of the gold stand in the context; None where that cannot be said.

    A gold without such details is held when every evidence turn has a close entry. The opposite does not
    follow: an entry that condenses a turn may share too few of its words and still keep the fact.
    """
    if item is None:
        return None
    if item.span_recall is not None:
        return item.span_recall == 1
    return True if item.turn_recall == 1 else None


def link_by_answers(pattern: str) -> Link:
    """The first step of OE -> CSM -> RM at which a right answer turned wrong.

    kept: right from retrieved memory. retrieval: right from the whole store only. write: right from the
    evidence only. reading: wrong under all three. undecided: an answer is missing.

    >>> [link_by_answers(pattern) for pattern in ("+++", "++-", "+--", "---", "-+-", "+?-")]
    ['kept', 'retrieval', 'write', 'reading', 'retrieval', 'undecided']
    """
    if "?" in pattern:
        return "undecided"
    oe, csm, rm = (outcome == "+" for outcome in pattern)
    if rm:
        return "kept"
    if csm:
        return "retrieval"
    return "write" if oe else "reading"


def link_by_recall(pattern: str, stored: bool | None, shown: bool | None) -> Link:
    """The link that lost the evidence itself: `stored` and `shown` say whether CSM and RM hold all of it.

    write: not in the store, and the store gave no right answer. retrieval: in the store (or the store gave a
    right answer) and not in what was shown. reading: it was shown, or even the evidence alone was not enough.
    Where recall is undefined the answers decide.

    >>> [link_by_recall("+--", *held) for held in ((False, False), (True, False), (True, True), (None, None))]
    ['write', 'retrieval', 'reading', 'write']
    """
    by_answers = link_by_answers(pattern)
    if by_answers in ("kept", "undecided", "reading") or stored is None or shown is None:
        return by_answers
    if shown:
        return "reading"
    return "retrieval" if stored or by_answers == "retrieval" else "write"


def count_links(found: Sequence[Attribution], by_answers: bool = False) -> dict[Link, int]:
    """Questions by link, every link present."""
    counts = Counter(each.by_answers if by_answers else each.link for each in found)
    return {link: counts[link] for link in LINKS}
