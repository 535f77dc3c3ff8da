"""How fast and in how much memory one very long chat is loaded and ranked: 1M and 10M tokens, simulated by generation.

The chat lies on disk in the layout of BEAM's 10M tier (a list of plans of batches) and goes through BEAM's own loader.
"""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from memgauge.datasets import stamps
from memgauge.datasets.beam import QUESTIONS as QUESTIONS_FILE
from memgauge.datasets.beam import read
from memgauge.datasets.synthetic.generate import generate
from memgauge.datasets.synthetic.options import SyntheticOptions
from memgauge.experiments.passage_budgets import history_windows
from memgauge.experiments.passage_shown import show_history
from memgauge.records import Question, Session
from memgauge.text.tokens import count_many

TIER = "10M"
QUESTIONS = 20  # as many as BEAM asks about a chat
LEAST = 10_000  # tokens that a generated history of sixty sessions surely has


@dataclass(frozen=True, slots=True)
class Speed:
    """One chat: its cl100k_base tokens, plans and windows, seconds to load it and to cut and rank it for all questions.

    `before_mib` is the process's highest size before loading (the file is written), `peak_mib` the highest after
    ranking.
    """

    tokens: int
    plans: int
    windows: int
    questions: int
    load_seconds: float
    rank_seconds: float
    before_mib: float
    peak_mib: float

    @property
    def tokens_per_second(self) -> float:
        """Tokens of the chat loaded and ranked in a second, all questions together."""
        return self.tokens / (self.load_seconds + self.rank_seconds)


def write_long_chat(folder: Path, tokens: int, seed: int) -> tuple[int, int]:
    """Write a chat of at least `tokens` tokens and its questions below `folder`; its tokens and plans.

    A plan is a generated history of sixty sessions; only one is held in memory.
    """
    chat = folder / "chats" / TIER / "1"
    (chat / QUESTIONS_FILE).parent.mkdir(parents=True)
    asked: list[Question] = []
    total, plans = 0, 0
    options = SyntheticOptions(histories=3 + tokens // LEAST, sessions_per_history=60, filler="long")
    with (chat / "chat.json").open("w", encoding="utf-8") as stream:
        for history, questions in generate(options, seed):
            plans += 1
            batches = [_batch(number, session) for number, session in enumerate(history.sessions, start=1)]
            stream.write(("," if plans > 1 else "[") + json.dumps({f"plan-{plans}": batches}))
            total += sum(count_many([turn.text for _, turn in history.turns()]))
            asked += questions
            if total >= tokens:
                break
        stream.write("]")
    chosen = asked[:: max(len(asked) // QUESTIONS, 1)][:QUESTIONS]
    (chat / QUESTIONS_FILE).write_text(json.dumps(_by_ability(chosen)), encoding="utf-8")
    return total, plans


def _batch(number: int, session: Session) -> dict[str, Any]:
    """One session as the benchmark publishes a batch: message ids start again with every plan."""
    assert session.date is not None
    anchor = datetime.fromisoformat(session.date).strftime(stamps.BEAM)
    messages = [
        {"role": turn.speaker, "id": at, "content": turn.text, **({} if at else {"time_anchor": anchor})}
        for at, turn in enumerate(session.turns)
    ]
    return {"batch_number": number, "turns": list(map(list, zip(messages[::2], messages[1::2], strict=True)))}


def _by_ability(questions: list[Question]) -> dict[str, list[dict[str, Any]]]:
    """Probing questions as published, the field of the gold included; no source is named."""
    table: dict[str, list[dict[str, Any]]] = {}
    for each in questions:
        gold = {"ideal_response": "unknown"} if each.abstention else {"answer": each.golds[0]}
        ability = "abstention" if each.abstention else each.type
        table.setdefault(ability, []).append({"question": each.text, "rubric": [], "source_chat_ids": [], **gold})
    return table


def measure_speed(
    folder: Path, tokens: int, seed: int, clock: Callable[[], float], memory: Callable[[], float]
) -> Speed:
    """Write, load and rank one long chat; the last two are measured.

    `clock` gives seconds, `memory` the process's highest size so far in MiB; `folder` is empty.
    """
    total, plans = write_long_chat(folder, tokens, seed)
    before, start = memory(), clock()
    ((history, questions),) = read(folder, Counter(), tiers=(TIER,))
    loaded = clock()
    show_history(history, questions)
    ranked, peak = clock(), memory()
    windows = len(history_windows(history))
    return Speed(total, plans, windows, len(questions), loaded - start, ranked - loaded, before, peak)
