"""API keys: read from the environment, kept out of every text."""

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from memgauge.errors import InputError

HIDDEN = "[key]"
SECRET_CHARACTERS = 8  # what is shorter (EMPTY, none, x) is a stand-in for servers without keys, and occurs in replies
CLIENT_LOGGERS = ("openai", "httpx", "httpcore", "h11", "hpack", "asyncio")  # name beginnings, children included


@dataclass(frozen=True, slots=True)
class Key:
    """An API key that no repr shows; empty for a server that needs none."""

    value: str = field(repr=False)

    @property
    def secret(self) -> bool:
        """Whether it is long enough to be one; only then can it be taken out of a reply without harm.

        >>> Key("EMPTY").secret, Key("sk-1f9d52c0").secret
        (False, True)
        """
        return len(self.value) >= SECRET_CHARACTERS

    def scrub(self, text: str) -> str:
        """The text with the key, as it is or escaped as in JSON, replaced: servers echo keys in their errors."""
        if not self.value:
            return text
        escaped = json.dumps(self.value)[1:-1]
        for form in (self.value, escaped, escaped.replace("/", "\\/")):
            text = text.replace(form, HIDDEN)
        return text


def read_key(environment: Mapping[str, str], variable: str | None, endpoint: str) -> Key:
    """The key of an endpoint; InputError naming the variable, never its value, when it cannot be a key."""
    if variable is None:
        return Key("")
    value = environment.get(variable, "")
    if not value:
        raise InputError(
            f"the environment variable {variable} is not set; it must hold the key for {endpoint}; "
            f"export {variable} or name another one as key_variable"
        )
    # An HTTP client refuses such a header with an error that shows it, so it must not get that far.
    if not (value.isascii() and value.isprintable() and " " not in value):
        raise InputError(
            f"the environment variable {variable} holds a blank, a line break or a character outside ASCII; "
            "a key has none; set it again without them"
        )
    return Key(value)


@contextmanager
def scrubbed_logs(key: Key) -> Iterator[None]:
    """While inside, what the HTTP client and its parts log has no key in it, at any level."""

    def scrub(record: logging.LogRecord) -> bool:
        record.msg, record.args = key.scrub(record.getMessage()), ()
        return True

    names = [name for name in logging.root.manager.loggerDict if name.startswith(CLIENT_LOGGERS)]
    loggers = [logging.getLogger(name) for name in names]
    for logger in loggers:
        logger.addFilter(scrub)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(scrub)
