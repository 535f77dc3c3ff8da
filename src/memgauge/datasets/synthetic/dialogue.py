"""How an exchange sounds: a fact wrapped in small talk, or small talk alone."""

from memgauge.datasets.synthetic.draws import Draws
from memgauge.datasets.synthetic.filler_world import TOPICS
from memgauge.datasets.synthetic.people import Persona
from memgauge.datasets.synthetic.phrases import (
    ASK_LEADS,
    BRIDGES,
    CLOSERS,
    ELABORATIONS,
    HELLOS,
    LEADS,
    NODS,
    TAILS,
    THANKS,
)
from memgauge.datasets.synthetic.threads import Statement
from memgauge.datasets.synthetic.vocabulary import CITIES


class Talk:
    """The voice of one history; `lengths` bounds the number of sentences of a free reply.

    A session starts on one topic, asks and remarks nothing twice, and moves on when it has no more to ask.
    """

    def __init__(self, draws: Draws, persona: Persona, lengths: tuple[int, int]) -> None:
        self._draws = draws
        self._persona = persona
        self._lengths = lengths
        self._turn_to_topic()

    def exchange(self, statement: Statement | None, opening: bool) -> tuple[str, str]:
        """The user's text and the assistant's reply; `opening` starts a session."""
        draws = self._draws
        if opening or not self._asks:
            self._turn_to_topic()
        parts = [draws.pick(HELLOS)] if opening else []
        if statement is None:
            return self._small_talk(parts, opening)
        if statement.reply:
            parts += (*self._remark(50), statement.said)
            advice = [self._fill(draws.pick(self._topic.tips))] if draws.chance(50) else []
            return " ".join(parts), " ".join((draws.pick(NODS), statement.reply, *advice))
        answer = self._wrap(statement.said, parts)
        return " ".join(parts), self._reply(answer)

    def _turn_to_topic(self) -> None:
        """Shuffle the requests and remarks of a topic; three times in four it is a favourite one."""
        draws = self._draws
        self._topic = TOPICS[draws.pick(self._persona.topics)] if draws.chance(75) else draws.pick(TOPICS)
        self._asks = draws.several(self._topic.asks, len(self._topic.asks))
        self._remarks = draws.several(self._topic.remarks, len(self._topic.remarks))

    def _small_talk(self, parts: list[str], opening: bool) -> tuple[str, str]:
        if not opening and self._draws.chance(40):
            parts.append(self._draws.pick(THANKS))
        asked, answer = self._request()
        parts += (*self._remark(45), asked)
        return " ".join(parts), self._reply(answer)

    def _request(self) -> tuple[str, str]:
        """The next request of the topic, and the answer it will get."""
        asked, answer = self._asks.pop()
        return f"{self._draws.pick(ASK_LEADS)} {self._fill(asked)}".lstrip(), answer

    def _remark(self, percent: int) -> tuple[str, ...]:
        if self._remarks and self._draws.chance(percent):
            return (self._fill(self._remarks.pop()),)
        return ()

    def _wrap(self, said: str, parts: list[str]) -> str | None:
        """Put the fact before, between or after sentences of the topic; return the answer to the request."""
        draws = self._draws
        form = draws.below(4)
        if form == 0:
            parts += (*self._remark(100), draws.pick(BRIDGES), said)
            return None
        asked, answer = self._request()
        if form == 1:
            parts += (said, asked)
        elif form == 2:
            parts += (asked, draws.pick(BRIDGES), said, draws.pick(TAILS))
        else:
            parts += (draws.pick(BRIDGES), said, draws.pick(TAILS), asked)
        return answer

    def _reply(self, answer: str | None) -> str:
        """A free reply: a nod, the answer, distinct further advice, sometimes a closing line."""
        draws = self._draws
        low, high = self._lengths
        count = draws.between(low, high)
        parts = [draws.pick(NODS)]
        if answer is not None:
            parts.append(draws.pick(LEADS) + self._fill(answer))
            count -= 1
        parts += [self._fill(more) for more in draws.several(self._topic.tips + ELABORATIONS, count)]
        if draws.chance(35):
            parts.append(draws.pick(CLOSERS))
        return " ".join(parts)

    def _fill(self, text: str) -> str:
        """Fill the slots of a sentence, if it has any."""
        if "{" not in text:
            return text
        draws = self._draws
        city = self._persona.city if draws.chance(50) else draws.pick(CITIES)
        filled = text.format(p=draws.pick(self._persona.cast), c=city, n=draws.between(3, 20))
        return filled[0].upper() + filled[1:]
