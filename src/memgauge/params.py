"""Reads `params.yaml` (YAML 1.2, as DVC does) and hands a stage exactly the keys it declares."""

from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from memgauge.errors import InputError
from memgauge.files import write_text

Params = dict[str, Any]


def load(path: Path) -> Params:
    """The whole file as plain Python values; raises InputError when it is absent or not a mapping."""
    try:
        with path.open(encoding="utf-8") as stream:
            tree = YAML(typ="safe", pure=True).load(stream)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; run from the top of the repository") from error
    except YAMLError as error:
        raise InputError(f"{path} is not valid YAML: {' '.join(str(error).split())}") from error
    if not isinstance(tree, dict):
        raise InputError(f"{path} must hold a mapping of parameters, got {type(tree).__name__}")
    return tree


def apply(path: Path, profile: Path) -> list[str]:
    """Write a profile's values over those of `path`, comments kept; the keys that changed, dotted.

    Mappings are merged key by key, anything else is replaced. A mapping that names another `solver` replaces the
    old one whole, since options of one solver mean nothing to another; so does an empty mapping, to be of any use.
    Raises InputError when either file cannot be read; `path` then stays as it was.
    """
    load(path)
    values = load(profile)
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 4096
    with path.open(encoding="utf-8") as stream:
        tree = yaml.load(stream)
    changed = list(_merge(tree, values, ()))
    text = StringIO()
    yaml.dump(tree, text)
    write_text(path, text.getvalue())
    return changed


def _merge(tree: Any, values: Params, place: tuple[str, ...]) -> Iterator[str]:
    for key, value in values.items():
        old = tree.get(key)
        whole = isinstance(value, dict) and (not value or "solver" in value)
        if isinstance(value, dict) and isinstance(old, dict) and not whole:
            yield from _merge(old, value, (*place, key))
        elif old != value:
            tree[key] = value
            yield ".".join((*place, key))


def select(tree: Params, keys: Sequence[str]) -> Params:
    """The declared keys and their values; raises InputError for a key that is absent.

    >>> select({"seed": 17, "stats": {"draws": 100}}, ["seed", "stats.draws"])
    {'seed': 17, 'stats.draws': 100}
    """
    return {key: _lookup(tree, key) for key in keys}


def _lookup(tree: Params, key: str) -> Any:
    node: Any = tree
    for part in key.split("."):
        if not isinstance(node, dict) or part not in node:
            raise InputError(f"params.yaml has no key '{key}'; add it (see the comments of the file)")
        node = node[part]
    return node


def unread(tree: Params, patterns: Sequence[str]) -> list[str]:
    """The leaf keys that no pattern covers; a part in braces stands for any name.

    >>> unread({"seed": 1, "memory": {"epc": {"k": 5}}, "sed": 2}, ["seed", "memory.{system}"])
    ['sed']
    """
    split = [pattern.split(".") for pattern in patterns]
    return [".".join(leaf) for leaf in _leaves(tree, ()) if not any(_covers(p, leaf) for p in split)]


def _leaves(node: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if isinstance(node, dict) and node:
        for key, value in node.items():
            yield from _leaves(value, (*path, str(key)))
    else:
        yield path


def _covers(pattern: list[str], leaf: tuple[str, ...]) -> bool:
    if len(pattern) > len(leaf):
        return False
    return all(part.startswith("{") or part == name for part, name in zip(pattern, leaf, strict=False))
