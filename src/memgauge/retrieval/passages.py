"""Windows over a long text that together cover every character."""

from dataclasses import dataclass

from memgauge.errors import InputError


@dataclass(frozen=True, slots=True)
class Passage:
    """`text` is characters `start` to `end` of document number `document`."""

    document: int
    start: int
    end: int
    text: str


def split_passages(text: str, size: int, overlap: int = 0, document: int = 0) -> list[Passage]:
    """Windows of at most `size` characters, each sharing `overlap` characters with the one before it.

    >>> [each.text for each in split_passages("abcdefgh", size=4, overlap=1)]
    ['abcd', 'defg', 'gh']
    """
    if size < 1:
        raise InputError(f"a passage's size must be at least 1 character, not {size}")
    if not 0 <= overlap < size:
        raise InputError(f"a passage's overlap must be 0 to {size - 1} characters, not {overlap}")
    passages: list[Passage] = []
    start = 0
    while start < len(text) and (not passages or passages[-1].end < len(text)):
        end = min(start + size, len(text))
        passages.append(Passage(document, start, end, text[start:end]))
        start += size - overlap
    return passages


def documents_of(passages: list[Passage], positions: list[int]) -> list[int]:
    """The documents of ranked passages, best first, each once.

    >>> documents_of([Passage(7, 0, 1, "a"), Passage(7, 1, 2, "b"), Passage(9, 0, 1, "a")], [1, 2, 0])
    [7, 9]
    """
    return list(dict.fromkeys(passages[position].document for position in positions))
