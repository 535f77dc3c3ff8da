"""A writer, an encoder and a history for tests of memory systems: no model, every result by a simple rule."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import numpy as np

from memgauge.llm.chat import ChatReply
from memgauge.records import History, Result, Session, Turn, Usage
from memgauge.tasks.decide_update import Update
from memgauge.tasks.list_facts import SourcedFact
from memgauge.tasks.manage_memories import Operation
from memgauge.tasks.merge_episodes import Merge
from memgauge.tasks.name_themes import Theme
from memgauge.tasks.profile_user import Portrait
from memgauge.tasks.segment_batch import Segment
from memgauge.tasks.select_evidence import EvidenceRecord, Selection
from memgauge.tasks.summarise_session import SummaryLine
from memgauge.tasks.write_episode import Episode
from memgauge.text.words import words

SAYINGS = [
    "I moved to Lisbon on 3 March and I love it.",
    "That is great!",
    "I am allergic to peanuts, so no cake for me.",
    "What will you do next week?",
    "We decided to adopt two cats called Mo and Flo in 2021.",
    "Ok.",
]


class HashEncoder:
    """Unit vectors of hashed words: deterministic, and alike where words are shared."""

    def encode(self, texts: Sequence[str]):
        vectors = np.zeros((len(texts), 64), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in words(text):
                vectors[row, sha256(word.encode()).digest()[0] % 64] += 1
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.divide(vectors, lengths, out=vectors, where=lengths > 0)


class Parrot:
    """A chat model that always says the same."""

    def __init__(self, reply: str) -> None:
        self.reply = reply

    def payload(self, request: Any) -> dict[str, Any]:
        return {}

    def generate(self, requests: Sequence[Any], on_reply: Any = None) -> list[ChatReply]:
        return [ChatReply(self.reply, "stop", 10, 5) for _ in requests]


class FirstWords:
    """Keeps the first `most` words of every turn and names the turn, rates all alike, opens what it can.

    `most` None keeps every word. It notes its calls.
    """

    def __init__(self, most: int | None = 8) -> None:
        self.solved = solved(most)
        self.calls: list[list[Any]] = []

    def solve(self, tasks):
        self.calls.append(list(tasks))
        return [Result(self.solved[task.name](task), "ok", Usage(10, 5, 1)) for task in tasks]


def first_unseen(task):
    return next((at for at in range(len(task.parts)) if at not in task.seen), "back" if task.back else "stop")


def in_fours(task):
    size = len(task.turns)
    return tuple(Segment(tuple(range(at, min(at + 4, size))), "talk") for at in range(0, size, 4))


def solved(most: int | None):
    """What is done for a task, by its name."""

    def start(text):
        return " ".join(text.split()[:most])

    def lines(task):
        kept = ((at, f"{speaker}: {start(text)}") for at, (speaker, text) in enumerate(task.turns))
        return tuple(SummaryLine(text, (at,)) for at, text in kept if not text.endswith(": "))

    def told(task):
        return "\n".join(line.text for line in lines(task))

    return {
        "segment_batch": in_fours,
        "write_episode": lambda task: Episode(task.topic or "talk", told(task), task.date),
        "merge_episodes": lambda task: Merge(None, None),
        "extract_facts": lambda task: (
            (f"{task.turns[0][0]} said {task.turns[0][1].split()[0]}",) if task.turns[1:] else ()
        ),
        "list_facts": lambda task: tuple(
            SourcedFact(at, f"{who}: {start(text)}") for at, (_, who, text) in enumerate(task.turns)
        ),
        "decide_update": lambda task: Update("update", task.newer[-1][1]),
        "judge_continuity": lambda task: True,
        "describe_chain": lambda task: "They talk on.",
        "name_themes": lambda task: (Theme(start(task.turns[0][1]), ("talk",)),),
        "profile_user": lambda task: Portrait("Talks.", (SourcedFact(0, "Talks a lot."),), ()),
        "pick_keywords": lambda task: tuple(words(task.question)[:3]),
        "summarise_session": lines,
        "refine_summary": lines,
        "propose_questions": lambda task: tuple(f"{line.text}?" for line in lines(task))[: task.count],
        "select_evidence": lambda task: Selection(
            tuple(EvidenceRecord("Say what?", line.text, line.turns) for line in lines(task))
        ),
        "write_gist": told,
        "rate_importance": lambda task: 5,
        "choose_pages": lambda task: tuple(range(min(task.limit, len(task.gists)))),
        "choose_child": first_unseen,
        "note_facts": lambda task: tuple(line.text for line in lines(task)),
        "manage_memories": lambda task: tuple(Operation("ADD", text=fact) for fact in task.facts),
    }


def history(sessions: int = 6, turns: int = 8, prefix: str = "") -> History:
    return History(
        f"{prefix}h",
        f"{prefix}g",
        "test",
        tuple(
            Session(
                f"{prefix}s{s}",
                f"2023-0{s + 1}-05T10:00",
                tuple(
                    Turn(f"{prefix}t{s}.{t}", "Ann" if t % 2 else "Bob", f"{SAYINGS[(s + t) % 6]} {s} {t}")
                    for t in range(turns)
                ),
            )
            for s in range(sessions)
        ),
    )
