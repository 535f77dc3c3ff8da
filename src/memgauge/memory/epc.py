"""Expected Predictive Compression (paper A, section 5): guess the questions, keep their evidence.

Two calls a session: `propose_questions`, then `select_evidence` for them; records that overlap are merged
(`evidence_units`), and the budget is filled by the paper's utility (`selection`). A kept unit is an entry of three
lines `[Q]`, `[E]`, `[S]`, dated like its session. Where the paper is silent or we depart from it:

- the budget is first spent session by session, each within its share (paper A compresses sessions independently,
  shares by the square root of their length); what the shares leave over then goes to the best units still open,
  whatever their session, so that selection ends when nothing more fits the budget as a whole;
- coverage is a count, specificity and redundancy are shares (`selection`);
- a session whose questions or records could not be read has no units; both are counted, nothing stands in.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from memgauge.errors import unknown_name
from memgauge.memory.base import Query, Ranking, Tools, Written
from memgauge.memory.evidence_units import Evidence, gather
from memgauge.memory.grounding import ground_of
from memgauge.memory.selection import Utility, select
from memgauge.memory.session_notes import Planned, plan_sessions, spoken
from memgauge.memory.shared import count_result, dense_hits
from memgauge.records import History, Store
from memgauge.seeds import generator
from memgauge.tasks.propose_questions import ProposeQuestions
from memgauge.tasks.select_evidence import SelectEvidence, Selection

PROBING = ("self", "none", "random")
GENERIC = (
    "What happened, and when?",
    "Who was involved?",
    "Where did it take place?",
    "What was decided?",
    "What was bought, and what did it cost?",
    "What is planned next?",
    "What is liked, and what is not?",
    "How many were there?",
    "What changed?",
    "Why was it done?",
)
Probes = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Epc:
    """Evidence for anticipated questions.

    `questions` is how many a session is probed with. `probing` says where they come from: "self", the session
    itself; "none", evidence is selected without questions; "random", drawn with a fixed seed from those of the
    other sessions of the history (where there is no other, from `GENERIC`). `merge` joins overlapping records.
    `coverage`, `specificity` and `redundancy` weigh the utility (paper A's alpha, beta and lambda).
    """

    name: ClassVar[str] = "epc"
    card: ClassVar[dict[str, str]] = {
        "questions": "paper A, section 5: 5",
        "probing": "paper A, section 5: of the session itself; the others are its ablations",
        "merge": "paper A, section 5",
        "coverage": "paper A, section 5: alpha = 1.0",
        "specificity": "paper A, section 5: beta = 0.5",
        "redundancy": "paper A, section 5: lambda = 0.3",
    }

    questions: int = 5
    probing: str = "self"
    merge: bool = True
    coverage: float = 1.0
    specificity: float = 0.5
    redundancy: float = 0.3

    def write(self, history: History, budget_tokens: int, tools: Tools) -> Written:
        """One entry a kept unit, in history order. Raises InputError for an unknown `probing`."""
        if self.probing not in PROBING:
            raise unknown_name("memory.epc.probing", self.probing, list(PROBING))
        counts: Counter[str] = Counter()
        planned = plan_sessions(history, budget_tokens, counts)
        probed = self._probed(planned, tools, counts)
        units = self._units(probed, tools, counts)
        fitting = [unit for unit in units if unit.cost() <= budget_tokens]
        kept = self._kept(fitting, planned, budget_tokens)
        counts["units_too_long"] = len(units) - len(fitting)
        counts["units_left_out"] = len(fitting) - len(kept)
        entries = tuple(unit.entry(str(number)) for number, unit in enumerate(kept))
        guessed = dict.fromkeys(question for _, probes in probed for question in probes)
        return Written(entries, dict(sorted(counts.items())), tuple(guessed))

    def retrieve(self, store: Store, queries: Sequence[Query], tools: Tools) -> list[Ranking]:
        """All records by similarity to the question."""
        return dense_hits(store, queries, tools.encoder)

    def _probed(self, planned: list[Planned], tools: Tools, counts: Counter[str]) -> list[tuple[Planned, Probes]]:
        """The sessions that have probe questions, with them."""
        if self.probing == "none":
            return [(one, ()) for one in planned]
        own = self._proposed(planned, tools, counts)
        if self.probing == "self":
            return [(one, own[one.position]) for one in planned if one.position in own]
        return [(one, self._drawn(one.position, own)) for one in planned]

    def _proposed(self, planned: list[Planned], tools: Tools, counts: Counter[str]) -> dict[int, Probes]:
        """Each session's own probe questions by its position; a failed proposal has none."""
        tasks = [ProposeQuestions(one.session.date, spoken(one.session), self.questions) for one in planned]
        results = tools.solver.solve(tasks) if tasks else []
        own = {}
        for one, result in zip(planned, results, strict=True):
            count_result(result, counts)
            counts["proposals_failed"] += result.output is None
            if result.output:
                own[one.position] = result.output[: self.questions]
                counts["questions_surplus"] += len(result.output) - len(own[one.position])
        return own

    def _drawn(self, position: int, own: dict[int, Probes]) -> Probes:
        """Questions of other sessions, by a generator of the session's place alone."""
        others = [question for other, probes in sorted(own.items()) if other != position for question in probes]
        pool = list(dict.fromkeys(others)) or GENERIC
        order = generator(0, "memory.epc", "random probes", str(position)).permutation(len(pool))
        return tuple(pool[at] for at in order[: self.questions])

    def _units(self, probed: list[tuple[Planned, Probes]], tools: Tools, counts: Counter[str]) -> list[Evidence]:
        """All units in history order; records refused by the parser and sessions without any are counted."""
        tasks = [
            SelectEvidence(one.position, one.session.date, spoken(one.session), probes, one.share)
            for one, probes in probed
        ]
        results = tools.solver.solve(tasks) if tasks else []
        units: list[Evidence] = []
        for (one, _), result in zip(probed, results, strict=True):
            count_result(result, counts)
            counts["selections_failed"] += result.output is None
            if result.output is not None:
                units.extend(self._gathered(one, result.output, counts))
        return units

    def _gathered(self, one: Planned, selection: Selection, counts: Counter[str]) -> list[Evidence]:
        """The units of the records that hold; a selection without such a record, though not empty, has failed."""
        sound = [
            record
            for record in selection.records
            if record.turns and all(0 <= turn < len(one.session.turns) for turn in record.turns)
        ]
        ground = ground_of(spoken(one.session))
        grounded = [record for record in sound if ground.holds(record.evidence)]
        counts["records_made_up_source"] += len(selection.records) - len(sound)
        counts["records_ungrounded"] += len(sound) - len(grounded)
        for failure in selection.failures:
            counts[f"records_{failure}"] += 1
        counts["selections_failed"] += bool(selection.records or selection.failures) and not grounded
        units = gather(one, grounded, self.merge)
        counts["records"] += len(grounded)
        counts["records_merged"] += len(grounded) - len(units)
        return sorted(units, key=lambda unit: unit.turns)

    def _kept(self, units: list[Evidence], planned: list[Planned], budget_tokens: int) -> list[Evidence]:
        """Every session's best within its share, then the best of the rest within what the shares left over."""
        utility = Utility(self.coverage, self.specificity, self.redundancy)
        known = [unit.unit() for unit in units]
        held: set[str] = set()
        chosen: set[int] = set()
        for one in planned:
            places = [at for at, unit in enumerate(units) if unit.planned is one]
            picks = select([known[at] for at in places], one.share, utility, held)
            chosen.update(places[pick] for pick in picks)
        left = budget_tokens - sum(known[at].cost for at in chosen)
        rest = [at for at in range(len(units)) if at not in chosen]
        chosen.update(rest[pick] for pick in select([known[at] for at in rest], left, utility, held))
        return [units[at] for at in sorted(chosen)]
