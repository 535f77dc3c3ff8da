"""A context's text read back into dated, attributed sentences."""

import re
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from memgauge.text.dates import DateSpan, find_dates, parse_heading
from memgauge.text.sentences import split_sentences, strip_fillers

_HEADING = re.compile(r"^\[(?:undated|\d{1,2} [A-Z][a-z]+ \d{4}(?:, \d\d:\d\d)?)\]$")
_LABEL = re.compile(r"^([^\s:\[\]][^:\n\[\]]{0,38}?): ")
_PIECE = re.compile(r".{1,1000}(?=\s|$)|\S{1,1000}", re.DOTALL)
# "By the way: ...", "Small update: ...": announces, and says nothing itself
_OPENER = re.compile(
    r"^(?:[\w']+,? ){0,5}(?:update|note|detail|story|fact|forget|way|thing|news|thought|ps|know|fyi|edit|of it):\s+",
    re.IGNORECASE,
)
_RECORD = re.compile(r"^\[E\] ")
_IMAGE = re.compile(r"\s*\[image: ([^\]]*)\]\s*$")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence as said by `speaker` (lower case, "" when unknown) on `day`; `line` is its line's position.

    `core` is the sentence without greetings and fillers; `picture` marks the caption of an image.
    """

    text: str
    core: str
    speaker: str
    day: date | None
    line: int
    picture: bool = False

    @property
    def dates(self) -> list[DateSpan]:
        """The dates the sentence names, resolved against its day."""
        return dates_of(self.core, self.day)


@dataclass(frozen=True, slots=True)
class Line:
    """One message: its speaker as written, and its text without the caption."""

    speaker: str
    text: str
    day: date | None


@dataclass(frozen=True, slots=True)
class Parsed:
    """A whole context, in order."""

    lines: tuple[Line, ...]
    sentences: tuple[Sentence, ...]

    @property
    def speakers(self) -> list[str]:
        """The speakers as written, sorted."""
        return sorted({line.speaker for line in self.lines if line.speaker})


@lru_cache(maxsize=50_000)
def dates_of(text: str, day: date | None) -> list[DateSpan]:
    """`find_dates`, remembered: one sentence serves many questions."""
    return find_dates(text, day)


def parse_context(context: str) -> Parsed:
    """Sentences under their headings' days; a line without a speaker label continues the message before it.

    Of a record of evidence ([Q], [E] and [S] lines) only the evidence is read: the rest asks or points.

    >>> parsed = parse_context("[8 May 2023, 13:56]\\nAnn: Hi Bo! I moved yesterday. [image: a box]")
    >>> [(s.core, s.speaker, s.picture) for s in parsed.sentences]
    [('I moved yesterday.', 'ann', False), ('a box', 'ann', True)]
    """
    rows = [_RECORD.sub("", row) for row in context.splitlines() if not row.startswith(("[Q] ", "[S] "))]
    labels = _speaker_labels(rows)
    names = tuple(sorted(labels))
    lines: list[Line] = []
    sentences: list[Sentence] = []
    day: date | None = None
    speaker = ""
    for row in rows:
        if _HEADING.match(row):
            day, speaker = parse_heading(row), ""
            continue
        label = _LABEL.match(row)
        if label and label[1] in labels:
            speaker, row = label[1], row[label.end() :]
        image = _IMAGE.search(row)
        text = row[: image.start()] if image else row
        if not text.strip() and not image:
            continue
        lines.append(Line(speaker, text, day))
        sentences.extend(_sentences(text, image[1] if image else "", speaker.lower(), day, len(lines) - 1, names))
    return Parsed(tuple(lines), tuple(sentences))


def _speaker_labels(rows: list[str]) -> set[str]:
    """Labels that open a message: the one after a heading, and those that come back; "Note: ..." is none."""
    counts: dict[str, int] = {}
    after_heading = True
    for row in rows:
        if _HEADING.match(row):
            after_heading = True
            continue
        label = _LABEL.match(row)
        if label:
            counts[label[1]] = counts.get(label[1], 0) + (2 if after_heading else 1)
        after_heading = False
    if counts.keys() & {"user", "assistant"}:
        return {"user", "assistant"}
    return {label for label, count in counts.items() if len(label.split()) <= 3 and (count > 1 or label.istitle())}


@lru_cache(maxsize=50_000)
def _cores(text: str, names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """(sentence, core) of one message; pure greetings are dropped."""
    pairs = ((sentence, strip_fillers(_OPENER.sub("", sentence), names)) for sentence in _pieces(text))
    return tuple((sentence, core) for sentence, core in pairs if len(core.split()) > 1 or len(pair_words(core)) == 1)


def _pieces(text: str) -> list[str]:
    """Sentences; one of more than 1,000 characters is cut between words, so that no pattern meets a huge text."""
    return [piece.strip() for sentence in split_sentences(text) for piece in _PIECE.findall(sentence)]


def pair_words(core: str) -> list[str]:
    """Words that carry a letter or digit and are no bare interjection."""
    return [word for word in re.findall(r"\w+", core) if word.lower() not in _INTERJECTIONS]


_INTERJECTIONS = frozenset(
    {"wow", "hey", "hi", "hello", "thanks", "thank", "you", "cool", "nice", "great", "awesome", "oh"}
)


def _sentences(
    text: str, caption: str, speaker: str, day: date | None, line: int, names: tuple[str, ...]
) -> list[Sentence]:
    made = [Sentence(sentence, core, speaker, day, line) for sentence, core in _cores(text, names)]
    # a sentence that only greets is already gone: "Hi Bo!" leaves one word
    made = [one for one in made if len(one.core.split()) > 2 or len(made) == 1 or not one.core.endswith("!")]
    if caption.strip():
        made.append(Sentence(caption.strip(), caption.strip(), speaker, day, line, picture=True))
    return made
