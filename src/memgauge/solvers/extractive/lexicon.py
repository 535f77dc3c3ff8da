"""Word lists and stems shared by the extractive methods."""

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from snowballstemmer.english_stemmer import EnglishStemmer


def words(text: str) -> frozenset[str]:
    """A set of words written in one string."""
    return frozenset(text.split())


PRONOUNS = words("i me my mine myself we us our ours you your yours he him his she her hers they them their it its")
AUXILIARIES = words(
    "am is are was were be been being do does did done have has had having can could will would shall should "
    "may might must isn aren wasn weren don doesn didn haven hasn hadn won wouldn ll ve re"
)
PREPOSITIONS = words(
    "of in on at to for from with by about as into onto over under between through during after before since until "
    "than like around near off up down out without within along across per via toward towards "
    "above below behind beside beneath inside outside against among"
)
CONJUNCTIONS = words("and or but so because that which who whom whose when where while if then though although")
DETERMINERS = words("a an the this that these those some any every each no another such both all")
QUESTION_WORDS = words("what which who whom whose when where why how kind kinds type types sort name names called")
ADVERBS = words(
    "just really very so too also even still only now then there here quite pretty already recently lately "
    "actually always never ever again not s t m d ago much many more most lot lots bit yes yeah oh"
)
STOP = PRONOUNS | AUXILIARIES | PREPOSITIONS | CONJUNCTIONS | DETERMINERS | QUESTION_WORDS | ADVERBS
FUNCTION = PREPOSITIONS | CONJUNCTIONS | DETERMINERS | AUXILIARIES | PRONOUNS

_IRREGULAR = {
    past: base
    for pair in [
        "took:take",
        "taken:take",
        "went:go",
        "gone:go",
        "bought:buy",
        "got:get",
        "gotten:get",
        "gave:give",
        "given:give",
        "made:make",
        "met:meet",
        "saw:see",
        "seen:see",
        "told:tell",
        "said:say",
        "found:find",
        "felt:feel",
        "left:leave",
        "kept:keep",
        "began:begin",
        "begun:begin",
        "wrote:write",
        "written:write",
        "read:read",
        "ran:run",
        "won:win",
        "lost:lose",
        "came:come",
        "became:become",
        "thought:think",
        "brought:bring",
        "taught:teach",
        "caught:catch",
        "chose:choose",
        "chosen:choose",
        "drew:draw",
        "drawn:draw",
        "drove:drive",
        "driven:drive",
        "ate:eat",
        "eaten:eat",
        "fell:fall",
        "flew:fly",
        "flown:fly",
        "grew:grow",
        "grown:grow",
        "held:hold",
        "knew:know",
        "known:know",
        "led:lead",
        "paid:pay",
        "sang:sing",
        "sent:send",
        "slept:sleep",
        "sold:sell",
        "spent:spend",
        "spoke:speak",
        "spoken:speak",
        "stood:stand",
        "swam:swim",
        "threw:throw",
        "thrown:throw",
        "understood:understand",
        "wore:wear",
        "worn:wear",
        "built:build",
        "broke:break",
        "broken:break",
        "heard:hear",
        "hid:hide",
        "hurt:hurt",
        "lent:lend",
        "planned:plan",
        "children:child",
        "kids:child",
        "people:person",
        "women:woman",
        "men:man",
        "feet:foot",
        "better:good",
        "best:good",
        "mom:mother",
        "dad:father",
        "gonna:go",
        "movies:film",
        "movie:film",
        "job:work",
        "jobs:work",
        "started:start",
        "photo:picture",
        "photograph:picture",
    ]
    for past, base in (pair.split(":"),)
}
_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


LONGEST_WORD = 40  # letters: a longer run is no word, and stemming it costs its square


@cache
def _stemmer() -> "EnglishStemmer":
    import snowballstemmer

    return snowballstemmer.stemmer("english")


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """The stem of one word, irregular forms first.

    >>> stem("Took"), stem("running"), stem("Caroline's")
    ('take', 'run', 'carolin')
    """
    word = word[:LONGEST_WORD].lower().replace("’", "'").split("'")[0]
    return str(_stemmer().stemWord(_IRREGULAR.get(word, word)))


@lru_cache(maxsize=100_000)
def content_stems(text: str) -> tuple[str, ...]:
    """Stems of the words that carry content, in order.

    >>> content_stems("What did she take to the lake?")
    ('take', 'lake')
    """
    tokens = (match.group().lower() for match in _TOKEN.finditer(text))
    return tuple(stem(token) for token in tokens if token.split("'")[0].split("’")[0] not in STOP)
