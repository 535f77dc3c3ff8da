"""Quality per cost: what a system's answers are worth and what they cost, all model calls counted (paper B).

One `QpcCell` is one system on one benchmark under one QA model. To build it: `stores[history_id]` is
`tokens_by_role(store.counts)` of every history that a question is about (an empty mapping where a system writes
nothing); `asked` holds one `asked_question(...)` for every question that can be scored (abstention questions and
those without a usable gold are left out); `billing` says for every role in either who does it and how it is billed.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from memgauge.errors import InputError
from memgauge.metrics.cost import (
    Billing,
    ByRole,
    Tokens,
    Usd,
    add_roles,
    amortised,
    cost_of,
    mean_usd,
    tokens_by_role,
    usage_tokens,
)
from memgauge.metrics.scoring import ScoredItem
from memgauge.records import Answer, Context, Usage

Label = Literal["trained", "untrained", "nothing to train"]
Kind = Literal["system", "ablation"]
Stage = Literal["write", "online"]
QA = "qa"


@dataclass(frozen=True, slots=True)
class Asked:
    """One question as one system answered it: scores in [0, 1] (None: missing), online tokens by role.

    `strict` and `generous` are a judge's verdicts; `summary` is the query-aware summary that the QA model was
    shown, None where the system makes none, and `summary_tokens` its length in the summariser's tokens.
    """

    question_id: str
    history_id: str
    group: str
    type: str
    f1: float | None
    tokens: ByRole
    locomo_f1: float | None = None
    strict: float | None = None
    generous: float | None = None
    answer: str = ""
    summary: str | None = None
    summary_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class QpcCell:
    """One system's questions and the stores they were answered from (see the module)."""

    benchmark: str
    system: str
    label: Label
    billing: Mapping[str, Billing]
    stores: Mapping[str, ByRole]
    asked: tuple[Asked, ...]
    kind: Kind = "system"


@dataclass(frozen=True, slots=True)
class RoleUse:
    """What one role took in all: offline over `units` stores, online over `units` questions."""

    stage: Stage
    role: str
    tokens: Tokens
    units: int
    usd: Usd
    billed: str

    def per_unit(self, amount: int | Fraction | None) -> float | None:
        """A total by store or question."""
        return None if amount is None or not self.units else float(Fraction(amount) / self.units)


@dataclass(frozen=True, slots=True)
class Costs:
    """A system's cost: `write` USD a store, `online` and (part of it) `qa` USD a question; means, None if unknown.

    `served` is the number of questions a store serves that `cost` is stated for: `questions` / `stores` of this run
    unless it was set.
    """

    benchmark: str
    system: str
    stores: int
    questions: int
    served: Fraction
    write: Usd
    online: Usd
    qa: Usd
    uses: tuple[RoleUse, ...]

    @property
    def cost(self) -> Usd:
        """USD a question when a store serves `served` of them."""
        return amortised(self.write, self.online, self.served)


@dataclass(frozen=True, slots=True)
class PricedQuestion:
    """A question with its exact costs in USD: its share of its own store, its online calls, the QA call of these."""

    asked: Asked
    share: Usd
    online: Usd
    qa: Usd

    @property
    def cost(self) -> Usd:
        """All of it."""
        return None if self.share is None or self.online is None else self.share + self.online


def asked_question(
    item: ScoredItem,
    contexts: Sequence[Context],
    answer: Answer,
    usage: Usage | None = None,
    verdicts: tuple[float | None, float | None] = (None, None),
    summary: str | None = None,
    summary_tokens: int | None = None,
) -> Asked:
    """One question of a cell from the records that stages leave.

    `contexts` are all that were made on the way to the answer, each with its own counts: retrieval, then the
    summary. `usage` replaces the answer's own where the QA solver calls no model (`metrics.cost.as_if`);
    `verdicts` are the strict and the generous one.
    """
    online = [*(tokens_by_role(context.counts) for context in contexts), {QA: usage_tokens(usage or answer.usage)}]
    return Asked(
        question_id=item.question_id,
        history_id=item.history_id,
        group=item.group,
        type=item.type,
        f1=item.token_f1,
        tokens=add_roles(online),
        locomo_f1=item.locomo_f1,
        strict=verdicts[0],
        generous=verdicts[1],
        answer=answer.text,
        summary=summary,
        summary_tokens=summary_tokens,
    )


def costs_of(cell: QpcCell, served: int | None = None) -> Costs:
    """What a cell took by stage and role, its cost stated for `served` questions a store (None: this run's own n).

    Raises InputError for a cell without questions or with repeated ones.
    """
    stores = _stores(cell)
    online = [asked.tokens for asked in cell.asked]
    uses = (*_uses(cell, "write", list(stores.values())), *_uses(cell, "online", online))
    return Costs(
        benchmark=cell.benchmark,
        system=cell.system,
        stores=len(stores),
        questions=len(cell.asked),
        served=Fraction(len(cell.asked), len(stores)) if served is None else Fraction(served),
        write=mean_usd(_amounts(list(stores.values()), cell.billing)),
        online=mean_usd(_amounts(online, cell.billing)),
        qa=mean_usd(_amounts([_only_qa(tokens) for tokens in online], cell.billing)),
        uses=uses,
    )


def priced_questions(cell: QpcCell, served: int | None = None) -> tuple[PricedQuestion, ...]:
    """Every question with its costs; a store's price is shared alike by the questions about its history.

    So the mean of the shares over all questions is the stores' total over the questions: C_write / n. Where only a
    sample of the questions was asked, `served` says how many a store serves instead.
    """
    stores = _stores(cell)
    about = Counter(asked.history_id for asked in cell.asked)
    written = dict(zip(stores, _amounts(list(stores.values()), cell.billing), strict=True))
    online = _amounts([asked.tokens for asked in cell.asked], cell.billing)
    qa = _amounts([_only_qa(asked.tokens) for asked in cell.asked], cell.billing)
    rows = []
    for asked, each, last in zip(cell.asked, online, qa, strict=True):
        share = amortised(written[asked.history_id], Fraction(0), served or about[asked.history_id])
        rows.append(PricedQuestion(asked, share, each, last))
    return tuple(rows)


def _stores(cell: QpcCell) -> dict[str, ByRole]:
    """The stores that a question was asked of, in order of the questions."""
    name = f"{cell.system} on {cell.benchmark}"
    if not cell.asked:
        raise InputError(f"{name} was asked no question; leave it out, or look at why it has none")
    if len({asked.question_id for asked in cell.asked}) < len(cell.asked):
        raise InputError(f"{name} has a question twice; keep one answer for each question")
    needed = dict.fromkeys(asked.history_id for asked in cell.asked)
    if absent := [history for history in needed if history not in cell.stores]:
        raise InputError(f"{name} has no store of history {absent[0]!r}; give its tokens, or an empty mapping")
    return {history: cell.stores[history] for history in needed}


def _uses(cell: QpcCell, stage: Stage, parts: Sequence[ByRole]) -> list[RoleUse]:
    return [
        RoleUse(stage, role, tokens, len(parts), cost_of({role: tokens}, cell.billing), cell.billing[role].text())
        for role, tokens in add_roles(parts).items()
    ]


def _amounts(parts: Sequence[ByRole], billing: Mapping[str, Billing]) -> list[Usd]:
    """The cost of each part; all unknown when a role's is.

    A task without tokens among others that have some was never sent (too long, say) and costs nothing; a role in
    which no task has tokens was not counted.
    """
    if cost_of(add_roles(parts), billing) is None:
        return [None] * len(parts)
    return [_part(part, billing) for part in parts]


def _part(part: ByRole, billing: Mapping[str, Billing]) -> Usd:
    return cost_of({role: replace(tokens, tasks=0) for role, tokens in part.items()}, billing)


def _only_qa(tokens: ByRole) -> dict[str, Tokens]:
    return {role: each for role, each in tokens.items() if role == QA}
