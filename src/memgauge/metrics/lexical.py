"""Answer metrics that compare words: contains match, its strict variant, and token F1 in two named variants.

Every function takes one answer and one gold; `best` lets the best usable one of a question's golds count.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache

from memgauge.text.normalise import ARTICLES, all_tokens, clean_unicode, is_word, tokens
from memgauge.text.polarity import answer_polarity, gold_polarity


def contains_match(answer: str | None, gold: str) -> bool | None:
    """Whether the normalised gold occurs in the normalised answer at word edges; None for an unusable gold.

    The normal form has one space between tokens, so an edge is what stands around the match; numbers are
    whole tokens, and unspaced scripts have an edge at every character. A gold that opens with yes or no
    (hedged or explained) asks for the same polarity instead. An empty gold is matched by an empty answer
    only.

    >>> contains_match("It is C++.", "C++"), contains_match("It is 3.5", "3"), contains_match("15", "5")
    (True, False, False)
    """
    if unusable(gold):
        return None
    wanted = gold_polarity(gold)
    if wanted:
        return answer_polarity(answer or "") == wanted
    words, golds = _token_pair(answer or "", gold)
    if not golds:
        return not words
    return f" {' '.join(golds)} " in f" {' '.join(words)} "


def contains_match_strict(answer: str | None, gold: str) -> bool:
    """The raw substring test of paper A ("Metrics"): no normalisation, no edges, case counts.

    >>> contains_match_strict("I know", "no"), contains_match_strict("paris", "Paris")
    (True, False)
    """
    return gold in (answer or "") if gold else not answer


def token_f1(answer: str | None, gold: str) -> float | None:
    """Multiset F1 of normalised tokens (SQuAD style; currency signs do not count); None for an unusable gold.

    Numeric-aware: "1.0" equals "1" and "35" differs from "3.5". Two empty texts score 1, one empty text 0.

    >>> token_f1("running and painting", "running, painting"), token_f1("35", "3.5"), token_f1("Paris", "???")
    (0.8, 0.0, None)
    """
    if unusable(gold):
        return None
    words, golds = _token_pair(answer or "", gold)
    return multiset_f1([w for w in words if is_word(w)], [g for g in golds if is_word(g)])


def squad_f1(answer: str | None, gold: str) -> float:
    """The plain SQuAD F1, for comparison: punctuation is deleted, so "35" equals "3.5" and "1.0" misses "1".

    >>> squad_f1("35", "3.5"), squad_f1("1.0", "1")
    (1.0, 0.0)
    """
    return multiset_f1(_squad_tokens(answer or ""), _squad_tokens(gold))


def multiset_f1(words: Sequence[str], golds: Sequence[str]) -> float:
    """F1 of two bags of tokens: 2 * shared / (both sizes); two empty bags score 1.

    >>> multiset_f1(["paris"] * 5, ["paris"])
    0.3333333333333333
    """
    if not words and not golds:
        return 1.0
    shared = sum((Counter(words) & Counter(golds)).values())
    return 2 * shared / (len(words) + len(golds))


@lru_cache(maxsize=65536)
def unusable(gold: str) -> str | None:
    """Why no answer can be scored against this gold, or None. An empty gold can: by an empty answer.

    >>> unusable("???"), unusable("1"), unusable("")
    ("gold '???' holds no letter or digit", None, None)
    """
    cleaned = clean_unicode(gold).strip()
    if not cleaned or any(is_word(token) for token in all_tokens(cleaned)):
        return None
    return f"gold {gold!r} holds no letter or digit"


def best(
    metric: Callable[[str | None, str], float | bool | None], answer: str | None, golds: Sequence[str]
) -> float | None:
    """The best score over a question's golds, unusable ones left out; None when none is usable.

    >>> best(token_f1, "Paris", ["???", "Paris"]), best(token_f1, "Paris", ["???"])
    (1.0, None)
    """
    scores = [score for score in (metric(answer, gold) for gold in golds) if score is not None]
    return float(max(scores)) if scores else None


def _token_pair(answer: str, gold: str) -> tuple[list[str], list[str]]:
    """Both texts' tokens. A gold that ends in an article word ("A", "Vitamin A") keeps them on both sides."""
    golds = all_tokens(gold)
    if golds and golds[-1] in ARTICLES:
        return all_tokens(answer), golds
    return tokens(answer), tokens(gold)


_SQUAD_DELETED = str.maketrans("", "", "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


def _squad_tokens(text: str) -> list[str]:
    return [token for token in text.lower().translate(_SQUAD_DELETED).split() if token not in ARTICLES]
