"""Markdown of single questions: what one store keeps and another loses, and where each question lost its evidence."""

from collections.abc import Iterable, Mapping, Sequence

from memgauge.experiments.cases import Case, Side
from memgauge.protocol.attribution import LINKS, Attribution, Link
from memgauge.records import Answer, Question
from memgauge.report.experiment_tables import attribution_table, kept_table
from memgauge.report.numbers import number

LONGEST = 400  # characters of an entry or turn that are quoted
Counts = Mapping[str, Mapping[str, Mapping[str, int]]]  # reader -> question type -> which store keeps it
OUTCOMES = {True: "right", False: "wrong", None: "not scored"}

CASES = (
    "A store keeps what a question asks for when the answer from the whole store is right, or when every name, date "
    "and number of the gold (or a gold without any) stands in it. Golds that stand in no evidence turn, such as sums "
    "and durations, cannot be looked for: where neither answer tells, the question is left out. Quoted beside each "
    "evidence turn is the entry that shares most words with it."
)
ATTRIBUTE = (
    "Each question is attributed to the link at which its evidence was lost on the way to the answer from retrieved "
    "memory. Write: the store does not hold it. Retrieval: the store holds it, what was retrieved does not. Reading: "
    "it was shown and the answer is wrong, or even the evidence alone was not enough. In brackets: by the answers "
    "alone, the first step of OE, CSM, RM at which a right answer turned wrong. A short detail may stand in a store "
    "by chance, so neither count is a cause."
)


def cases_page(benchmark: str, pair: str, counts: Counts, cases: Mapping[str, Sequence[Case]]) -> str:
    """Counts by type, then the chosen cases by reader."""
    parts = [f"# Case studies: {benchmark}", CASES, f"## Whose store keeps it\n\n{kept_table(counts, pair)}"]
    for reader, chosen in cases.items():
        parts.append(f"## Cases, reader {reader}")
        parts += [_case(place, each) for place, each in enumerate(chosen, 1)] or ["No such question."]
    return "\n\n".join(parts) + "\n"


def attribution_page(
    benchmark: str,
    found: Mapping[str, Mapping[str, Sequence[Attribution]]],
    questions: Mapping[str, Question],
    answers: Mapping[str, Mapping[str, Mapping[str, Answer]]],
    examples: int,
) -> str:
    """The table, then for every system the first `examples` questions lost at each link.

    `found` and `answers` go by reader and system; answers are those from retrieved memory, by question id.
    """
    parts = [f"# Where each question lost its evidence: {benchmark}", ATTRIBUTE, attribution_table(found)]
    for reader, by_system in found.items():
        for system, each in by_system.items():
            lines = list(_examples(each, questions, answers[reader][system], examples))
            if lines:
                parts.append(f"## Examples: {system}, reader {reader}\n\n" + "\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _examples(
    found: Sequence[Attribution], questions: Mapping[str, Question], answers: Mapping[str, Answer], most: int
) -> Iterable[str]:
    lost: tuple[Link, ...] = LINKS[:3]
    for link in lost:
        for each in [one for one in found if one.link == link][:most]:
            question = questions[each.question_id]
            answer = answers.get(each.question_id)
            given = _quote("" if answer is None else answer.text)
            yield (
                f"- lost at {link} (`{each.pattern}`), {each.type}: {_quote(question.text)} "
                f"Gold: {_quote(' / '.join(question.golds))} Answer: {given}"
            )


def _case(place: int, case: Case) -> str:
    question = case.question
    lines = [
        f"### {place}. {_text(question.text)}",
        f"Type {question.type}; gold: {_quote(' / '.join(question.golds))}",
        *(f"- evidence: {_quote(text)}" for text in case.evidence),
        *_side("keeps it", case.keeper),
        *_side("loses it", case.loser),
    ]
    return "\n".join([lines[0], "", lines[1], "", *lines[2:]])


def _side(verb: str, side: Side) -> Iterable[str]:
    yield f"- `{side.system}` {verb}; answer from the whole store ({OUTCOMES[side.right]}): {_quote(side.answer)}"
    for found in dict.fromkeys(side.entries):
        if found is None:
            yield "  - no entry shares a word with an evidence turn"
        else:
            yield f"  - nearest entry (Jaccard {number(found[1], 2)}): {_quote(found[0])}"


def _quote(text: str) -> str:
    """A text on one line in quotation marks, shortened; its Markdown marks are shown, not obeyed."""
    return f'"{_text(text)}"'


def _text(text: str) -> str:
    line = " ".join(text.split())
    line = line if len(line) <= LONGEST else f"{line[:LONGEST].rstrip()} ..."
    return "".join(f"\\{each}" if each in "\\`*_[]<>#|" else each for each in line)
