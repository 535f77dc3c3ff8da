"""Every form of date, explicit or relative, resolved against Friday 9 June 2023."""

from datetime import date

import pytest

from memgauge.text.dates import find_dates, parse_heading, render_day

ANCHOR = date(2023, 6, 9)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("on 2023-05-07", "7 May 2023"),
        ("on 5/7/2023", "7 May 2023"),
        ("the 7th of May, 2023", "7 May 2023"),
        ("May 7, 2023", "7 May 2023"),
        ("May 7th", "7 May 2023"),
        ("on 28 December", "28 December 2022"),
        ("May 2021", "May 2021"),
        ("since 2019", "2019"),
        ("today", "9 June 2023"),
        ("this morning", "9 June 2023"),
        ("yesterday", "8 June 2023"),
        ("last night", "8 June 2023"),
        ("the day before yesterday", "7 June 2023"),
        ("tomorrow", "10 June 2023"),
        ("the day after tomorrow", "11 June 2023"),
        ("three days ago", "6 June 2023"),
        ("in two days", "11 June 2023"),
        ("two weeks ago", "26 May 2023"),
        ("in a week", "16 June 2023"),
        ("two months ago", "April 2023"),
        ("ten years ago", "2013"),
        ("last Friday", "2 June 2023"),
        ("on Sunday", "4 June 2023"),
        ("We will meet on Sunday", "11 June 2023"),
        ("next Tuesday", "13 June 2023"),
        ("last week", "the week before 9 June 2023"),
        ("next week", "the week after 9 June 2023"),
        ("this week", "the week of 9 June 2023"),
        ("last weekend", "the weekend before 9 June 2023"),
        ("two weekends ago", "two weekends before 9 June 2023"),
        ("a few days ago", "a few days before 9 June 2023"),
        ("last month", "May 2023"),
        ("this month", "June 2023"),
        ("next month", "July 2023"),
        ("last year", "2022"),
        ("next year", "2024"),
        ("last summer", "summer 2022"),
        ("in August", "August 2022"),
        ("I will start in August", "August 2023"),
        ("last June", "June 2022"),
    ],
)
def test_a_date_is_written_out(text: str, label: str) -> None:
    assert [span.label for span in find_dates(text, ANCHOR)] == [label]


@pytest.mark.parametrize(
    ("text", "wording"),
    [
        ("last Friday", "the Friday before 9 June 2023"),
        ("next Tuesday", "the Tuesday after 9 June 2023"),
        ("two weeks ago", "two weeks before 9 June 2023"),
    ],
)
def test_a_relative_day_keeps_its_relative_wording(text: str, wording: str) -> None:
    assert find_dates(text, ANCHOR)[0].wording == wording


@pytest.mark.parametrize(
    "text",
    ["I may march on", "sat down in the sun", "31 June 2023", "version 2023-99-99", "room 2019", "90000 years ago"],
)
def test_words_and_impossible_days_are_no_dates(text: str) -> None:
    assert find_dates(text, ANCHOR) == []


def test_a_week_is_bounded_by_monday_and_sunday() -> None:
    span = find_dates("last week", ANCHOR)[0]
    assert (span.first, span.last) == (date(2023, 5, 29), date(2023, 6, 4))


def test_without_an_anchor_only_full_dates_are_read() -> None:
    assert [span.label for span in find_dates("yesterday, 3 May, and 4 May 2020")] == ["4 May 2020"]


def test_overlapping_readings_give_one_date_with_its_place() -> None:
    text = "Met on May 8, 2023 at noon"
    spans = find_dates(text, ANCHOR)
    assert [text[span.start : span.end] for span in spans] == ["May 8, 2023"]


def test_headings_are_read_back() -> None:
    assert parse_heading("[8 May 2023, 13:56]") == date(2023, 5, 8)
    assert parse_heading("[undated]") is None
    assert render_day(date(2024, 2, 29)) == "29 February 2024"
