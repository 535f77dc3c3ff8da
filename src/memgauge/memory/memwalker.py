"""A tree of summaries over the sessions, searched by walking it (MemWalker, arXiv 2310.05029; no released code).

Keeps one summary per session as leaves and, level by level, one summary of every few neighbours up to one root.
The store lists each node before the nodes below it, so it starts with the root; a node's sources are all turns
below it, which is how the tree is read back from a store. A node over several sessions has no date.
Deviations: a leaf is a session's summary and never raw text, which would not fit the budget; inner nodes share
a part of the budget equally; no working memory is put before a step, but parts already opened are marked; an
unreadable step ends the walk where it stands and is counted, since asking a deterministic model again gives the
same reply; the walk only ranks the notes it visited, and the suite's one reader answers.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import ClassVar

from memgauge.errors import InputError
from memgauge.memory.base import Hit, Query, Ranking, Tools, Written
from memgauge.memory.shared import count_result
from memgauge.memory.summaries import Note, summarise_notes, summarise_sessions, without_blanks
from memgauge.records import Entry, History, Store
from memgauge.tasks.base import Solver, Task
from memgauge.tasks.choose_child import ChooseChild, Move
from memgauge.text.render import render_date


@dataclass(frozen=True, slots=True)
class Memwalker:
    """`children`: most nodes below one; `inner_share`: what all inner nodes get of the budget; `steps`: most moves."""

    name: ClassVar[str] = "memwalker"
    card: ClassVar[dict[str, str]] = {
        "children": "paper: 5 to 8 (recalled, unverified)",
        "inner_share": "ours: the paper has no budget",
        "steps": "ours: the paper states no limit",
    }

    children: int = 6
    inner_share: float = 0.2
    steps: int = 8

    def write(self, history: History, budget_tokens: int, tools: Tools) -> Written:
        """Leaves in one call, then one call a level; entries from the root down, in history order."""
        if self.children < 2 or self.inner_share >= 1:
            raise InputError(f"{self} cannot make a tree; children must be at least 2 and inner_share below 1")
        counts: Counter[str] = Counter()
        told = without_blanks(history)
        planned = inner_nodes(sum(bool(session.turns) for session in told.sessions), self.children)
        inner_tokens = int(budget_tokens * self.inner_share) if planned else 0
        leaves = summarise_sessions(told, budget_tokens - inner_tokens, tools.solver, counts)
        level = [Node(leaf, (leaf.date, leaf.date)) for leaf in leaves]
        speakers = frozenset(turn.speaker for _, turn in told.turns())
        plan = _Plan(self.children, planned, inner_tokens // max(planned, 1), speakers)
        while len(higher := plan.parents(level, tools.solver, counts)) < len(level):
            level = higher
        entries = [entry for node in level for entry in node.entries()]
        return Written(
            tuple(replace(entry, id=str(number)) for number, entry in enumerate(entries)), dict(sorted(counts.items()))
        )

    def retrieve(self, store: Store, queries: Sequence[Query], tools: Tools) -> list[Ranking]:
        """The notes each walk visited, and no others: leaves as reached, the one it stopped at first, then upwards.

        All walks of a store take their next step in one call.
        """
        tree = read_tree(store.entries)
        walks = [Walk(tree.start, (tree.start,) if tree.start is not None else ()) for _ in queries]
        counts: list[Counter[str]] = [Counter() for _ in queries]
        for _ in range(self.steps):
            open_ = [at for at, walk in enumerate(walks) if not walk.over and tree.has_move(walk)]
            if not open_:
                break
            tasks: list[Task[Move]] = [_step(store, tree, walks[at], queries[at]) for at in open_]
            for at, result in zip(open_, tools.solver.solve(tasks), strict=True):
                count_result(result, counts[at], "chooser")
                counts[at]["walks_stopped_by_failure"] += result.output is None
                move: Move = "stop" if result.output is None else result.output
                walks[at] = tree.moved(walks[at], move)
        for walk, count in zip(walks, counts, strict=True):
            count["walks_out_of_steps"] += not walk.over and tree.has_move(walk)
        return [
            Ranking(_hits(tree.ranked(walk)), dict(sorted((+count).items())))
            for walk, count in zip(walks, counts, strict=True)
        ]


# --- writing


@dataclass(frozen=True, slots=True)
class Node:
    """A summary with the first and last date it spans and its nodes one level down."""

    entry: Entry
    dates: tuple[str | None, str | None]
    below: tuple["Node", ...] = ()

    def entries(self) -> list[Entry]:
        """This node's entry and then those below it."""
        return [self.entry, *(entry for node in self.below for entry in node.entries())]


def inner_nodes(leaves: int, children: int) -> int:
    """How many nodes stand above so many leaves when nothing fails.

    >>> [inner_nodes(leaves, 6) for leaves in (1, 2, 6, 7, 36, 37)]
    [0, 1, 1, 3, 7, 10]
    """
    total = 0
    while leaves > 1:
        sizes = _even_sizes(leaves, children)
        total += sum(size > 1 for size in sizes)
        leaves = len(sizes)
    return total


def _even_sizes(nodes: int, children: int) -> list[int]:
    """Sizes of the fewest groups of at most `children`, as equal as can be: no level ends in a stray node."""
    groups = -(-nodes // children)
    return [nodes * (group + 1) // groups - nodes * group // groups for group in range(groups)]


@dataclass(frozen=True, slots=True)
class _Plan:
    """How inner nodes are made: at most `most` of them, each at most `share` tokens as an entry."""

    children: int
    most: int
    share: int
    speakers: frozenset[str]

    def parents(self, nodes: Sequence[Node], solver: Solver, counts: Counter[str]) -> list[Node]:
        """The next level; nodes whose parent failed, or has no budget left, stay in their places."""
        ends = [0, *accumulate(_even_sizes(len(nodes), self.children))]
        groups = [tuple(nodes[start:end]) for start, end in pairwise(ends)]
        wanted = [at for at, group in enumerate(groups) if len(group) > 1][: self.most - counts["inner_nodes"]]
        notes = [[Note(_period(node), node.entry) for node in groups[at]] for at in wanted]
        summaries = summarise_notes(notes, self.share, self.speakers, solver, counts)
        made = {
            at: Node(entry, (groups[at][0].dates[0], groups[at][-1].dates[1]), groups[at])
            for at, entry in zip(wanted, summaries, strict=True)
            if entry is not None
        }
        counts["inner_nodes"] += len(made)
        return [node for at, group in enumerate(groups) for node in ((made[at],) if at in made else group)]


def _period(node: Node) -> str:
    first, last = (render_date(date).strip("[]") for date in node.dates)
    return first if first == last else f"{first} to {last}"


# --- walking


@dataclass(frozen=True, slots=True)
class Walk:
    """Where one walk stands (None above several roots), what it visited in order, whether it is over."""

    here: int | None
    visited: tuple[int, ...]
    over: bool = False


@dataclass(frozen=True, slots=True)
class Tree:
    """Positions in a store as a tree; `start` is the root, None above several roots or in an empty store."""

    parents: tuple[int | None, ...]

    @property
    def start(self) -> int | None:
        """Where walks begin."""
        roots = self.below(None)
        return roots[0] if len(roots) == 1 else None

    def below(self, node: int | None) -> tuple[int, ...]:
        """The nodes one level down."""
        return tuple(at for at, parent in enumerate(self.parents) if parent == node)

    def has_move(self, walk: Walk) -> bool:
        """Whether there is anything left to decide."""
        return walk.here != self.start or any(node not in walk.visited for node in self.below(walk.here))

    def moved(self, walk: Walk, move: Move) -> Walk:
        """The walk after one move."""
        if move == "stop":
            return replace(walk, over=True)
        if move == "back":
            return replace(walk, here=None if walk.here is None else self.parents[walk.here])
        node = self.below(walk.here)[move]
        return Walk(node, (*walk.visited, node))

    def ranked(self, walk: Walk) -> list[int]:
        """Leaves as reached, the one the walk stopped at first; then the nodes above, the last entered first."""
        leaves = [node for node in walk.visited if not self.below(node)]
        leaves.sort(key=lambda node: not (walk.over and node == walk.here))
        return leaves + [node for node in reversed(walk.visited) if self.below(node)]


def read_tree(entries: Sequence[Entry]) -> Tree:
    """The tree of a store whose nodes stand before those below them: a node's sources hold all of theirs."""
    parents: list[int | None] = []
    above: list[tuple[int, frozenset[str]]] = []
    for at, entry in enumerate(entries):
        while above and not above[-1][1].issuperset(entry.sources):
            above.pop()
        parents.append(above[-1][0] if above else None)
        above.append((at, frozenset(entry.sources)))
    return Tree(tuple(parents))


def _step(store: Store, tree: Tree, walk: Walk, query: Query) -> ChooseChild:
    notes = [(entry.date, entry.text) for entry in store.entries]
    below = tree.below(walk.here)
    return ChooseChild(
        question=query.text,
        place=None if walk.here is None else notes[walk.here],
        parts=tuple(notes[node] for node in below),
        seen=tuple(at for at, node in enumerate(below) if node in walk.visited),
        back=walk.here != tree.start,
        question_date=query.date,
    )


def _hits(positions: Sequence[int]) -> tuple[Hit, ...]:
    """The order as scores: 1, 1/2, 1/3 ..."""
    return tuple(Hit(position, 1 / rank) for rank, position in enumerate(positions, 1))
