"""The F1 of LoCoMo's own scorer, kept apart because its normalisation is not the default.

It deletes ASCII punctuation, drops "a", "an", "the" and "and", compares Porter stems, and treats each
category its own way.
"""

import string
from collections import Counter
from collections.abc import Callable
from functools import lru_cache

import snowballstemmer

from memgauge.errors import unknown_name

REFUSALS = ("no information available", "not mentioned")
_DROPPED = frozenset({"a", "an", "the", "and"})
_DELETED = str.maketrans("", "", string.punctuation)


def locomo_f1(answer: str | None, gold: str, category: str) -> float:
    """The official score of one answer. `gold` is not read for "adversarial".

    Raises InputError for a category the benchmark does not have.

    >>> locomo_f1("running and painting", "running, painting", "single-hop")
    1.0
    >>> round(locomo_f1("running and painting", "running, painting", "multi-hop"), 3)
    0.667
    """
    if category not in _SCORERS:
        raise unknown_name("LoCoMo category", category, sorted(_SCORERS))
    return _SCORERS[category]((answer or "").strip(), gold)


def explained_part(gold: str) -> str:
    """An open-domain gold without its explanation: what stands before the first ";".

    >>> explained_part("Likely no; she wants to be a counsellor")
    'Likely no'
    """
    return gold.split(";")[0].strip()


def stem_f1(answer: str, gold: str) -> float:
    """F1 over bags of stems; 0 when nothing is shared, also for two empty texts.

    >>> stem_f1("She painted", "painting")
    0.6666666666666666
    """
    words, golds = _stems(answer), _stems(gold)
    shared = sum((Counter(words) & Counter(golds)).values())
    return 2 * shared / (len(words) + len(golds)) if shared else 0.0


def _parts_f1(answer: str, gold: str) -> float:
    """Mean over the gold's comma parts of the best F1 with any comma part of the answer."""
    answers, golds = answer.split(","), gold.split(",")
    return sum(max(stem_f1(part, wanted) for part in answers) for wanted in golds) / len(golds)


def _open_f1(answer: str, gold: str) -> float:
    return stem_f1(answer, explained_part(gold))


def _refusal(answer: str, gold: str) -> float:
    return float(any(phrase in answer.lower() for phrase in REFUSALS))


_SCORERS: dict[str, Callable[[str, str], float]] = {
    "multi-hop": _parts_f1,
    "temporal": stem_f1,
    "open-domain": _open_f1,
    "single-hop": stem_f1,
    "adversarial": _refusal,
}


def _stems(text: str) -> list[str]:
    words = text.lower().translate(_DELETED).split()
    return [_stem(word) for word in words if word not in _DROPPED]


@lru_cache(maxsize=65536)
def _stem(word: str) -> str:
    # A stemmer keeps its word while it works, so threads must not share one.
    stem: str = snowballstemmer.stemmer("porter").stemWord(word)
    return stem
