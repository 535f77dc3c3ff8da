"""The audit: a blinded sheet out, every malformed row one clear error in, agreement by hand."""

import csv
import io
from collections import Counter

import pytest

from memgauge.errors import InputError
from memgauge.protocol.review_agreement import agreement, review_findings
from memgauge.protocol.review_sheet import (
    COLUMNS,
    Rating,
    Review,
    Sampled,
    choose_sample,
    criteria_of,
    make_sheet,
    read_sheet,
)
from memgauge.records import Question

ABILITIES = [f"ability{number}" for number in range(9)]


def cohort(tier="T", chats=20):
    questions = []
    for chat in range(chats):
        name = f"{tier}-{chat}"
        for kind in [*ABILITIES, "abstention"]:
            for each in range(2):
                abstention = kind == "abstention"
                golds = () if abstention else ("gold",)
                questions.append(Question(f"{name}-{kind}-{each}", name, "?", kind, golds, abstention=abstention))
    return questions, {question.history_id: tier for question in questions}


def test_the_sample_has_28_questions_a_tier_and_does_not_depend_on_the_other_tier() -> None:
    first, tiers = cohort("A")
    second, more = cohort("B", chats=35)
    chosen = choose_sample([*first, *second], tiers | more, seed=17)
    kinds = Counter((name[0], name.split("-")[2]) for name in chosen)
    assert len(chosen) == 56
    assert all(kinds[tier, "abstention"] == 10 for tier in "AB")
    assert all(kinds[tier, ability] == 2 for tier in "AB" for ability in ABILITIES)
    assert set(choose_sample(first, tiers, seed=17)) == {name for name in chosen if name[0] == "A"}
    assert set(choose_sample(first, tiers, seed=18)) != set(choose_sample(first, tiers, seed=17))


def test_a_tier_that_is_too_small_is_refused() -> None:
    questions, tiers = cohort(chats=3)
    with pytest.raises(InputError, match="6 questions of abstention; the review sample needs 10"):
        choose_sample(questions, tiers, 17)


SAMPLE = [
    Sampled(
        Question("beam-q1", "h", "Where, and when?", "fact", ("Oslo",), rubric=("names Oslo", "names May")),
        ('user: I moved, "at last",\nto Oslo',),
        {3: "Oslo", 10: "Oslo in May"},
    ),
    Sampled(Question("beam-q2", "h", "Who?", "abstention", abstention=True), (), {3: "Ann", 10: "I don't know"}),
]


@pytest.fixture
def sheet():
    return make_sheet(SAMPLE, seed=17)


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def filled(text, change=lambda row: row, header=COLUMNS):
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, header, extrasaction="ignore")
    writer.writeheader()
    for row in rows_of(text):
        changed = change(row | {"mark": "0.5", "reference_rating": "supported"})
        writer.writerows(changed if isinstance(changed, list) else [changed])
    return out.getvalue()


def test_a_sheet_shows_evidence_and_hides_budget_question_id_and_order(sheet) -> None:
    text, key = sheet
    rows = rows_of(text)
    assert len(rows) == len(key) == 6  # two criteria and one, at two budgets
    assert tuple(rows[0]) == COLUMNS
    assert all(row["mark"] == row["reference_rating"] == "" for row in rows)
    assert "beam-q" not in text
    assert any(row["evidence"] == 'user: I moved, "at last",\nto Oslo' for row in rows)
    assert [row["code"] for row in rows] == [each.code for each in key]
    assert make_sheet(SAMPLE, seed=17) == sheet
    assert [each.budget for each in key] != sorted(each.budget for each in key)


def test_a_question_without_a_rubric_has_one_criterion() -> None:
    assert criteria_of(SAMPLE[1].question) == ("declines to answer",)


def test_ratings_come_back_unblinded_in_any_order_of_rows(sheet) -> None:
    text, key = sheet
    lines = filled(
        text, lambda row: row | {"mark": {"Oslo": "1", "Oslo in May": "0,5"}.get(row["answer"], "uncertain")}
    )
    found = read_sheet("\ufeff" + lines, key, "s.csv")
    marks = {(each.question_id, each.budget): each.mark for each in found.ratings}
    assert marks == {("beam-q1", 3): 1.0, ("beam-q1", 10): 0.5, ("beam-q2", 3): None, ("beam-q2", 10): None}
    assert found.references == {"beam-q1": "supported", "beam-q2": "supported"}


def only_first(**values):
    seen = []

    def change(row):
        seen.append(row)
        return row | values if len(seen) == 1 else row

    return change


def doubled(row):
    return [row, row]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (only_first(code="R999999999"), "code 'R999999999' is not in the key"),
        (doubled, "occurs twice; keep one row"),
        (lambda row: [], "lacks code"),
        (only_first(mark=""), "mark '' is not one of 0, 0.5, 1, uncertain"),
        (only_first(mark="0.7"), "mark '0.7' is not one of"),
        (only_first(mark="nan"), "mark 'nan' is not one of"),
        (only_first(reference_rating="fine"), "reference_rating 'fine' is not one of"),
        (lambda row: row | {"reference_rating": ""}, "rates its reference; fill one in"),
        (
            lambda row: row | {"reference_rating": "supported" if row["answer"] in ("Oslo", "Ann") else "uncertain"},
            "in another row of the question",
        ),
    ],
)
def test_every_malformed_row_is_one_clear_error(sheet, change, message) -> None:
    text, key = sheet
    with pytest.raises(InputError, match=r"s\.csv") as caught:
        read_sheet(filled(text, change), key, "s.csv")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda text: "", "is empty"),
        (lambda text: text.replace("mark", "marks"), "0 columns named 'mark'"),
        (lambda text: text.replace("criterion,", "mark,", 1), "0 columns named 'criterion'"),
        (lambda text: text + 'R1,"open', "no valid CSV"),
        (lambda text: text + "R1,short\n", "2 cells under 8 columns"),
    ],
)
def test_a_broken_file_is_one_clear_error(sheet, spoil, message) -> None:
    text, key = sheet
    with pytest.raises(InputError) as caught:
        read_sheet(spoil(filled(text)), key, "s.csv")
    assert message in str(caught.value)


def test_agreement_by_hand() -> None:
    # reviewer 1 1 0 0 .5, scorer 1 0 0 0 .5: 4 of 5 agree; by chance 1/5*... = (2*1 + 2*3 + 1*1)/25 = .36
    pairs = [("a", 1.0, 1.0), ("a", 1.0, 0.0), ("b", 0.0, 0.0), ("b", 0.0, 0.0), ("c", 0.5, 0.5)]
    found = agreement([*pairs, ("c", None, 1.0), ("c", 1.0, None)], draws=500, seed=1, purpose="criteria")
    assert (found.pairs, found.agreeing, found.uncertain, found.unscored) == (5, 4, 1, 1)
    assert found.kappa == pytest.approx((0.8 - 0.36) / (1 - 0.36))
    assert found.difference == pytest.approx(0.2)
    assert found.interval is not None
    assert found.interval.low == 0.0


def test_agreement_of_nothing_is_undefined() -> None:
    found = agreement([("a", None, 1.0)], 100, 1, "criteria")
    assert (found.share, found.kappa, found.difference, found.interval) == (None, None, None, None)
    same = agreement([("a", 1.0, 1.0), ("b", 1.0, 1.0)], 100, 1, "criteria")
    assert (same.share, same.kappa) == (1.0, None)


def test_findings_join_criteria_answers_and_references() -> None:
    ratings = tuple(Rating("q1", 3, at, mark) for at, mark in enumerate((1.0, 0.0)))
    review = Review((*ratings, Rating("q2", 3, 0, 1.0)), {"q1": "supported", "q2": "uncertain"})
    found = review_findings(review, {("q1", 3): (0.5, 0.5), ("q2", 3): ()}, 100, 1)
    assert (found.criteria.pairs, found.criteria.unscored) == (2, 1)
    assert (found.answers.pairs, found.answers.agreeing) == (1, 1)
    assert found.references == {"supported": 1, "inconsistent": 0, "uncertain": 1}
    with pytest.raises(InputError, match="no 2 marks of question 'q1'"):
        review_findings(review, {("q1", 3): (0.5,)}, 100, 1)
