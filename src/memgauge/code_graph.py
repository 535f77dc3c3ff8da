"""Which files of this package decide what a stage computes: its import closure, down to prompts and data files.

DVC cannot see imports. A list of source files kept by hand in `dvc.yaml` is long, slows every commit of its lock
file and is soon wrong; this one is read from the source itself.
"""

import ast
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

PACKAGE = "memgauge"
# Plumbing that carries values unchanged: a change there shows in the outputs of the stages that make them.
PLUMBING = frozenset({"records", "files", "errors", "seeds", "params", "params_shape", "tasks.base", "memory.base"})
STAGES = "stages"
# Modules of the stages that read parameters and pass values on.
CARRYING = frozenset(f"stages.{name}" for name in ("encoder", "layout", "options", "shared", "solving", "table"))
SOLVERS = "solvers"
TASKS = "tasks"
PROMPTS = "prompts"


@dataclass(frozen=True)
class CodeGraph:
    """The package below `folder`, read once; modules are named without the package ("tasks.write_gist")."""

    folder: Path

    def digests(self, stage: str, more: Iterable[str] = (), without: Iterable[str] = ()) -> dict[str, str]:
        """SHA-256 by path of all that decides what a stage computes.

        Its own module, `more` modules, what both import (inside functions too, and as "package.module:name" in a
        text), and the prompts and data files of those. Modules `without` are neither counted nor followed. Solvers
        know every task; a task and its prompts count only where something else of the stage names the task.
        """
        start = [f"{STAGES}.{stage}", *more]
        modules = self._closure(start, set(without))
        asked = self._closure(start, set(without) | {name for name in modules if _within(name, SOLVERS)})
        counted = {name for name in modules if name in asked or not _within(name, TASKS)}
        counted = {name for name in counted if name not in PLUMBING and self._counts(name, stage)}
        files = {file for name in counted for file in self._files(name)}
        return {file.relative_to(self.folder).as_posix(): self._digest(file) for file in sorted(files)}

    def _counts(self, module: str, stage: str) -> bool:
        return module == f"{STAGES}.{stage}" or module not in CARRYING

    def _closure(self, start: Iterable[str], without: set[str]) -> set[str]:
        found: set[str] = set()
        waiting = list(start)
        while waiting:
            module = waiting.pop()
            if module not in found and module not in without:
                found.add(module)
                waiting.extend(self._named[module])
        return found

    def _files(self, module: str) -> Iterator[Path]:
        """A module's own file, a task's prompts, the data files beside it that it names (a package: all of them)."""
        own = self._modules[module]
        yield own
        parent, _, name = module.rpartition(".")
        if parent == TASKS:
            prompts = (self.folder / PROMPTS).glob("*.txt")
            yield from (file for file in prompts if file.stem == name or file.stem.startswith(f"{name}_"))
        for file in self._data:
            if file.parent == own.parent and (own.name == "__init__.py" or file.name in self._texts[module]):
                yield file

    @cached_property
    def _modules(self) -> dict[str, Path]:
        paths = sorted(self.folder.rglob("*.py"))
        return {_module(path.relative_to(self.folder)): path for path in paths}

    @cached_property
    def _data(self) -> list[Path]:
        inner = (path for path in self.folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        prompts = self.folder / PROMPTS
        return sorted(path for path in inner if path.suffix != ".py" and path.parent != prompts)

    @cached_property
    def _trees(self) -> dict[str, ast.Module]:
        return {name: ast.parse(path.read_bytes()) for name, path in self._modules.items()}

    @cached_property
    def _texts(self) -> dict[str, set[str]]:
        return {name: set(_texts(tree)) for name, tree in self._trees.items()}

    @cached_property
    def _named(self) -> dict[str, set[str]]:
        """The modules that each module names."""
        return {
            module: {name for full in {*_imported(tree), *self._texts[module]} if (name := self._known(full))}
            for module, tree in self._trees.items()
        }

    def _known(self, full: str) -> str | None:
        """The module that "memgauge.a.b", "memgauge.a.b.name" or "memgauge.a.b:name" leads to."""
        head, _, inner = full.partition(":")[0].partition(".")
        if head != PACKAGE or not inner:
            return None
        if inner in self._modules:
            return inner
        outer = inner.rpartition(".")[0]
        return outer if outer in self._modules else None

    def _digest(self, file: Path) -> str:
        if file not in self._digests:
            self._digests[file] = hashlib.sha256(file.read_bytes()).hexdigest()
        return self._digests[file]

    @cached_property
    def _digests(self) -> dict[Path, str]:
        return {}


def _module(path: Path) -> str:
    """
    >>> _module(Path("tasks/base.py")), _module(Path("tasks/__init__.py"))
    ('tasks.base', 'tasks')
    """
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _texts(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")
