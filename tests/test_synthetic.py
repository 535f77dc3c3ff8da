"""The synthetic benchmark: its answers follow from the evidence of its questions, and from nothing else."""

import calendar
import dataclasses
import os
import re
import subprocess
import sys
import tracemalloc
from collections import Counter
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgauge.datasets.synthetic import wording_events
from memgauge.datasets.synthetic.events import ROWS
from memgauge.datasets.synthetic.generate import (
    Fact,
    generate,
    generate_with_facts,
    group_count,
    group_splits,
    read,
)
from memgauge.datasets.synthetic.options import SyntheticOptions
from memgauge.datasets.synthetic.spoken_dates import WORDS, date_golds, days_golds
from memgauge.datasets.synthetic.wording_changing import CHANGING
from memgauge.datasets.synthetic.wording_habits import HABITS
from memgauge.datasets.synthetic.wording_lasting import LASTING
from memgauge.errors import InputError
from memgauge.files import write_jsonl
from memgauge.records import History, Question

TYPES = {
    "single-session-user",
    "single-session-assistant",
    "single-session-preference",
    "multi-session",
    "temporal-reasoning",
    "knowledge-update",
}
MONTHS = list(calendar.month_name)[1:]
WEEKDAYS = list(calendar.day_name)
NUMBER = "|".join(WORDS)
SPOKEN = re.compile(
    rf"(?P<before>the day before yesterday)|(?P<yesterday>yesterday)|(?P<tomorrow>tomorrow)"
    rf"|(?P<ago>{NUMBER}) days ago|(?P<weeks>a|{NUMBER}) weeks? ago|last (?P<weekday>{'|'.join(WEEKDAYS)})"
    rf"|in (?P<ahead>{NUMBER}) days|in (?P<weeks_ahead>{NUMBER}) weeks"
    rf"|on (?P<day>\d+) (?P<month>{'|'.join(MONTHS)})|on (?P<month2>{'|'.join(MONTHS)}) (?P<day2>\d+)",
    re.IGNORECASE,
)
Generated = tuple[History, tuple[Question, ...], tuple[Fact, ...]]


@pytest.fixture(scope="module")
def generated() -> list[Generated]:
    return list(generate_with_facts(SyntheticOptions(histories=42), 17))


@pytest.fixture(scope="module")
def answerable(generated: list[Generated]) -> list[tuple[Question, list[tuple[date, str]]]]:
    """Every question that has an answer, with the day and text of each evidence turn."""
    pairs = []
    for history, questions, _ in generated:
        turns = {turn.id: (day_of(session.date), turn.text) for session, turn in history.turns()}
        pairs += [(q, [turns[identity] for identity in q.evidence]) for q in questions if not q.abstention]
    return pairs


def day_of(moment: str | None) -> date:
    """The day of a date of the records."""
    return date.fromisoformat(str(moment)[:10])


def resolve(text: str, today: date) -> date:
    """The day meant by the one spoken day of a text, worked out without the generator."""
    found = list(SPOKEN.finditer(text))
    assert len(found) == 1, text
    part = {name: value for name, value in found[0].groupdict().items() if value}
    number = {word: index for index, word in enumerate(WORDS)} | {"a": 1}
    if "before" in part:
        return today - timedelta(days=2)
    if "yesterday" in part or "tomorrow" in part:
        return today + timedelta(days=1 if "tomorrow" in part else -1)
    for name, days in (("ago", -1), ("weeks", -7), ("ahead", 1), ("weeks_ahead", 7)):
        if name in part:
            return today + timedelta(days=days * number[part[name].lower()])
    if "weekday" in part:
        back = (today.weekday() - WEEKDAYS.index(part["weekday"])) % 7
        assert back > today.weekday(), "both readings of 'last' must agree"
        return today - timedelta(days=back)
    month = MONTHS.index(part.get("month") or part["month2"]) + 1
    day = int(part.get("day") or part["day2"])
    near = (today + timedelta(days=days) for days in range(-60, 61))
    return next(candidate for candidate in near if (candidate.month, candidate.day) == (month, day))


def encoded(options: SyntheticOptions, seed: int, folder: Path) -> bytes:
    pairs = list(generate(options, seed))
    write_jsonl(folder / "histories.jsonl", (history for history, _ in pairs))
    write_jsonl(folder / "questions.jsonl", (question for _, own in pairs for question in own))
    return (folder / "histories.jsonl").read_bytes() + (folder / "questions.jsonl").read_bytes()


def test_two_processes_write_the_same_bytes_for_one_seed_and_others_for_another(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path\n"
        "from memgauge.datasets.synthetic.generate import generate\n"
        "from memgauge.datasets.synthetic.options import SyntheticOptions\n"
        "from memgauge.files import write_jsonl\n"
        "pairs = list(generate(SyntheticOptions(histories=3), 17)); folder = Path(sys.argv[1])\n"
        "write_jsonl(folder / 'histories.jsonl', (h for h, _ in pairs))\n"
        "write_jsonl(folder / 'questions.jsonl', (q for _, own in pairs for q in own))\n"
    )
    for hash_seed in ("1", "2"):
        (tmp_path / hash_seed).mkdir()
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        subprocess.run([sys.executable, "-c", script, str(tmp_path / hash_seed)], check=True, env=environment)
    for name in ("histories.jsonl", "questions.jsonl"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()
    own = encoded(SyntheticOptions(histories=3), 17, tmp_path)
    assert own == b"".join((tmp_path / "1" / name).read_bytes() for name in ("histories.jsonl", "questions.jsonl"))
    assert own != encoded(SyntheticOptions(histories=3), 18, tmp_path)


def test_a_history_does_not_depend_on_how_many_follow_it() -> None:
    few = [(h.sessions, q) for h, q in generate(SyntheticOptions(histories=4), 5)]
    many = [(h.sessions, q) for h, q in generate(SyntheticOptions(histories=9), 5)]
    assert few == many[:4]


def test_sizes_are_the_chosen_ones_and_ids_are_unique(generated: list[Generated]) -> None:
    options = SyntheticOptions()
    for history, questions, _ in generated:
        assert len(history.sessions) == options.sessions_per_history
        assert {len(session.turns) for session in history.sessions} == {options.turns_per_session}
        assert [turn.speaker for turn in history.sessions[0].turns] == ["user", "assistant"] * 5
        assert len(questions) == options.questions_per_history
    turns = [turn.id for history, _, _ in generated for _, turn in history.turns()]
    questions_ids = [question.id for _, questions, _ in generated for question in questions]
    assert len(set(turns)) == len(turns)
    assert len(set(questions_ids)) == len(questions_ids)


def test_every_type_and_abstention_occur_equally_often(generated: list[Generated]) -> None:
    asked = [question for _, questions, _ in generated for question in questions]
    counts = Counter("abstention" if question.abstention else question.type for question in asked)
    assert set(counts) == TYPES | {"abstention"}
    assert set(counts.values()) == {72}  # 42 histories of 12 questions over 7 categories
    assert all(question.id.endswith("_abs") == question.abstention for question in asked)


def test_sessions_ascend_and_questions_come_after_the_last_one(generated: list[Generated]) -> None:
    for history, questions, _ in generated:
        dates = [str(session.date) for session in history.sessions]
        assert dates == sorted(set(dates))
        assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d", moment) for moment in dates)
        assert all(str(question.date) > dates[-1] for question in questions)


def test_evidence_names_turns_in_history_order_spread_over_sessions(generated: list[Generated]) -> None:
    holding = 0
    for history, questions, _ in generated:
        place = {turn.id: number for number, (_, turn) in enumerate(history.turns())}
        session = {turn.id: part.id for part, turn in history.turns()}
        for question in questions:
            positions = [place[identity] for identity in question.evidence]
            assert positions == sorted(set(positions))
            assert bool(positions) != question.abstention
            sessions = {session[identity] for identity in question.evidence}
            if question.type == "multi-session" and not question.abstention:
                assert len(sessions) == len(positions) >= 2
            if question.type.startswith("single-session"):
                assert len(sessions) <= 1
        holding += len({session[identity] for question in questions for identity in question.evidence})
    assert holding / len(generated) > 8  # of 12 sessions


def test_assistant_questions_rest_on_assistant_turns_and_others_on_user_turns(
    generated: list[Generated],
) -> None:
    for history, questions, _ in generated:
        speaker = {turn.id: turn.speaker for _, turn in history.turns()}
        for question in questions:
            expected = "assistant" if question.type == "single-session-assistant" else "user"
            assert {speaker[identity] for identity in question.evidence} <= {expected}


def price(text: str) -> int:
    """The one price of a text, in dollars."""
    (amount,) = re.findall(r"[$](\d+)", text)
    return int(amount)


def worked_out(question: Question, evidence: list[tuple[date, str]]) -> str:
    """The gold recomputed from nothing but the evidence, for answers that no turn states."""
    texts = [text for _, text in evidence]
    gold = question.golds[0]
    if gold in ("Yes", "No"):
        return "No" if re.search(r"no longer|I don't|I used to", texts[-1]) else "Yes"
    if gold.startswith("$"):
        return f"${sum(price(text) for text in texts)}"
    if re.fullmatch(r"\d+ [A-Z][a-z]+ \d{4}", gold):
        return date_golds(resolve(texts[-1], evidence[-1][0]))[0]
    if re.fullmatch(r"\d+ days?", gold):
        days = [resolve(text, today) for today, text in evidence]
        asked = day_of(question.date)
        return days_golds(abs((days[-1] - (days[0] if len(days) == 2 else asked)).days))[0]
    if gold.isdecimal():
        return str(len(texts))
    if gold in ROWS:
        day = {noun: resolve(text, today) for noun in ROWS for today, text in evidence if ROWS[noun][0] in text}
        return min(day, key=lambda noun: day[noun])
    items = re.split(r", | and ", gold)
    assert len(items) == len(texts)
    assert all(item.lower() in text.lower() for item, text in zip(items, texts, strict=True)), (gold, texts)
    return gold


def test_a_gold_stands_in_the_evidence_or_follows_from_it(
    answerable: list[tuple[Question, list[tuple[date, str]]]],
) -> None:
    stated = 0
    for question, evidence in answerable:
        newest = evidence if question.type == "multi-session" else evidence[-1:]
        pattern = re.compile(rf"(?<!\w){re.escape(question.golds[0])}(?!\w)", re.IGNORECASE)
        found = any(pattern.search(text) for _, text in newest)
        counted = question.golds[0].isdecimal() and question.type == "multi-session"
        if found and not counted and question.golds[0] not in ("Yes", "No"):
            stated += 1
        else:
            assert worked_out(question, evidence) == question.golds[0], (question, evidence)
    assert 0.6 < stated / len(answerable) < 0.9


def test_the_dearer_purchase_is_the_gold(answerable: list[tuple[Question, list[tuple[date, str]]]]) -> None:
    checked = 0
    for question, evidence in answerable:
        if not re.search("cost me more|more expensive", question.text):
            continue
        prices = {price(text): text.lower() for _, text in evidence}
        assert question.golds[0] in prices[max(prices)]
        checked += 1
    assert checked > 0


def test_an_appointment_is_moved_before_it_is_over_and_records_only_improve(
    generated: list[Generated],
) -> None:
    moved = 0
    for _, _, facts in generated:
        told = {fact.turn_id: fact for fact in facts}
        for old in facts:
            new = told.get(str(old.superseded_by))
            if old.kind == "appointment" and new is not None:
                assert new.date < min(old.value, new.value)
                moved += 1
            if old.kind in ("record", "collection") and new is not None:
                low, high = sorted((old.value, new.value), key=lambda text: [int(part) for part in text.split(":")])
                assert low != high
                assert new.value == (low if old.kind == "record" else high)
    assert moved > 5


def test_yes_and_no_are_both_frequent(answerable: list[tuple[Question, list[tuple[date, str]]]]) -> None:
    golds = Counter(question.golds[0] for question, _ in answerable)
    assert min(golds["Yes"], golds["No"]) >= 4


def test_questions_do_not_give_their_answer_away(
    answerable: list[tuple[Question, list[tuple[date, str]]]],
) -> None:
    for question, _ in answerable:
        choice = re.search(r"\w+ or ", question.text) and question.golds[0] in question.text
        short = question.golds[0] in ("Yes", "No") or question.golds[0].isdecimal()
        assert choice or short or question.golds[0].lower() not in question.text.lower()


def test_questions_do_not_repeat_the_statement(
    answerable: list[tuple[Question, list[tuple[date, str]]]],
) -> None:
    for question, evidence in answerable:
        asked = re.findall(r"\w+", question.text.lower())
        for _, text in evidence:
            said = " ".join(re.findall(r"\w+", text.lower()))
            runs = [" ".join(asked[start : start + 7]) for start in range(len(asked) - 6)]
            assert not any(run in said for run in runs), (question.text, text)


def test_what_an_abstention_asks_is_never_told_of_the_user(generated: list[Generated]) -> None:
    keys = {key for attribute in LASTING + CHANGING for key in attribute.keys}
    checked = Counter()
    for history, questions, facts in generated:
        own = {fact.key for fact in facts if fact.owner == "user"}
        texts = [turn.text for _, turn in history.turns()]
        for question in (question for question in questions if question.abstention):
            assert question.golds == ()
            nouns = [noun for noun in ROWS if noun in question.text]
            if nouns:
                assert sorted(any(ROWS[noun][0] in text for text in texts) for noun in nouns) == [False, True]
                checked["event"] += 1
                continue
            key = max((key for key in keys if key in question.text), key=len)
            assert key not in own
            naming = [text for text in texts if re.search(rf"\b{key}\b", text)]
            naming = [text for text in naming if not any(key in other != key and other in text for other in keys)]
            assert all(str(question.trap) in text for text in naming), (question, naming)
            assert any(str(question.trap) in text for text in texts)
            checked["told of another" if naming else "sibling key"] += 1
    assert all(checked[kind] >= 5 for kind in ("event", "told of another", "sibling key")), checked


def test_no_key_is_told_of_the_user_by_two_threads(generated: list[Generated]) -> None:
    for _, questions, facts in generated:
        turns: dict[tuple[str, str], set[str]] = {}
        for fact in facts:
            if fact.owner == "user" and fact.kind in {attribute.name for attribute in LASTING + CHANGING}:
                turns.setdefault((fact.kind, fact.key), set()).add(fact.turn_id)
        evidence = [set(question.evidence) for question in questions]
        for told in turns.values():
            assert any(told == own for own in evidence) or len(told) == 1


def test_facts_say_what_their_turn_says_and_what_replaced_it(generated: list[Generated]) -> None:
    replaced = 0
    for history, questions, facts in generated:
        texts = {turn.id: turn.text for _, turn in history.turns()}
        dated = {turn.id: str(session.date)[:10] for session, turn in history.turns()}
        attributes = {attribute.name for attribute in LASTING + CHANGING}
        for fact in facts:
            assert fact.date == dated[fact.turn_id]
            if fact.kind in attributes:
                assert fact.value.lower() in texts[fact.turn_id].lower()
            if fact.superseded_by is not None:
                replaced += 1
                question = next(question for question in questions if fact.turn_id in question.evidence)
                assert question.type == "knowledge-update"
                later = question.evidence[question.evidence.index(fact.turn_id) + 1]
                assert fact.superseded_by == later
    assert replaced > 50


def test_distractors_tell_another_value_of_another_person(generated: list[Generated]) -> None:
    distractors = 0
    for _, _, facts in generated:
        own = {(fact.kind, fact.key): fact.value for fact in facts if fact.owner == "user"}
        for fact in facts:
            if fact.owner.startswith("my ") and (fact.kind, fact.key) in own and fact.value:
                assert fact.value != own[fact.kind, fact.key]
                distractors += 1
    assert distractors > 100


def test_texts_are_clean_and_vary(generated: list[Generated]) -> None:
    texts = [turn.text for history, _, _ in generated for _, turn in history.turns()]
    asked = [question.text for _, questions, _ in generated for question in questions]
    for text in texts + asked:
        assert not re.search(r"[{}]|  |^\s|\s$|\.\.|\bmy my\b|\ba [aeio]", text.lower()), text
        assert text[0].isupper() or text[0].isdigit(), text
    assert len(set(texts)) > 0.93 * len(texts)
    assert len(set(asked)) > 0.7 * len(asked)


@given(st.integers(1, 40), st.integers(1, 6), st.sampled_from([0.1, 0.25, 0.45]), st.integers(0, 2**32))
@settings(max_examples=150, deadline=None)
def test_groups_are_whole_and_every_split_exists(histories: int, size: int, share: float, seed: int) -> None:
    options = SyntheticOptions(histories=histories, group_size=size, val_share=share, test_share=share)
    splits = group_splits(options, seed)
    assert len(splits) == group_count(options) <= histories
    assert len(set(splits)) == min(histories, 3)
    assert "test" in splits
    if histories == 2:
        assert sorted(splits) == ["test", "train"]


def test_no_group_of_a_test_history_is_in_train_and_a_group_shares_its_people() -> None:
    options = SyntheticOptions(histories=12, group_size=3)
    found = list(generate_with_facts(options, 3))
    of_group: dict[str, set[str]] = {}
    people: dict[str, set[str]] = {}
    for history, _, facts in found:
        of_group.setdefault(history.group, set()).add(history.split)
        people.setdefault(history.group, set()).update(f.owner for f in facts if f.owner.startswith("my "))
    assert len(of_group) == 4
    assert all(len(splits) == 1 for splits in of_group.values())
    assert all(len(owners) <= 7 for owners in people.values())  # three histories, one cast


def test_two_small_histories_are_one_for_train_and_one_for_test() -> None:
    options = SyntheticOptions(histories=2, sessions_per_history=2, turns_per_session=4, questions_per_history=1)
    histories = [history for history, _ in generate(options, 17)]
    assert sorted(history.split for history in histories) == ["test", "train"]
    assert sum(len(session.turns) for history in histories for session in history.sessions) == 16


@given(st.integers(2, 9), st.integers(1, 8), st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_a_history_as_full_as_allowed_still_holds_every_fact(sessions: int, exchanges: int, seed: int) -> None:
    most = min(56, sessions * exchanges // 4)
    if most == 0:
        return
    options = SyntheticOptions(
        histories=1,
        sessions_per_history=sessions,
        turns_per_session=2 * exchanges,
        questions_per_history=most,
    )
    ((history, questions, facts),) = generate_with_facts(options, seed)
    told = [fact.turn_id for fact in facts]
    assert len(set(told)) == len(told) <= sessions * exchanges
    assert len(questions) == most
    assert {identity for question in questions for identity in question.evidence} <= {
        turn.id for _, turn in history.turns()
    }


def test_the_most_questions_never_use_up_the_vocabulary() -> None:
    options = SyntheticOptions(histories=60, sessions_per_history=60, questions_per_history=56)
    assert all(len(questions) == 56 for _, questions in generate(options, 23))


def test_memory_holds_one_history_at_a_time() -> None:
    def peak(histories: int) -> int:
        tracemalloc.start()
        for _ in generate(SyntheticOptions(histories=histories), 1):
            pass
        highest = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return highest

    peak(2)
    assert peak(48) < 2 * peak(4)


def test_read_gives_back_what_was_written(tmp_path: Path) -> None:
    pairs = list(generate(SyntheticOptions(histories=3), 17))
    encoded(SyntheticOptions(histories=3), 17, tmp_path)
    quirks: Counter[str] = Counter()
    assert list(read(tmp_path, quirks)) == pairs
    assert not quirks


def test_read_refuses_a_question_without_history(tmp_path: Path) -> None:
    encoded(SyntheticOptions(histories=3), 17, tmp_path)
    lines = (tmp_path / "histories.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "histories.jsonl").write_text("".join(lines[1:]))
    with pytest.raises(InputError, match="synthetic-00000-q1"):
        list(read(tmp_path, Counter()))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"histories": 0}, "histories is 0"),
        ({"histories": True}, "histories is True"),
        ({"histories": 2.5}, "histories is 2.5"),
        ({"sessions_per_history": 1}, "sessions_per_history is 1"),
        ({"turns_per_session": 5}, "must be even"),
        ({"questions_per_history": 16}, "more than the 15"),
        ({"sessions_per_history": 1000, "questions_per_history": 57}, "more than the 56"),
        ({"filler": "huge"}, "unknown filler 'huge'"),
        ({"test_share": 0.0}, "test_share is 0.0"),
        ({"val_share": float("nan")}, "val_share is nan"),
        ({"val_share": 0.5, "test_share": 0.5}, "add up to 1.0"),
        ({"group_size": 0}, "group_size is 0"),
    ],
)
def test_wrong_options_are_refused_by_name(change: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        dataclasses.replace(SyntheticOptions(), **change)


def test_longer_filler_makes_longer_replies() -> None:
    def characters(filler: str) -> int:
        pairs = generate(SyntheticOptions(histories=2, filler=filler), 1)
        return sum(len(turn.text) for history, _ in pairs for _, turn in history.turns())

    assert 1.3 * characters("short") < 1.15 * characters("medium") < characters("long")


def test_habits_and_tallies_have_a_wording_for_every_row() -> None:
    assert all(key and said and asked for key, said, asked in HABITS)
    for items, told, nearly, others, _ in wording_events.TALLIES.values():
        assert len(items) >= 6  # four that count, one that came to nothing, one of somebody else
        assert all("{i}" in template for template in (*told, nearly, others))
        assert "{p}" in others
