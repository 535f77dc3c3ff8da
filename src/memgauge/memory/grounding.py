"""Whether a writer's line comes from the session it was shown, so that what a model made up never becomes an entry.

A line is grounded when it shares a content word with the session and does not decline the task. This is the least
that a line must do: it tells off-topic replies, apologies and replies in another language from notes, not a wrong
note from a right one. Content words are compared by stem. Names of speakers are among them; the roles "user" and
"assistant" are not, since an apology names them too. A line made only of the session's own words is grounded as well,
so that a quotation of nothing but small words ("Ann: That is it.") stays.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memgauge.solvers.extractive.lexicon import STOP, stem
from memgauge.text.normalise import clean_unicode
from memgauge.text.render import render_said
from memgauge.text.words import words

_ROLES = frozenset({"user", "assistant", "system", "ai", "bot", "human"})
_CJK = 0x2E80  # the first ideograph; each is a word of its own
_DECLINES = re.compile(
    r"\W*(?:as an ai\b"
    r"|(?:i am )?(?:so |very )?(?:sorry|afraid)\b\W*(?:but |that )?i (?:cannot|can not|can't|am unable|am not able)\b"
    r"|i (?:cannot|can not|can't|am unable to|am not able to) (?:help|assist|comply|summari[sz]e|retell)\b)"
)


@dataclass(frozen=True, slots=True)
class Ground:
    """What a session says: its words, and the stems of those that carry content."""

    said: frozenset[str]
    stems: frozenset[str]

    def holds(self, line: str) -> bool:
        """Whether a line can come from here.

        >>> ground = ground_of((("Ann", "I moved to Lisbon. Could you help me?"), ("user", "That is it.")))
        >>> [ground.holds(line) for line in ("Ann has a new home.", "She likes LISBON", "user: That is it.")]
        [True, True, True]
        >>> [ground.holds(line) for line in ("I'm sorry, I cannot help with that.", "The user sings.", "Где она?", "1")]
        [False, False, False, False]
        """
        if _DECLINES.match(clean_unicode(line).casefold().replace("i'm ", "i am ")):
            return False
        spoken = frozenset(words(line))
        return not self.stems.isdisjoint(_content(spoken)) or (len(spoken) > 1 and self.said.issuperset(spoken))


def ground_of(turns: Sequence[tuple[str, str]]) -> Ground:
    """The ground of a session's (speaker, text) turns."""
    said = frozenset(words(render_said(turns)))
    return Ground(said, frozenset(_content(said)))


def _content(spoken: frozenset[str]) -> set[str]:
    """Stems of words that carry content: numbers, as of a list, and single letters do not, ideographs do."""
    return {
        stem(word) for word in spoken - STOP - _ROLES if not word.isdecimal() and (len(word) > 1 or ord(word) > _CJK)
    }
