"""One normal form of text for every lexical metric: what two spellings of the same words have in common.

Rules, in order: NFKC; format characters (zero-width, direction marks) dropped; quotes and dashes unified;
case-folded; digit grouping removed; punctuation dropped except inside numbers; articles dropped.
Decisions beyond those rules: a possessive 's is punctuation, other apostrophes join their word; "U.S." is
one word; "+" and "#" stay at the end of a word ("C++"); a currency sign is a token of its own; one token
per character in scripts written without word spaces.
"""

import re
import unicodedata
from functools import lru_cache

ARTICLES = frozenset({"a", "an", "the"})
_QUOTES = {
    **dict.fromkeys("‘’‚‛‹›ʹʻʼʽˈ′‵´`＇", "'"),
    **dict.fromkeys("“”„‟«»″‶〝〞〟＂", '"'),
    "−": "-",
    "⁄": "/",
}
# Han, kana, bopomofo, Hangul, Thai, Lao, Myanmar, Khmer: words are not (or not only) set apart by spaces.
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u312f\u3130-\u318f"
    r"\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)
# A character of a word; outside ASCII `_separate` leaves only letters, digits and marks.
_W = r"[0-9a-z\x80-\U0010ffff]"
_TOKEN = re.compile(
    rf"(?<!{_W})[a-z](?:\.[a-z])+(?!{_W})"  # u.s.
    rf"|(?:(?<![-0-9a-z\x80-\U0010ffff])-(?=\.?[0-9]))?"  # the sign of a number that starts here
    rf"(?:(?<![0-9],)(?<!{_W})[0-9]{{1,3}}(?:,[0-9]{{3}})+(?![0-9])(?!,[0-9])(?:\.[0-9]{_W}*)?"  # 1,000.5
    rf"|(?<!{_W})\.[0-9]{_W}*"  # .5
    rf"|{_W}+(?:'{_W}+|(?<=[0-9])[.:/](?=[0-9]){_W}+)*"  # word, 15th, 7:30
    rf"(?:(?<=[a-z])(?:\+\+?|#)(?![+#])(?!{_W}))?)"  # c++
    r"|\$"
)
_DECIMAL = re.compile(r"(-?)([0-9]*)\.([0-9]+)\Z")


def clean_unicode(text: str) -> str:
    """NFKC text without format characters, with straight quotes and plain hyphens; case is kept.

    A fraction or superscript after a digit is first set apart, so that "3½" never becomes "31/2".

    >>> clean_unicode("Ｃaroline\\u200b’s 3½ – 10²")
    "Caroline's 3 1/2 - 10 2"
    """
    while not text.isascii() or "`" in text:
        changed = unicodedata.normalize("NFKC", _replace(_split_fractions(text)))
        if changed == text:
            break
        text = changed
    return text


def normalise(text: str) -> str:
    """Tokens joined by one space; text without a token stays as it is, cleaned and case-folded. Idempotent.

    >>> normalise("The  U.S. spent $1,000.50 -- really?"), normalise("35"), normalise("3.50"), normalise("A")
    ('us spent $ 1000.5 really', '35', '3.5', 'a')
    """
    return " ".join(tokens(text)) or " ".join(_fold(text).split())


def tokens(text: str) -> list[str]:
    """The normal form's tokens; articles stay where nothing else is left, and text without a word gives [].

    >>> tokens("Caroline's dog, the 2nd."), tokens("我住在 Paris"), tokens("The"), tokens("?!")
    (['caroline', 'dog', '2nd'], ['我', '住', '在', 'paris'], ['the'], [])
    """
    every = all_tokens(text)
    kept = [token for token in every if token not in ARTICLES]
    return kept or every


def all_tokens(text: str) -> list[str]:
    """The tokens of a text with its articles."""
    found: list[str] = []
    for chunk in _separate(_fold(text)).split():
        if chunk.isalpha():
            found.append(chunk)
        else:
            found.extend(_chunk_tokens(chunk))
    return found


@lru_cache(maxsize=65536)
def _chunk_tokens(chunk: str) -> tuple[str, ...]:
    """Tokens of a piece without white space, kept: no token spans white space, and pieces come again."""
    # Without its apostrophe a letter may meet a combining mark, hence NFC.
    found = (unicodedata.normalize("NFC", _canonical(token)) for token in _TOKEN.findall(chunk))
    return tuple(token for token in found if token)


def is_word(token: str) -> bool:
    """Whether a token holds a letter or a digit, i.e. is more than a currency sign.

    >>> is_word("3.5"), is_word("$")
    (True, False)
    """
    return any(character.isalnum() for character in token)


def _canonical(token: str) -> str:
    """Equal numbers get equal spellings ("1.0" and "1"); apostrophes and the dots of initials go."""
    if token[-1] in ".'" or token[0].isalpha():
        return token.removesuffix("'s").replace("'", "").replace(".", "" if token[1:2] == "." else ".")
    token = token.replace(",", "").removesuffix("'s").replace("'", "")
    decimal = _DECIMAL.match(token)
    if decimal is None:
        return token
    sign, whole, fraction = decimal.groups()
    fraction = fraction.rstrip("0")
    return f"{sign}{whole or '0'}{'.' if fraction else ''}{fraction}"


def _fold(text: str) -> str:
    """Cleaned and case-folded; folding can undo NFKC ("ŉ"), hence until nothing changes."""
    if text.isascii():
        return clean_unicode(text).lower()
    folded = clean_unicode(clean_unicode(text).casefold())
    return folded if folded == text else _fold(folded)


def _separate(folded: str) -> str:
    """Outside ASCII: words stay, unspaced scripts and currency are set apart, the rest becomes space."""
    if folded.isascii():
        return folded
    table = {ord(c): _spacing(c) for c in set(folded) if not c.isascii()}
    return folded.translate(table)


@lru_cache(maxsize=4096)
def _spacing(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Sc":
        return f" {character} "
    if category == "Nd":
        return str(unicodedata.digit(character))
    if category[0] not in "LNM":
        return " "
    return f" {character} " if _UNSPACED.match(character) else character


def _replace(text: str) -> str:
    table = {ord(c): _straight(c) for c in set(text) if c == "`" or not c.isascii()}
    changes = {code: new for code, new in table.items() if new != chr(code)}
    return text.translate(changes) if changes else text


@lru_cache(maxsize=4096)
def _straight(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cf":
        return ""
    return "-" if category == "Pd" else _QUOTES.get(character, character)


def _split_fractions(text: str) -> str:
    """Set characters such as ½ and ² apart from a neighbouring digit, which NFKC would glue to them."""
    odd = {c for c in set(text) if not c.isascii() and unicodedata.category(c) == "No"}
    if not odd:
        return text
    run = f"[{re.escape(''.join(sorted(odd)))}]"
    return re.sub(rf"(?<=[0-9])(?={run})|(?<={run})(?=[0-9])", " ", text)
