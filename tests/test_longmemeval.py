"""What the LongMemEval reader promises: official schema, chronology, abstention by id, and little memory."""

import io
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from memgauge.datasets.longmemeval import read, split_of
from memgauge.datasets.raw import RepairedStream
from memgauge.errors import InputError
from memgauge.text.tokens import count_many


def turn(role: str, content: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


def instance(**changes: Any) -> dict[str, Any]:
    return {
        "question_id": "q1",
        "question_type": "multi-session",
        "question": "How many?",
        "answer": 15,
        "question_date": "2023/05/20 (Sat) 10:00",
        "haystack_dates": ["2023/05/09 (Tue) 13:32", "2023/05/09 (Tue) 02:26", "2023/05/30 (Tue) 01:00"],
        "haystack_session_ids": ["a", "b", "a"],
        "haystack_sessions": [
            [turn("user", "late", has_answer=True), turn("assistant", "ok", has_answer=False)],
            [turn("user", "early")],
            [turn("user", "future", has_answer=True)],
        ],
        "answer_session_ids": ["a"],
        **changes,
    }


def load(folder: Path, *instances: dict[str, Any], **options: Any) -> tuple[list[Any], Counter[str]]:
    (folder / "longmemeval_x.json").write_text(json.dumps(instances), "utf-8")
    quirks: Counter[str] = Counter()
    return list(read(folder, quirks, **options)), quirks


def test_sample_has_the_published_sizes_and_evidence(real_data, models):
    quirks: Counter[str] = Counter()
    pairs = list(read(real_data, quirks))
    facts = {}
    for history, (question,) in pairs:
        turns = list(history.turns())
        texts = [item.text for _, item in turns]
        gold = [(s.id, s.turns.index(item)) for s, item in turns if item.id in question.evidence]
        facts[history.id] = (len(history.sessions), len(turns), sum(count_many(texts)), gold)
    assert facts == {
        "852ce960": (39, 396, 102763, [("answer_3a6f1e82_1", 2), ("answer_3a6f1e82_2", 0)]),
        "ba358f49": (41, 409, 103173, [("answer_cbd08e3c_1", 0), ("answer_cbd08e3c_2", 2)]),
        "6a1eabeb": (40, 413, 102642, [("answer_a25d4a91_1", 4), ("answer_a25d4a91_2", 0)]),
    }
    assert dict(+quirks) == {"haystacks_out_of_date_order": 2}


def test_sample_is_in_clock_order_and_keeps_the_question_date(real_data):
    for history, (question,) in read(real_data, Counter()):
        dates = [session.date for session in history.sessions]
        assert dates == sorted(dates)
        assert question.date >= dates[-1]
        assert question.history_id == history.id == history.group == question.id


def test_another_file_of_the_folder_is_chosen_by_option(real_data):
    quirks: Counter[str] = Counter()
    assert len(list(read(real_data, quirks, file="longmemeval_extra_oracle.json"))) == 12
    assert quirks["answerable_questions_without_user_evidence"] == 7


def test_date_id_and_session_are_sorted_together(tmp_path):
    [(history, (question,))], quirks = load(tmp_path, instance())
    assert [(s.date, s.id, s.turns[0].text) for s in history.sessions] == [
        ("2023-05-09T02:26", "b", "early"),
        ("2023-05-09T13:32", "a", "late"),
        ("2023-05-30T01:00", "a", "future"),
    ]
    assert question.evidence == ("s0t0", "s2t0")
    assert question.date == "2023-05-20T10:00"
    assert quirks["session_ids_repeated"] == 1


def test_equal_times_keep_file_order(tmp_path):
    same = ["2023/05/09 (Tue) 13:32"] * 3
    [(history, _)], quirks = load(tmp_path, instance(haystack_dates=same))
    assert [session.turns[0].text for session in history.sessions] == ["late", "early", "future"]
    assert quirks["haystacks_out_of_date_order"] == 0


def test_turn_ids_stay_distinct_when_a_session_occurs_twice(tmp_path):
    [(history, _)], _ = load(tmp_path, instance(haystack_session_ids=["a", "a", "a"]))
    ids = [item.id for _, item in history.turns()]
    assert len(set(ids)) == len(ids) == 4


def test_integer_answer_becomes_text_and_missing_mark_means_false(tmp_path):
    [(_, (question,))], quirks = load(tmp_path, instance())
    assert question.golds == ("15",)
    assert "s1t0" not in question.evidence
    assert quirks["answers_not_text"] == 1


def test_empty_session_is_skipped_and_counted(tmp_path):
    changed = instance()
    changed["haystack_sessions"][1] = []
    [(history, _)], quirks = load(tmp_path, changed)
    assert len(history.sessions) == 2
    assert quirks["sessions_empty"] == 1


def test_abstention_is_read_from_the_id(tmp_path):
    text = "You did not mention X."
    [(_, (question,))], _ = load(tmp_path, instance(question_id="q1_abs", answer=text))
    assert (question.abstention, question.golds, question.rubric) == (True, (), (text,))
    assert question.type == "multi-session"


def test_questions_without_user_evidence_are_counted_apart_from_abstention(tmp_path):
    by_assistant = [
        [turn("user", "x"), turn("assistant", "y", has_answer=True)],
        [turn("user", "z")],
        [turn("user", "z")],
    ]
    nothing = [[turn("user", "x")], [turn("user", "x")], [turn("user", "x")]]
    _, quirks = load(
        tmp_path,
        instance(),
        instance(question_id="q2", haystack_sessions=by_assistant),
        instance(question_id="q3", haystack_sessions=nothing),
        instance(question_id="q4_abs", haystack_sessions=nothing),
    )
    assert quirks["answerable_questions_without_user_evidence"] == 2
    assert quirks["abstention_questions"] == 1


def test_sessions_after_the_question_are_kept_and_counted_by_default(tmp_path):
    [(history, _)], quirks = load(tmp_path, instance())
    assert len(history.sessions) == 3
    assert (quirks["sessions_after_question"], quirks["questions_before_some_session"]) == (1, 1)


def test_as_of_hides_later_sessions_and_lists_the_question(tmp_path):
    [(history, (question,))], quirks = load(tmp_path, instance(), as_of=True)
    assert [session.date for session in history.sessions] == ["2023-05-09T02:26", "2023-05-09T13:32"]
    assert (question.evidence, question.unresolved) == (("s0t0",), ("s2t0",))
    assert quirks["questions_with_evidence_hidden_by_as_of"] == 1
    assert quirks["evidence_hidden_by_as_of: q1"] == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"haystack_dates": ["2023/05/09 (Tue) 13:32"]}, ["differ in length"]),
        ({"haystack_dates": ["x"] * 3}, ["haystack_dates[0]", "'x'"]),
        ({"question": 3}, ["$.question", "`str`"]),
        ({"haystack_sessions": [[{"role": "user"}], [], []]}, ["`content`", "$.haystack_sessions[0][0]"]),
    ],
)
def test_malformed_instances_name_file_record_and_field(tmp_path, change, words):
    with pytest.raises(InputError) as caught:
        load(tmp_path, instance(), instance(**change))
    assert all(word in str(caught.value) for word in ["longmemeval_x.json record 1", *words])


def test_broken_json_and_ambiguous_folder_are_input_errors(tmp_path):
    (tmp_path / "longmemeval_a.json").write_bytes(b'[{"question_id": ')
    with pytest.raises(InputError, match="not valid JSON"):
        list(read(tmp_path, Counter()))
    (tmp_path / "longmemeval_a.json").write_bytes(b"{}")
    with pytest.raises(InputError, match="not a list of instances"):
        list(read(tmp_path, Counter()))
    (tmp_path / "longmemeval_b.json").write_bytes(b"[]")
    with pytest.raises(InputError, match=r"longmemeval_a\.json, longmemeval_b\.json"):
        read(tmp_path, Counter())


@pytest.mark.parametrize(
    ("text", "expected", "count"),
    [
        ("a\ud83d", "a\ufffd", 1),
        ("\ude00b", "\ufffdb", 1),
        ("\ud83d\ud83d\ude00", "\ufffd\U0001f600", 1),
        ("\ude00\ud83d", "\ufffd\ufffd", 2),
        ("\U0001f600\n", "\U0001f600\n", 0),
        ("\\ud83d", "\\ud83d", 0),
        ("\\\ud83d\\", "\\\ufffd\\", 1),
        ("\ufffd \ud7ff \ue000", "\ufffd \ud7ff \ue000", 0),
    ],
)
def test_lone_surrogates_become_the_replacement_character(tmp_path, text, expected, count):
    [(_, (question,))], quirks = load(tmp_path, instance(question=text))
    assert question.text == expected
    assert quirks["lone_surrogates_replaced"] == count
    for size in range(1, 16):  # wherever a read cuts the escapes
        found: Counter[str] = Counter()
        stream = RepairedStream(io.BytesIO(json.dumps(text).encode()), found)
        content = b"".join(iter(lambda stream=stream, size=size: stream.read(size), b""))
        assert (json.loads(content), found["lone_surrogates_replaced"]) == (expected, count)


def test_byte_order_mark_is_ignored(tmp_path):
    text = json.dumps([instance()])
    (tmp_path / "longmemeval_x.json").write_text("\ufeff" + text, "utf-8")
    assert len(list(read(tmp_path, Counter()))) == 1


def test_split_is_a_frozen_function_of_the_id():
    counts = Counter(split_of(f"id-{number}") for number in range(1000))
    assert split_of("852ce960") == split_of("852ce960") == "test"
    assert 150 < counts["train"] < 250
    assert 60 < counts["val"] < 140


PEAK = """
import resource, sys
from collections import Counter
from pathlib import Path
from memgauge.datasets.longmemeval import read
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
turns = sum(1 for history, _ in read(Path(sys.argv[1]), Counter()) for _ in history.turns())
print(turns, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def test_memory_does_not_grow_with_the_file(tmp_path):
    """150 MB in 150 instances must be read within 60 MB: the peak is set by one instance, not by the file."""
    sessions = [[turn("user", "word " * 2000) for _ in range(5)] for _ in range(20)]
    one = instance(
        haystack_sessions=sessions,
        haystack_dates=["2023/05/09 (Tue) 13:32"] * 20,
        haystack_session_ids=[str(number) for number in range(20)],
    )
    block = json.dumps(one)
    with (tmp_path / "longmemeval_big.json").open("w") as stream:
        stream.write("[" + block)
        for _ in range(149):
            stream.write("," + block)
        stream.write("]")
    assert (tmp_path / "longmemeval_big.json").stat().st_size > 150_000_000
    output = subprocess.run([sys.executable, "-c", PEAK, str(tmp_path)], capture_output=True, text=True, check=True)
    turns, megabytes = map(int, output.stdout.split())
    assert turns == 150 * 100
    assert megabytes < 60
