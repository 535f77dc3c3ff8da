"""Traces: what a teacher was asked, why it decided as it did, and what it decided; a student learns them.

A trace's reply is the task's own short form of the teacher's output (`reply_of`), whatever stood around it. A merge
is one trace: its decision and its content are one task. Traces come from histories of the split train alone, are
split by history, and hold nothing of an evaluated benchmark.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from memgauge.errors import InputError
from memgauge.files import read_jsonl, write_jsonl
from memgauge.memory.base import Encoder, MemorySystem, Tools
from memgauge.records import Benchmark, History, Result
from memgauge.seeds import named_seed
from memgauge.tasks.base import Message, ParseFailure, Solver, Task
from memgauge.tasks.rationale import split_rationale
from memgauge.text.words import words

Output = TypeVar("Output")
# Shorter ones occur anywhere: histories of one generator share their small talk, sentence by sentence.
LEAST_WORDS = {"question": 4, "gold": 8, "evidence": 6, "turn": 20}


@dataclass(frozen=True, slots=True)
class Trace:
    """One task of one history: its prompt, the reply to learn, and the reply's two parts.

    `output` is JSON text, or the plain text of a task whose reply is none. `made_by` names the teacher.
    """

    task: str
    history: str
    messages: tuple[Message, ...]
    reply: str
    rationale: str
    output: str
    made_by: str


def trace_of(task: Any, rationale: str, output: Any, history: str, made_by: str) -> Trace | None:
    """The trace of an output that the task, reading its own reply, reads back; None for any other."""
    reply = task.reply_of(rationale, output)
    parts = split_rationale(reply)
    if isinstance(parts, ParseFailure) or task.parse(reply) != output:
        return None
    return Trace(task.name, history, tuple(task.messages()), reply, *parts, made_by)


@dataclass(slots=True)
class RecordingSolver:
    """A solver that keeps a trace of every operation its teacher solved, for the history it is used on.

    `unusable` counts by task and reason what left no trace: failures, and outputs that the task does not read back.
    """

    teacher: Solver
    made_by: str
    history: str
    traces: list[Trace] = field(default_factory=list)
    unusable: Counter[str] = field(default_factory=Counter)

    def solve(self, tasks: Sequence[Task[Output]]) -> list[Result[Output]]:
        """The teacher's results, unchanged; tasks that no student learns (without `reply_of`) leave no trace."""
        results = self.teacher.solve(tasks)
        for task, result in zip(tasks, results, strict=True):
            if hasattr(task, "reply_of"):
                self._record(task, result)
        return results

    def _record(self, task: Any, result: Result[Any]) -> None:
        if result.output is None:
            self.unusable[f"{task.name}_{result.status}"] += 1
            return
        parts = split_rationale(result.reply)
        trace = trace_of(
            task, "" if isinstance(parts, ParseFailure) else parts[0], result.output, self.history, self.made_by
        )
        if trace is None:
            self.unusable[f"{task.name}_not_readable"] += 1
        else:
            self.traces.append(trace)


@dataclass(frozen=True, slots=True)
class Collected:
    """Traces in the order in which they were made, and what left none, by task and reason."""

    traces: tuple[Trace, ...]
    unusable: dict[str, int]


def collect_traces(
    histories: Iterable[History],
    system: MemorySystem,
    teacher: Solver,
    encoder: Encoder,
    budget_tokens: int,
    made_by: str,
) -> Collected:
    """What a teacher does while the system writes each history; InputError for one outside the split train."""
    traces: list[Trace] = []
    unusable: Counter[str] = Counter()
    for history in histories:
        require_train(history)
        recorder = RecordingSolver(teacher, made_by, history.id)
        system.write(history, budget_tokens, Tools(recorder, encoder))
        traces += recorder.traces
        unusable += recorder.unusable
    return Collected(tuple(traces), dict(sorted(unusable.items())))


def require_train(history: History) -> None:
    """Raises InputError for a history that is not of the split train."""
    if history.split != "train":
        raise InputError(
            f"history {history.id!r} is of the split {history.split}; traces come from train: select splits: [train]"
        )


def split_traces(traces: Sequence[Trace], val_share: float, seed: int) -> tuple[list[Trace], list[Trace]]:
    """Traces to learn from and traces to validate on, in order; every history's are on one side.

    At least one history validates where there are two, and never all. Raises InputError for a share that is none.
    """
    if not 0 < val_share < 1:
        raise InputError(f"val_share is {val_share!r}; it must be a number between 0 and 1, such as 0.2")
    histories = sorted({trace.history for trace in traces})
    order = sorted(histories, key=lambda name: (named_seed(seed, "traces", "validation", name), name))
    count = min(max(1, math.floor(val_share * len(order) + 0.5)), len(order) - 1)
    held = set(order[: max(count, 0)])
    return [one for one in traces if one.history not in held], [one for one in traces if one.history in held]


@dataclass(frozen=True, slots=True)
class Marks:
    """What a benchmark may be known by, word by word: its questions, its evidence, its long golds and turns.

    `known` holds, by their first words, the marks that begin so, each with its kind.
    """

    benchmark: str
    known: dict[tuple[str, ...], list[tuple[tuple[str, ...], str]]]

    @classmethod
    def of(cls, benchmark: Benchmark, splits: Sequence[str] = ("val", "test")) -> "Marks":
        """The marks of all histories of these splits and of what is asked about them."""
        chosen = {history.id: history for history in benchmark.histories if history.split in splits}
        asked = [question for question in benchmark.questions if question.history_id in chosen]
        shown = {(question.history_id, turn_id) for question in asked for turn_id in question.evidence}
        texts = [
            ("evidence" if (history.id, turn.id) in shown else "turn", turn.text)
            for history in chosen.values()
            for _, turn in history.turns()
        ]
        texts += [("question", question.text) for question in asked]
        texts += [("gold", gold) for question in asked for gold in question.golds]
        known: dict[tuple[str, ...], list[tuple[tuple[str, ...], str]]] = defaultdict(list)
        for kind, text in texts:
            said = tuple(words(text))
            if len(said) >= LEAST_WORDS[kind]:
                known[said[: LEAST_WORDS["question"]]].append((said, kind))
        return cls(benchmark.name, dict(known))

    def meet(self, trace: Trace) -> str:
        """What a trace has of the benchmark, in words; empty for nothing."""
        text = "\n".join([message["content"] for message in trace.messages] + [trace.reply])
        said = tuple(words(text.replace("\\n", "\n")))
        first = LEAST_WORDS["question"]
        for at in range(len(said) - first + 1):
            for mark, kind in self.known.get(said[at : at + first], ()):
                if said[at : at + len(mark)] == mark:
                    return f"the {kind} {' '.join(mark)!r}"
        return ""


def without_marks(traces: Iterable[Trace], marks: Marks) -> tuple[list[Trace], int]:
    """The traces that have nothing of the benchmark, and how many others there were: templates coincide by chance."""
    kept, left_out = [], 0
    for trace in traces:
        if marks.meet(trace):
            left_out += 1
        else:
            kept.append(trace)
    return kept, left_out


def check_leaks(traces: Iterable[Trace], marks: Marks) -> None:
    """Raises InputError for the first trace that shows what the evaluated benchmark tells or asks."""
    for trace in traces:
        if met := marks.meet(trace):
            raise InputError(
                f"a trace of {trace.task} on {trace.history} holds {met}, which {marks.benchmark} evaluates; "
                "make traces of other histories"
            )


def write_traces(path: Path, traces: Iterable[Trace]) -> None:
    """One trace a line."""
    write_jsonl(path, traces)


def read_traces(path: Path) -> list[Trace]:
    """The traces of a file, in order; InputError for a malformed line."""
    return list(read_jsonl(path, Trace))
