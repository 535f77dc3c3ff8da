"""What the BEAM reader promises: the published counts and ids, dated messages, safe question files."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from memgauge.datasets import raw
from memgauge.datasets.beam import GOLD_FIELDS, gold_text, parse_questions, read
from memgauge.errors import InputError

ABILITIES = (
    "abstention",
    "contradiction_resolution",
    "event_ordering",
    "information_extraction",
    "instruction_following",
    "knowledge_update",
    "multi_session_reasoning",
    "preference_following",
    "summarization",
    "temporal_reasoning",
)


@pytest.fixture(scope="module")
def beam(real_data):
    quirks: Counter[str] = Counter()
    return {history.id: (history, questions) for history, questions in read(real_data, quirks)}, quirks


@pytest.fixture(scope="module")
def questions(beam):
    return {question.id: question for _, asked in beam[0].values() for question in asked}


def message(number: int, content: str = "hello", **more: Any) -> dict[str, Any]:
    return {"role": "assistant" if number % 2 else "user", "id": number, "content": content, **more}


def batch(number: int, *groups: list[dict[str, Any]]) -> dict[str, Any]:
    return {"batch_number": number, "turns": list(groups), "time_anchor": None}


CHAT = [
    batch(1, [message(0, "Hi ->-> 1,1", time_anchor="March-15-2024"), message(1)], [message(2), message(3)]),
    batch(2, [message(4, time_anchor="April-01-2024"), message(5)]),
]
QUESTION = {"question": "What's it?", "answer": "x", "rubric": ["x"], "source_chat_ids": [4, 0]}


def load(
    folder: Path,
    chat: Any = CHAT,
    asked: Any = None,
    tier: str = "100K",
    text: str | None = None,
    **options: Any,
) -> tuple[list[Any], Counter[str]]:
    place = folder / "chats" / tier / "7"
    (place / "probing_questions").mkdir(parents=True, exist_ok=True)
    (place / "chat.json").write_text(json.dumps(chat), "utf-8")
    table = asked if asked is not None else {"information_extraction": [QUESTION]}
    stored = text if text is not None else json.dumps(table)
    (place / "probing_questions" / "probing_questions.json").write_text(stored, "utf-8")
    quirks: Counter[str] = Counter()
    return list(read(folder, quirks, tiers=[tier], **options)), quirks


def test_1100_questions_two_per_ability_per_chat(beam, questions):
    assert len(questions) == 1100
    assert sum("100K" in name for name in questions) == 400
    assert Counter(q.type for q in questions.values()) == dict.fromkeys(ABILITIES, 110)
    assert sum(q.abstention for q in questions.values()) == 110
    for _, asked in beam[0].values():
        assert [q.type for q in asked] == [ability for ability in ABILITIES for _ in range(2)]


def test_question_ids_count_through_the_file(questions):
    assert questions["beam-100K-01-q00"].text.startswith("How did the user feedback influence the UI/UX")
    assert questions["beam-500K-22-q18"].type == "temporal_reasoning"
    assert "30 months" in questions["beam-500K-22-q18"].golds[0]
    assert any("33 months" in item for item in questions["beam-500K-22-q18"].rubric)
    assert questions["beam-500K-11-q06"].text == "Where did I say I live?"
    assert questions["beam-500K-27-q09"].text == "When is the farewell barbecue happening?"


def test_3010_rubric_criteria(questions):
    sizes = [len(question.rubric) for question in questions.values()]
    assert (sum(sizes), min(sizes), max(sizes)) == (3010, 1, 13)


def test_every_question_has_a_gold_and_abstention_has_none_to_score(real_data, questions):
    golds = []
    for path in sorted((real_data / "beam" / "chats").glob("*/*/probing_questions/probing_questions.json")):
        for items in json.loads(path.read_text("utf-8")).values():
            golds += [gold_text(item, str(path), Counter()) for item in items]
    assert len(golds) == 1100
    assert all(golds)
    assert all(bool(q.golds) != q.abstention for q in questions.values())


def test_all_source_ids_lie_in_the_chat_and_116_questions_have_none(beam, questions):
    assert sum(len(q.unresolved) for q in questions.values()) == 0
    without = sorted(q.id for q in questions.values() if not q.evidence)
    assert len(without) == 116
    assert [name for name in without if not questions[name].abstention] == [
        "beam-100K-09-q15",
        "beam-100K-18-q16",
        "beam-100K-18-q17",
        "beam-100K-20-q16",
        "beam-100K-20-q17",
        "beam-500K-01-q10",
    ]
    # 3,810 published ids, 36 of them repeats within one question
    assert sum(len(q.evidence) for q in questions.values()) + beam[1]["evidence_repeated"] == 3810
    assert beam[1]["evidence_repeated"] == 36


def test_first_chat_has_188_messages_in_three_dated_batches(beam):
    history, _ = beam[0]["beam-100K-01"]
    assert len(history.sessions) == 3
    assert [turn.id for _, turn in history.turns()] == [str(number) for number in range(188)]
    assert history.sessions[0].date == "2024-03-15"
    assert all(session.date for other, _ in beam[0].values() for session in other.sessions)


def test_roles_alternate_and_turn_counts_match_the_readme(real_data):
    sizes: dict[str, list[int]] = {"100K": [], "500K": []}
    for history, _ in read(real_data, Counter(), chat_file="chat.json"):
        speakers = [turn.speaker for _, turn in history.turns()]
        assert speakers == ["user", "assistant"] * (len(speakers) // 2)
        sizes[history.id.split("-")[1]].append(speakers.count("user"))
    assert [round(sum(found) / len(found), 1) for found in sizes.values()] == [143.3, 543.7]


def test_exchanges_a_chat_match_the_readme(real_data):
    """An exchange is one inner list of a batch of the full chat; 106.4 and 415.4 a chat, the first one rounded up."""
    totals = []
    for tier in ("100K", "500K"):
        files = sorted((real_data / "beam" / "chats" / tier).glob("*/chat.json.gz"))
        chats = [json.loads(gzip.decompress(file.read_bytes())) for file in files]
        totals.append((sum(len(batch["turns"]) for chat in chats for batch in chat), len(chats)))
    assert totals == [(2_127, 20), (14_538, 35)]


def test_truncated_chat_is_read_where_it_exists(real_data, beam):
    whole = {history.id: history for history, _ in read(real_data, Counter(), tiers=["100K"], chat_file="chat.json")}
    shorter = [
        name.removeprefix("beam-100K-")
        for name, history in whole.items()
        if sum(1 for _ in history.turns()) > sum(1 for _ in beam[0][name][0].turns())
    ]
    assert shorter == ["05", "07", "10", "11", "12", "16", "17", "18", "19", "20"]


def test_groups_are_20_and_33_with_three_chats_sharing_one(beam):
    groups = {name: history.group for name, (history, _) in beam[0].items()}
    assert len({group for name, group in groups.items() if "100K" in name}) == 20
    assert len({group for name, group in groups.items() if "500K" in name}) == 33
    assert groups["beam-500K-02"] == groups["beam-500K-03"] == groups["beam-500K-04"]


def test_another_group_file_is_read_by_option(tmp_path):
    (tmp_path / "groups.tsv").write_text("# mine\nbeam-100K-07\tshared\n")
    [(history, _)], _ = load(tmp_path, groups=str(tmp_path / "groups.tsv"))
    assert history.group == "shared"


def test_every_message_gets_its_batchs_date_and_evidence_is_in_history_order(tmp_path):
    [(history, (question,))], _ = load(tmp_path)
    assert [(s.date, [t.id for t in s.turns]) for s in history.sessions] == [
        ("2024-03-15", ["0", "1", "2", "3"]),
        ("2024-04-01", ["4", "5"]),
    ]
    assert question.id == "beam-100K-07-q00"
    assert question.evidence == ("0", "4")
    assert history.split == "test"


@pytest.mark.parametrize(
    ("content", "kept"),
    [
        ("Hi ->-> 1,1", "Hi"),
        ("Hi ->-> 8,N/A", "Hi"),
        ("Hi ->->  3,8", "Hi"),
        ("Hi ->-> 2,22, 24", "Hi"),
        ("Hi ->-> 1,5)", "Hi"),
        ("Hi ->-> 7,(no bullet) and more", "Hi ->-> 7,(no bullet) and more"),
        ("a ->-> 1,1 b", "a ->-> 1,1 b"),
    ],
)
def test_markers_at_the_end_are_stripped_unless_told_otherwise(tmp_path, content, kept):
    chat = [batch(1, [message(0, content, time_anchor="March-15-2024"), message(1)])]
    [(history, _)], quirks = load(tmp_path, chat)
    assert history.sessions[0].turns[0].text == kept
    assert quirks["markers_stripped"] == (content != kept)
    [(history, _)], _ = load(tmp_path, chat, strip_markers=False)
    assert history.sessions[0].turns[0].text == content


@pytest.mark.parametrize(
    ("source", "evidence", "unresolved"),
    [
        (None, (), ()),
        ([], (), ()),
        ([4, 0, 4], ("0", "4"), ()),
        ([[5], 1, [2, 3]], ("1", "2", "3", "5"), ()),
        ({"original_info": [5], "updated_info": []}, ("5",), ()),
        ({"first_event": [99], "second_event": [0]}, ("0",), ("99",)),
    ],
)
def test_source_ids_of_every_shape(tmp_path, source, evidence, unresolved):
    asked = {"knowledge_update": [{**QUESTION, "source_chat_ids": source, "conversation_sessions": "3"}]}
    [(_, (question,))], _ = load(tmp_path, asked=asked)
    assert (question.evidence, question.unresolved) == (evidence, unresolved)


@pytest.mark.parametrize("name", GOLD_FIELDS)
def test_five_names_of_the_gold(name):
    assert gold_text({"question": "?", name: "g"}, "x", Counter()) == "g"


def test_ten_million_tier_keys_are_plan_batch_id_and_partners_may_lack(tmp_path):
    first = batch(1, [message(0, time_anchor="March-15-2024"), message(1)])
    chat = [
        {"plan-1": [first]},
        {"plan-2": [batch(1, [message(0, time_anchor="May-02-2024")], [message(9)])]},
    ]
    asked = {"event_ordering": [{**QUESTION, "source_chat_ids": [9, 0, 1]}]}
    [(history, (question,))], quirks = load(tmp_path, chat, asked, tier="10M")
    assert [turn.id for _, turn in history.turns()] == [
        "plan-1/1/0",
        "plan-1/1/1",
        "plan-2/1/0",
        "plan-2/1/9",
    ]
    assert [session.date for session in history.sessions] == ["2024-03-15", "2024-05-02"]
    assert question.evidence == ("plan-1/1/1", "plan-2/1/9")
    assert question.unresolved == ("0",)  # two messages carry that id: no guess
    assert quirks["messages_without_partner"] == 2


def test_python_literals_load_and_code_is_rejected(tmp_path):
    [(_, (question,))], quirks = load(tmp_path, text=repr({"information_extraction": [QUESTION]}))
    assert question.text == "What's it?"
    assert quirks["question_files_as_python_literal"] == 1
    with pytest.raises(InputError, match="not valid JSON"):
        parse_questions("__import__('os')", "x", Counter())
    with pytest.raises(InputError, match="not valid JSON"):
        load(tmp_path, text="{'abstention': [open('x')]}")


def test_gzipped_and_plain_chats_read_alike(tmp_path):
    plain, _ = load(tmp_path)
    path = tmp_path / "chats" / "100K" / "7" / "chat.json"
    path.with_name("chat.json.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    assert list(read(tmp_path, Counter(), tiers=["100K"])) == plain
    path.with_name("chat.json.gz").write_bytes(b"\x1f\x8bbroken")
    with pytest.raises(InputError, match=r"chat\.json\.gz"):
        list(read(tmp_path, Counter(), tiers=["100K"]))


@pytest.mark.parametrize(
    ("chat", "asked", "words"),
    [
        ({"turns": []}, None, ["chat.json", "array"]),
        ([batch(1, [{"role": "user", "id": 0}])], None, ["chat.json record 0", "`content`"]),
        ([batch(1, [message(0, time_anchor="15.3.2024")])], None, ["batch 1 time_anchor", "15.3.2024"]),
        (
            CHAT,
            {"summarization": [{"question": "?", "answer": "x"}]},
            ["summarization question 0", "`rubric`"],
        ),
        (CHAT, {"summarization": [{"question": "?", "rubric": ["x"]}]}, ["summarization question 0", "gold"]),
        (CHAT, {"summarization": [{**QUESTION, "source_chat_ids": 1.5}]}, ["source_chat_ids", "1.5"]),
        (CHAT, ["x"], ["probing_questions.json", "object"]),
    ],
)
def test_malformed_files_name_file_record_and_field(tmp_path, chat, asked, words):
    with pytest.raises(InputError) as caught:
        load(tmp_path, chat, asked)
    assert all(word in str(caught.value) for word in words)


def test_wrong_options_are_input_errors(tmp_path):
    for wrong in ({"tiers": ["2M"]}, {"tiers": "100K"}, {"tier": ["100K"]}):
        with pytest.raises(InputError, match=r"benchmark\.beam\.source"):
            read(tmp_path, Counter(), **wrong)
    with pytest.raises(InputError, match="chat_file"):
        load(tmp_path, chat_file="chat.txt")
    with pytest.raises(InputError, match="holds no chats"):
        list(read(tmp_path / "empty", Counter()))


def test_evidence_order_counts_repeats():
    quirks: Counter[str] = Counter()
    assert raw.in_history_order(["b", "a", "b"], {"a": 0, "b": 1}, quirks) == ("a", "b")
    assert quirks["evidence_repeated"] == 1
