"""A bank of facts that a manager adds to, updates and deletes from, turn by turn (Memory-R1, arXiv 2508.19828).

No official code was released; built from the paper and two reimplementations. Keeps one entry for each fact.
1. Each turn's facts are noted; for each fact the entries most like it are fetched (cosine).
2. The manager sees those entries and the facts and proposes ADD, UPDATE, DELETE or NONE, which `memory_r1_bank`
   carries out: an unreadable reply changes nothing, and what does not hold is counted.
3. A question gets the 60 entries most like it; the answer agent selects from them inside its own call
   (`tasks.answer_with_selection`, `protocol.selection`).
4. Reward, order of training and tuples of both agents are in `training.memory_r1_tuples`. Where neither role has
   an adapter this system is *untrained*, and tables have to say so.
Deviations: the paper's bank has no limit, so at the end the entries written longest ago go until the budget holds
(as TFC keeps the newest turns); it keeps a bank for each of two speakers and fetches 30 entries from either, where
one bank and its best 60 serve histories of any number of speakers; replies are one JSON object with a list, not a
bare list, and name entries by their place among those shown, so that no id of ours enters a prompt; an entry
updated in a later session has no date of its own and comes from all its turns; similarity is the suite's encoder's.
Not built: PPO (GRPO, the paper's other algorithm, is), and the paper's split of LoCoMo, one conversation to train
on (152 / 81 / 1,307 questions): numbers of this suite use its own split by history and say which.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from memgauge.memory.base import Encoder, Query, Ranking, Tools, Written
from memgauge.memory.memory_r1_bank import Bank, Said, apply, newest_kept
from memgauge.memory.shared import count_result, dense_hits, split_text, turn_text
from memgauge.memory.summaries import without_blanks
from memgauge.records import History, Store
from memgauge.tasks.base import Solver, solve_all
from memgauge.tasks.manage_memories import ManageMemories
from memgauge.tasks.note_facts import NoteFacts

Vectors = dict[str, NDArray[np.float32]]  # unit vectors by text


@dataclass(frozen=True, slots=True)
class Noted:
    """The facts that one step tells, and where it stands."""

    said: Said
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MemoryR1:
    """`turns` of a session make one step, a longer turn than `piece_tokens` several; `similar` entries are fetched
    for each fact; a question gets at most `entries`."""

    name: ClassVar[str] = "memory_r1"
    card: ClassVar[dict[str, str]] = {
        "turns": "paper: facts are extracted turn by turn",
        "piece_tokens": "ours: a turn may be longer than a prompt",
        "similar": "ours: the paper does not say how many entries the manager sees",
        "entries": "paper: 60, 30 for each of two speakers",
    }

    turns: int = 1
    piece_tokens: int = 512
    similar: int = 5
    entries: int = 60

    def write(self, history: History, budget_tokens: int, tools: Tools) -> Written:
        """All facts in one call, then one call a step, since the manager sees what the step before has left."""
        counts: Counter[str] = Counter()
        noted = self.note(history, tools.solver, counts)
        vectors = fact_vectors(noted, tools.encoder)
        bank = Bank()
        for step in noted:
            bank = self.manage(bank, step, tools, vectors, counts)
        order = {turn.id: at for at, (_, turn) in enumerate(history.turns())}
        kept = newest_kept(bank, budget_tokens, order)
        counts["entries_over_budget"] = len(bank.entries) - len(kept)
        numbered = (replace(entry, id=str(number)) for number, entry in enumerate(kept))
        return Written(tuple(numbered), dict(sorted(counts.items())))

    def retrieve(self, store: Store, queries: Sequence[Query], tools: Tools) -> list[Ranking]:
        """The entries most like each question, at most `entries` of them."""
        return [replace(one, hits=one.hits[: self.entries]) for one in dense_hits(store, queries, tools.encoder)]

    def note(self, history: History, solver: Solver, counts: Counter[str]) -> list[Noted]:
        """The facts of every step that tells any, in history order; all steps in one call, failures counted."""
        steps = self._steps(history)
        noted = []
        for (said, _), result in zip(steps, solve_all(solver, [task for _, task in steps]), strict=True):
            count_result(result, counts)
            counts["notes_failed"] += result.output is None
            counts["facts_noted"] += len(result.output or ())
            if result.output:
                noted.append(Noted(said, result.output))
        return noted

    def manage(self, bank: Bank, noted: Noted, tools: Tools, vectors: Vectors, counts: Counter[str]) -> Bank:
        """The bank after the manager's reply to one step; unchanged, and counted, where the reply has no output."""
        shown, task = self.consult(bank, noted, tools.encoder, vectors)
        (result,) = solve_all(tools.solver, [task])
        count_result(result, counts)
        if result.output is None:
            counts["replies_refused"] += 1
            return bank
        return apply(bank, result.output, shown, noted.said, counts)

    def consult(
        self, bank: Bank, noted: Noted, encoder: Encoder, vectors: Vectors
    ) -> tuple[tuple[int, ...], ManageMemories]:
        """The manager's task for one step, and the numbers of the entries it shows, in the order made.

        `vectors` holds the facts' vectors and takes in those of texts not met before.
        """
        shown = self._similar(bank, noted.facts, encoder, vectors)
        entries = tuple((bank.entries[number].date, bank.entries[number].text) for number in shown)
        return shown, ManageMemories(entries, noted.facts, noted.said.date)

    def _similar(self, bank: Bank, facts: Sequence[str], encoder: Encoder, vectors: Vectors) -> tuple[int, ...]:
        """The entries most like any of the facts: `similar` for each, ties to the one made first."""
        if not bank.entries:
            return ()
        numbers = list(bank.entries)
        texts = [kept.text for kept in bank.entries.values()]
        learn([*texts, *facts], encoder, vectors)
        cosines = np.stack([vectors[fact] for fact in facts]) @ np.stack([vectors[text] for text in texts]).T
        order = np.argsort(-np.round(cosines, 6), axis=1, kind="stable")[:, : self.similar]
        return tuple(numbers[at] for at in sorted(set(order.ravel().tolist())))

    def _steps(self, history: History) -> list[tuple[Said, NoteFacts]]:
        """Runs of turns of one session, and pieces of long turns, each as a task."""
        steps: list[tuple[Said, NoteFacts]] = []
        for session in without_blanks(history).sessions:
            for start in range(0, len(session.turns), self.turns):
                run = session.turns[start : start + self.turns]
                pieces = [(turn, piece) for turn in run for piece in self._pieces(turn_text(turn))]
                for group in [pieces] if len(pieces) == len(run) else [[piece] for piece in pieces]:
                    sources = tuple(turn.id for turn, _ in group)
                    task = NoteFacts(session.date, tuple((turn.speaker, piece) for turn, piece in group))
                    steps.append((Said(sources, session.date, len(steps)), task))
        return steps

    def _pieces(self, text: str) -> list[str]:
        return [piece for piece in map(str.strip, split_text(text, self.piece_tokens)) if piece]


def fact_vectors(noted: Sequence[Noted], encoder: Encoder) -> Vectors:
    """Vectors of all facts, encoded in one batch."""
    vectors: Vectors = {}
    learn([fact for one in noted for fact in one.facts], encoder, vectors)
    return vectors


def learn(texts: Sequence[str], encoder: Encoder, vectors: Vectors) -> None:
    """Put the vectors of texts not met before into `vectors`."""
    new = [text for text in dict.fromkeys(texts) if text not in vectors]
    if new:
        vectors.update(zip(new, encoder.encode(new), strict=True))
