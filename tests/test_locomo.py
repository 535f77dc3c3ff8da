"""What the LoCoMo reader promises: the published facts, repaired evidence, and no leak of search strings."""

import json
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from memgauge.datasets.describe import describe
from memgauge.datasets.locomo import RawQuestion, RawSample, read, split_evidence
from memgauge.errors import InputError
from memgauge.records import Session, Turn
from memgauge.text.render import render_turns
from memgauge.text.tokens import count_tokens


@pytest.fixture(scope="module")
def locomo(real_data):
    quirks: Counter[str] = Counter()
    return tuple(read(real_data, quirks)), quirks


@pytest.fixture(scope="module")
def questions(locomo):
    return {question.id: question for _, asked in locomo[0] for question in asked}


def tiny(**changes: Any) -> list[dict[str, Any]]:
    qa = {"question": "Who?", "answer": "Ann", "category": 4, "evidence": ["D1:1"], **changes}
    turn = {"speaker": "Ann", "dia_id": "D1:1", "text": "Hi", "query": "CANARY", "blip_caption": "a cat"}
    conversation = {
        "speaker_a": "Ann",
        "session_10": [{**turn, "dia_id": "D10:1"}],
        "session_10_date_time": "9:05 am on 1 June, 2023",
        "session_2": [turn],
        "session_2_date_time": "1:56 pm on 8 May, 2023",
        "session_3_date_time": "1:56 pm on 9 May, 2023",
    }
    return [{"sample_id": "c", "conversation": conversation, "qa": [qa]}]


def load(folder: Path, value: Any) -> tuple[Any, Counter[str]]:
    (folder / "locomo10.json").write_text(json.dumps(value), "utf-8")
    quirks: Counter[str] = Counter()
    return list(read(folder, quirks)), quirks


def test_counts_per_category_follow_the_scorer_not_the_paper(questions):
    assert len(questions) == 1986
    assert Counter(question.type for question in questions.values()) == {
        "multi-hop": 282,
        "temporal": 321,
        "open-domain": 96,
        "single-hop": 841,
        "adversarial": 446,
    }


def test_test_split_is_paper_bs_314_questions(locomo):
    test = [q.type for history, asked in locomo[0] if history.split == "test" for q in asked if not q.abstention]
    assert Counter(test) == {"temporal": 65, "open-domain": 20, "multi-hop": 69, "single-hop": 160}
    train = [history.id for history, _ in locomo[0] if history.split == "train"]
    assert train == [f"conv-{number}" for number in (26, 30, 41, 42, 43, 44, 47, 48)]
    assert sum(not q.abstention for h, asked in locomo[0] if h.split == "train" for q in asked) == 1226


def test_sizes_and_tokens_are_the_published_ones(locomo, models):
    numbers = describe("locomo", locomo[0], locomo[1])
    expected = {"histories": 10, "sessions": 272, "turns": 5882, "turns_with_caption": 1226, "tokens": 181095}
    assert {key: numbers[key] for key in expected} == expected
    assert numbers["questions"] == 1986
    assert numbers["answerable"] == 1540
    assert numbers["questions_without_evidence"] == 4
    assert numbers["evidence_unresolved"] == 3


def test_session_counts_and_chronology(locomo):
    first = locomo[0][0][0]
    assert first.id == first.group == "conv-26"
    assert [session.id for session in first.sessions] == [f"session_{n}" for n in range(1, 20)]
    for history, _ in locomo[0]:
        dates = [session.date for session in history.sessions]
        assert None not in dates
        assert dates == sorted(dates)
    assert first.sessions[0].date == "2023-05-08T13:56"


def test_every_conversation_fits_32k_with_one_date_per_session(locomo):
    assert max(count_tokens(render_turns(history.turns())) for history, _ in locomo[0]) <= 32000


def test_the_longest_conversation_in_the_two_published_renderings(locomo):
    """Each session's own date line and `speaker: text`; with captions and without dates."""

    def longest(render: Callable[[Session], list[str]]) -> int:
        texts = ("\n".join(line for each in history.sessions for line in render(each)) for history, _ in locomo[0])
        return max(count_tokens(text) for text in texts)

    def shared(turn: Turn) -> str:
        return f"{turn.speaker}: {turn.text}" + (f" [shares {turn.caption}]" if turn.caption else "")

    def dated(session: Session) -> list[str]:
        return [stamp(session.date), *(f"{turn.speaker}: {turn.text}" for turn in session.turns)]

    assert longest(dated) == 21_787
    assert longest(lambda session: [shared(turn) for turn in session.turns]) == 23_406


def stamp(date: str | None) -> str:
    """As the file writes it: 1:56 pm on 8 May, 2023."""
    found = datetime.fromisoformat(date or "")
    clock = f"{found:%I:%M} {found:%p}".lower().lstrip("0")
    return f"{clock} on {found.day} {found:%B}, {found.year}"


def test_turn_ids_are_sequential_within_their_session(locomo):
    for history, _ in locomo[0]:
        for session in history.sessions:
            number = session.id.removeprefix("session_")
            assert [turn.id for turn in session.turns] == [f"D{number}:{n}" for n in range(1, len(session.turns) + 1)]


def test_the_repeated_questions_are_conv_48s_of_category_4(locomo):
    seen, repeated = set(), []
    for _, asked in locomo[0]:
        for question in asked:
            key = (question.history_id, question.text, question.golds)
            repeated += [question] * (key in seen)
            seen.add(key)
    assert len(repeated) == 11
    assert {(each.history_id, each.type) for each in repeated} == {("conv-48", "single-hop")}


def test_nine_evidence_strings_name_no_turn_by_exact_match(real_data):
    unknown = 0
    for sample in json.loads((real_data / "locomo10.json").read_text(encoding="utf-8")):
        turns = [turn for value in sample["conversation"].values() if isinstance(value, list) for turn in value]
        known = {turn["dia_id"] for turn in turns}
        unknown += sum(text not in known for asked in sample["qa"] for text in asked["evidence"])
    assert unknown == 9


def test_oddities_are_counted_by_name(locomo):
    assert dict(+locomo[1]) == {
        "captions_without_picture_address": 316,
        "dates_without_session": 16,
        "questions_repeated": 11,
        "evidence_strings_not_a_turn_id": 9,
        "answers_not_text": 6,
        "evidence_unresolved": 3,
        "adversarial_with_answer": 2,
        "evidence_repeated": 1,
    }


@pytest.mark.parametrize(
    ("name", "evidence", "unresolved"),
    [
        ("conv-26-q37", ("D8:6", "D9:17"), ()),
        ("conv-49-q31", ("D4:4", "D4:6", "D9:1"), ()),
        ("conv-49-q38", ("D9:10", "D9:11", "D22:1", "D22:2"), ()),
        ("conv-49-q46", ("D11:15", "D11:19", "D21:18", "D21:22"), ()),
        ("conv-50-q69", ("D30:5",), ()),
        ("conv-50-q5", ("D4:5", "D5:5"), ()),
        ("conv-42-q58", None, ("D10:19",)),
        ("conv-47-q38", None, ("D4:36",)),
        ("conv-42-q88", None, ("D",)),
    ],
)
def test_known_evidence_strings_are_repaired_or_stay_unresolved(questions, name, evidence, unresolved):
    assert questions[name].unresolved == unresolved
    if evidence is None:
        assert questions[name].evidence  # the other ids of that question do resolve
    else:
        assert questions[name].evidence == evidence


def test_colon_after_the_letter_is_dropped(questions):
    assert "D11:26" in questions["conv-43-q18"].evidence


def test_repair_turns_2815_strings_into_2824_ids(real_data):
    samples = json.loads((real_data / "locomo10.json").read_text("utf-8"))
    strings = [string for sample in samples for item in sample["qa"] for string in item["evidence"]]
    assert len(strings) == 2815
    assert len(split_evidence(strings)) == 2824


def test_exactly_four_questions_have_no_evidence(questions):
    without = [question.id for question in questions.values() if not question.evidence]
    assert without == ["conv-26-q30", "conv-26-q46", "conv-50-q39", "conv-50-q42"]
    assert max(len(question.evidence) for question in questions.values()) == 19


def test_integer_answers_become_text(questions):
    golds = {f"conv-26-q{n}": questions[f"conv-26-q{n}"].golds for n in (1, 26, 49, 72, 40, 75)}
    assert [value for (value,) in golds.values()] == ["2022", "2022", "2022", "2022", "2", "3"]


def test_adversarial_questions_have_a_trap_and_no_gold(questions):
    adversarial = [question for question in questions.values() if question.type == "adversarial"]
    assert all(q.abstention and q.golds == () and q.trap for q in adversarial)
    assert all(q.golds and not q.abstention for q in questions.values() if q.type != "adversarial")
    assert questions["conv-26-q167"].golds == ()  # one of the two that carry the answer "No"
    assert all(gold != "None" for question in questions.values() for gold in question.golds)


def test_open_domain_golds_keep_their_explanation(questions):
    assert sum(";" in q.golds[0] for q in questions.values() if q.type == "open-domain") == 11


def test_no_search_string_can_reach_a_turn(real_data, locomo, tmp_path):
    assert "query" not in {name for kind in (RawSample, RawQuestion) for name in kind.__struct_fields__}
    pairs, _ = load(tmp_path, tiny())
    assert "CANARY" not in repr(pairs)
    samples = json.loads((real_data / "locomo10.json").read_text("utf-8"))
    for sample, (history, _) in zip(samples, locomo[0], strict=True):
        published = {
            turn["dia_id"]: (turn["text"], turn.get("blip_caption"))
            for key, turns in sample["conversation"].items()
            if isinstance(turns, list)
            for turn in turns
        }
        assert {turn.id: (turn.text, turn.caption) for _, turn in history.turns()} == published


def test_sessions_sort_by_number_and_absent_sessions_are_not_made_up(tmp_path):
    [(history, _)], quirks = load(tmp_path, tiny())
    assert [session.id for session in history.sessions] == ["session_2", "session_10"]
    assert quirks["dates_without_session"] == 1
    assert quirks["file_not_the_pinned_one"] == 1


def test_adversarial_question_without_answer_loads(tmp_path):
    changed = tiny(category=5, adversarial_answer="a dog")
    del changed[0]["qa"][0]["answer"]
    [(_, (question,))], _ = load(tmp_path, changed)
    assert (question.abstention, question.golds, question.trap) == (True, (), "a dog")


def test_lone_surrogates_become_the_replacement_character(tmp_path):
    [(_, (question,))], quirks = load(tmp_path, tiny(answer="a\ud83d"))
    assert question.golds == ("a\ufffd",)
    assert quirks["lone_surrogates_replaced"] == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda v: v[0].pop("qa"), ["record 0", "`qa`"]),
        (lambda v: v[0]["qa"][0].update(category="4"), ["record 0", "$.qa[0].category"]),
        (lambda v: v[0]["qa"][0].update(category=6), ["c-q0", "category 6"]),
        (lambda v: v[0]["qa"][0].pop("answer"), ["c-q0", "`answer`"]),
        (lambda v: v[0]["qa"][0].update(answer=float("nan")), ["NaN is not a JSON value"]),
        (lambda v: v[0]["conversation"]["session_2"][0].pop("text"), ["session_2", "`text`"]),
        (lambda v: v[0]["conversation"].update(session_2="x"), ["session_2", "array"]),
        (lambda v: v[0]["conversation"].update(session_2_date_time="May"), ["session_2_date_time", "'May'"]),
    ],
)
def test_malformed_records_give_one_error_with_file_record_and_field(tmp_path, change, words):
    value = tiny()
    change(value)
    with pytest.raises(InputError) as caught:
        load(tmp_path, value)
    assert all(word in str(caught.value) for word in ["locomo10.json", *words])


@pytest.mark.parametrize("content", [b"[{", b"{}", b"\xff\xfe", b"", b"[" * 100_000, b"[NaN]"])
def test_files_that_are_no_list_of_json_are_refused(tmp_path, content):
    (tmp_path / "locomo10.json").write_bytes(content)
    with pytest.raises(InputError, match=r"locomo10\.json"):
        list(read(tmp_path, Counter()))


def test_absent_file_and_unknown_option_are_input_errors(tmp_path):
    with pytest.raises(InputError, match="cannot read"):
        list(read(tmp_path, Counter()))
    with pytest.raises(InputError, match=r"benchmark\.locomo\.source.*options are file"):
        read(tmp_path, Counter(), categories=[1])
