"""The one word tokeniser of lexical retrieval, shared by index and query."""

import re
from unicodedata import normalize

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # kana and ideographs: no blanks between words
_WORD = re.compile(f"[{_CJK}]|[^\\W{_CJK}]+")


def words(text: str) -> list[str]:
    """Unicode words, compatibility-composed and case-folded; one word per ideograph or kana.

    >>> words("Cafe\\u0301 ＧＰＵ, портфель: 北京!")
    ['café', 'gpu', 'портфель', '北', '京']
    """
    return _WORD.findall(normalize("NFKC", normalize("NFKC", text).casefold()))
