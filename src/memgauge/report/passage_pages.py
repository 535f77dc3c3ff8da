"""Passage budgets as Markdown: a study with its published counterpart, and a cohort's facts."""

from collections.abc import Sequence

from memgauge.experiments.budget_advisor import Advice
from memgauge.experiments.passage_contrasts import Contrast, Interaction
from memgauge.experiments.passage_evidence import RecallRow
from memgauge.experiments.passage_facts import OTHER_TOKENS, REFERENCE, Facts
from memgauge.experiments.passage_study import Curve, Study
from memgauge.protocol.review_agreement import Agreement, ReviewFindings
from memgauge.report.advice import advice_page
from memgauge.report.markdown import markdown_table
from memgauge.report.numbers import UNDEFINED, interval, number, percent, signed
from memgauge.report.passage_published import published_table
from memgauge.stats.intervals import Interval

KINDS = {
    "rubric": "mean rubric mark (0, 0.5 or 1 a criterion)",
    "token_f1": "token F1 with the gold, as the question has no rubric",
    "refusal": "whether an abstention question without a rubric is declined",
}
RANKING_OF_HISTORY = "BM25 over the windows of the whole history, which asks no model"
RANKING_OF_STORE = (
    "the one that memory system `{system}` gives the entries of its store, one entry a passage, which counts as "
    "showing every turn that it names as its source"
)
HOW = (
    "Every budget is a prefix of one ranking: {ranking}. Reader, prompt and decoding are the same at each. Points are "
    "scores times 100. Changes are paired against {reference} passages over complete pairs; intervals are 95 % "
    "percentile intervals of {draws:,} bootstrap draws over {groups} source groups (interactions 97.5 %). The planned "
    "comparison is {primary} against {reference}; all others are exploratory. Reader tokens are input and "
    "output; ranking and judging stand apart. n/a is undefined, never 0."
)


def study_page(name: str, system: str | None, found: Study, advice: Advice, verdict: str | None, draws: int) -> str:
    """One study; `system` is the one whose entries are shown, None where passages are of the whole history.

    `verdict` is on the judge, None where no score is judged.
    """
    ranking = RANKING_OF_HISTORY if system is None else RANKING_OF_STORE.format(system=system)
    counted = {"primary": found.primary, "draws": draws, "groups": found.groups}
    how = HOW.format(ranking=ranking, reference=found.reference, **counted)
    kinds = "; ".join(f"{count} by {KINDS[kind]}" for kind, count in found.kinds.items())
    statuses = ", ".join(f"{count} {status}" for status, count in found.statuses.items())
    counts = f"{found.questions} questions scored: {kinds}. Answers: {statuses}."
    if verdict is not None:
        counts += f" Marks the judge did not give: {found.missing_marks}. {verdict}"
    if found.as_released:
        counts += " Half marks are cut to 0, as in BEAM's own scorer."
    if found.estimated:
        counts += f" Tokens of {found.estimated} answers are cl100k_base counts of prompt and answer, not a reader's."
    sections = [
        ("Budgets", budgets_table(found.curves)),
        ("Change against the reference", contrasts_table(found.contrasts)),
        ("By answerability", contrasts_table(found.subgroups)),
        ("Answerability interaction", interactions_table(found.interactions)),
        ("By ability and budget", contrasts_table(found.abilities)),
        ("Stability of the planned comparison", stability_table(found)),
        ("Evidence recall", recall_table(found.recall)),
        ("Advice", advice_page(advice)),
        ("Published, for reference", published_table()),
    ]
    parts = [f"# Passage budgets: {name}", how, counts]
    return "\n\n".join([*parts, *(f"## {title}\n\n{body}" for title, body in sections if body)]) + "\n"


def budgets_table(curves: Sequence[Curve]) -> str:
    """Tokens, score and recall by budget."""
    header = [
        "passages",
        "shown",
        "reader tokens",
        "% of reference",
        "judge tokens",
        "mean points",
        "scored",
        "missing",
        "recall",
    ]
    rows = [
        [
            *(
                str(each.budget),
                f"{each.passages:,}",
                f"{each.tokens:,}",
                percent(each.token_share, 1),
                f"{each.judge_tokens:,}",
            ),
            *(number(each.mean, 2), str(each.scored), str(each.missing), percent(each.recall, 1)),
        ]
        for each in curves
    ]
    return markdown_table(header, rows)


def contrasts_table(contrasts: Sequence[Contrast]) -> str:
    """One row a contrast; the number of complete pairs stands beside every change."""
    header = ["subset", "passages", "complete pairs", "mean", "reference", "change [95 %]"]
    header += ["higher", "equal", "lower", "zero in both"]
    rows = [
        [
            *(each.name, str(each.budget), f"{each.change.n} of {each.planned}"),
            *(number(each.mean, 2), number(each.reference_mean, 2)),
            f"{signed(each.change.value, 2)} {interval(each.change.clustered, 2)}",
            *(str(count) for count in (each.wins, each.ties, each.losses, each.both_zero)),
        ]
        for each in contrasts
    ]
    return markdown_table(header, rows) if rows else ""


def interactions_table(found: Sequence[Interaction]) -> str:
    """Abstention minus answerable effect by tier."""
    header = ["tier", "passages", "abstention pairs", "answerable pairs", "groups", "interaction [97.5 %]"]
    rows = [
        [
            *(each.tier, f"{each.budget} against {each.reference}", str(each.abstention_pairs)),
            *(str(each.answerable_pairs), str(each.groups)),
            f"{signed(each.value.value, 2)} {interval(each.value.clustered, 2)}",
        ]
        for each in found
    ]
    return markdown_table(header, rows) if rows else ""


def stability_table(found: Study) -> str:
    """What the planned comparison withstands; only the first row is a confidence interval."""
    each = found.stability
    planned = next(one for one in found.contrasts if one.budget == found.primary)
    known = [value for value in each.deletions.values() if value is not None]
    span = Interval(min(known), max(known)) if known else None
    rows = [
        ["95 % interval over source groups", signed(planned.change.value, 2), interval(planned.change.clustered, 2)],
        [f"{len(each.deletions)} deletions of one group", UNDEFINED, interval(span, 2)],
        ["every group with equal weight", signed(each.equal_weights, 2), UNDEFINED],
        [f"bounds, {each.missing_pairs} incomplete pairs free", UNDEFINED, interval(each.missing, 2)],
        *(
            [f"bounds, {count} further pairs free", UNDEFINED, interval(bounds, 2)]
            for count, bounds in each.worst_cases.items()
            if count
        ),
    ]
    flips = UNDEFINED if each.flips is None else str(each.flips)
    closing = f"Least number of complete pairs whose arbitrary change can erase the sign: {flips}."
    return "\n\n".join([markdown_table(["check", "change", "interval, range or bounds"], rows), closing])


def recall_table(rows: Sequence[RecallRow]) -> str:
    """Share of marked evidence turns shown, by tier, ability and budget."""
    if not rows:
        return "No question has a marked evidence turn."
    budgets = list(rows[0].by_budget)
    header = ["tier", "ability", "questions", *map(str, budgets)]
    body = [
        [row.tier, row.ability, str(row.questions), *(percent(row.by_budget[budget], 1) for budget in budgets)]
        for row in rows
    ]
    note = "An evidence turn counts as shown when more than half of its characters are among the first k passages."
    return "\n\n".join([markdown_table(header, body), note])


def facts_page(facts: Facts) -> str:
    """A cohort's facts: sizes by budget, short rankings, evidence recall."""
    header = ["passages", "shown", "characters", "Qwen2.5 tokens", "tokens, % of reference"]
    rows = [
        [
            *(str(budget), f"{facts.passages[budget]:,}", f"{facts.characters[budget]:,}"),
            *(f"{facts.tokens[budget]:,}", number(facts.ratio_percent[budget], 2)),
        ]
        for budget in facts.passages
    ]
    short = ", ".join(f"{name} ({size})" for name, size in sorted(facts.short.items())) or "none"
    note = (
        f"{facts.questions:,} questions. Shares are against {REFERENCE} passages with {OTHER_TOKENS} tokens a question "
        f"for prompt, question and answer. Rankings with fewer passages than the largest budget: {short}."
    )
    return "\n\n".join([markdown_table(header, rows), note, recall_table(facts.recall)])


def review_page(found: ReviewFindings, verdict: str) -> str:
    """How reviewers and scorer agree."""
    header = ["level", "pairs", "agreeing", "kappa", "weighted kappa", "reviewer - scorer [95 %]"]
    header += ["reviewer uncertain", "not scored"]
    rows = [_agreement("criteria", found.criteria), _agreement("answers", found.answers)]
    references = ", ".join(f"{count} {name}" for name, count in found.references.items())
    return "\n\n".join([markdown_table(header, rows), f"References: {references}. {verdict}"])


def _agreement(name: str, each: Agreement) -> list[str]:
    return [
        *(name, str(each.pairs), f"{each.agreeing} ({percent(each.share, 1)})"),
        *(number(each.kappa), number(each.weighted_kappa)),
        f"{signed(each.difference)} {interval(each.interval)}",
        *(str(each.uncertain), str(each.unscored)),
    ]
