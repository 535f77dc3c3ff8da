"""Error types: what the command line turns into one clear line and an exit code."""


class MemgaugeError(Exception):
    """Base of every error a user can cause or cure; its text names the value, the rule and the cure."""

    exit_code = 2


class InputError(MemgaugeError):
    """A malformed file, a missing key, a wrong parameter, an unknown name."""


class AssetError(MemgaugeError):
    """A model, vocabulary or benchmark file that is absent, unreachable or has another checksum."""


class NothingScoredError(MemgaugeError):
    """A cell in which no item could be scored; it ends with its own exit code so that scripts can tell."""

    exit_code = 3


def unknown_name(kind: str, name: object, choices: list[str]) -> InputError:
    """The one wording for a name that is not in a table.

    >>> print(unknown_name("memory system", "foo", ["summary", "verbatim"]))
    unknown memory system 'foo'; choose from summary, verbatim
    """
    return InputError(f"unknown {kind} {name!r}; choose from {', '.join(choices)}")
