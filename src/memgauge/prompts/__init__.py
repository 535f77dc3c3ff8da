"""Prompt templates: one text file per task, with a `[system]` and a `[user]` part and `{field}` places."""

import re
from functools import cache
from importlib.resources import files

from memgauge.errors import InputError
from memgauge.tasks.base import Message

_ROLE = re.compile(r"^\[(system|user|assistant)\]\n", re.MULTILINE)
_FIELD = re.compile(r"\{(\w+)\}")


@cache
def template(name: str) -> str:
    """The text of one template; raises InputError when there is none of that name."""
    try:
        return files(__name__).joinpath(f"{name}.txt").read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise InputError(f"there is no prompt template {name!r}; add prompts/{name}.txt") from error


def render(name: str, **fields: object) -> list[Message]:
    """Chat messages of a template; a line with a field that is None is left out.

    Values go in as they are: braces or role headings inside them mean nothing.

    >>> messages = render("answer_question", context="", question="Who?", question_date=None)
    >>> [message["role"] for message in messages]
    ['system', 'user']
    """
    parts = _ROLE.split(template(name))[1:]
    return [
        {"role": role, "content": fill(body.strip("\n"), fields)}
        for role, body in zip(parts[::2], parts[1::2], strict=True)
    ]


def fill(text: str, fields: dict[str, object]) -> str:
    """A template's text with its fields put in; KeyError when the template names a field that is not given.

    >>> fill("On {date}\\nwho is {name}?", {"date": None, "name": "{Ann}"})
    'who is {Ann}?'
    """
    kept = [line for line in text.split("\n") if all(fields[field] is not None for field in _FIELD.findall(line))]
    return _FIELD.sub(lambda match: str(fields[match[1]]), "\n".join(kept))
