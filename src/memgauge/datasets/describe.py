"""One benchmark in numbers: sizes, question types, evidence, and every oddity its reader met."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from memgauge.records import History, Question
from memgauge.text.tokens import count_many, count_tokens


def describe(
    name: str, pairs: Iterable[tuple[History, tuple[Question, ...]]], quirks: Mapping[str, int]
) -> dict[str, Any]:
    """Counts in one streaming pass; the shape of the result is fixed, tables are sorted by name.

    `tokens` counts the `speaker: text` lines of a history joined by line breaks, `tokens_content` the bare
    texts of its turns one by one (both cl100k_base, summed over histories); `history_tokens` is the range of
    the first.
    """
    counts: Counter[str] = Counter()
    tables: dict[str, Counter[str]] = {
        key: Counter() for key in ("questions_by_type", "histories_by_split", "questions_by_split")
    }
    groups: set[str] = set()
    sizes: list[int] = []
    for history, questions in pairs:
        groups.add(history.group)
        sizes.append(_tokens(history))
        counts.update(_history_counts(history))
        tables["histories_by_split"][history.split] += 1
        for question in questions:
            tables["questions_by_type"][question.type] += 1
            tables["questions_by_split"][history.split] += 1
            counts.update(_question_counts(question))
    return {
        "name": name,
        "histories": len(sizes),
        "groups": len(groups),
        **{key: counts[key] for key in (*HISTORY_KEYS, *QUESTION_KEYS)},
        "tokens": sum(sizes),
        "history_tokens": {"min": min(sizes, default=None), "max": max(sizes, default=None)},
        **{key: dict(sorted(table.items())) for key, table in tables.items()},
        "quirks": {key: number for key, number in sorted(quirks.items()) if number},
    }


HISTORY_KEYS = ("sessions", "turns", "turns_with_caption", "tokens_content")
QUESTION_KEYS = (
    "questions",
    "answerable",
    "abstention",
    "questions_with_rubric",
    "questions_without_evidence",
    "evidence",
    "evidence_unresolved",
)


def _tokens(history: History) -> int:
    return count_tokens("\n".join(f"{turn.speaker}: {turn.text}" for _, turn in history.turns()))


def _history_counts(history: History) -> dict[str, int]:
    turns = [turn for _, turn in history.turns()]
    return {
        "sessions": len(history.sessions),
        "turns": len(turns),
        "turns_with_caption": sum(turn.caption is not None for turn in turns),
        "tokens_content": sum(count_many([turn.text for turn in turns])),
    }


def _question_counts(question: Question) -> dict[str, int]:
    return {
        "questions": 1,
        "answerable": not question.abstention,
        "abstention": question.abstention,
        "questions_with_rubric": bool(question.rubric),
        "questions_without_evidence": not question.evidence,
        "evidence": len(question.evidence),
        "evidence_unresolved": len(question.unresolved),
    }
