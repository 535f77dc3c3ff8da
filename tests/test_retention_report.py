"""The retention report: counts as a reader of the tables meets them, published rows, pictures, and the stages."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from memgauge.datasets.retention.stimuli import make_stimuli
from memgauge.errors import InputError
from memgauge.experiments.retention import Outcome, arm_plans, run_arms
from memgauge.experiments.retention_endpoints import Tally, contest, tallies
from memgauge.experiments.retention_matching import Counter
from memgauge.files import read_json, read_jsonl
from memgauge.records import Result
from memgauge.report.retention_figures import group_figure, outcome_figure, slot_figure
from memgauge.report.retention_pages import retention_numbers, retention_page
from memgauge.report.retention_published import published_arms, published_count, published_retention
from memgauge.report.retention_tables import outcome_table, policy_table, published_facts_table, published_table
from memgauge.solvers.extractive.track_state import read_state
from memgauge.stages import make_stimuli as make_stage
from memgauge.stages import retention as report_stage
from memgauge.stages import track_states as track_stage
from memgauge.tasks.base import Message, Task
from memgauge.tasks.track_state import TrackState


def words(text: str) -> int:
    return len(text.split())


def prompt_words(messages: Sequence[Message]) -> int:
    return sum(words(message["content"]) for message in messages)


class Reader:
    """Reads as the extractive solver does, but the first reply never comes."""

    def solve(self, tasks: Sequence[Task[Any]]) -> list[Result[Any]]:
        found: list[Result[Any]] = [Result(None, "truncated")]
        for task in tasks[1:]:
            assert isinstance(task, TrackState)
            found.append(Result(read_state(task.history), "ok"))
        return found


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    return run_arms(
        make_stimuli(17, 2), arm_plans(["reference_following"]), Reader(), Counter("words", words, prompt_words)
    )


@pytest.fixture(scope="module")
def found(outcomes: list[Outcome]) -> dict[str, list[Tally]]:
    return {"tuned": tallies(outcomes)}


def cells(table: str, **wanted: str) -> list[dict[str, str]]:
    """The rows of a Markdown table whose cells are as wanted."""
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    rows = [dict(zip(lines[0], line, strict=True)) for line in lines[2:]]
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def test_the_outcome_table_counts_what_the_design_promises(found: dict[str, list[Tally]]) -> None:
    table = outcome_table(found)
    (user,) = cells(table, arm="user_history", variant="reference")
    assert (user["right"], user["of"], user["published of 64"], user["text sufficient"]) == ("0", "8", "2-3", "0")
    assert user["unresolved"] == "8"
    (direct,) = cells(table, arm="user_history", variant="direct")
    assert (direct["right"], direct["text sufficient"], direct["slots matched"]) == ("8", "8", "1.00")
    (full,) = cells(table, arm="full_history", variant="direct")
    assert (full["right"], full["missing"]) == ("7-8", "1")
    (ours,) = cells(table, arm="reference_following", variant="reference")
    assert (ours["right"], ours["published of 64"]) == ("8", "")


def test_the_policy_table_shows_what_following_references_costs(found: dict[str, list[Tally]]) -> None:
    table = policy_table(found)
    rows = {name: cells(table, arm=name)[0] for name in ("full_history", "user_history", "reference_following")}
    saved = {name: float(row["saved against full"].rstrip(" %")) for name, row in rows.items()}
    assert saved["full_history"] == 0.0 < saved["reference_following"] < saved["user_history"]
    assert rows["user_history"]["reference"] == "0 of 8"
    assert rows["reference_following"]["reference"] == "8 of 8"


def test_the_papers_counts_are_whole_and_ranged_where_a_reply_is_missing() -> None:
    assert published_arms() == [plan.name for plan in arm_plans()]
    right = [each for each in published_retention().rows if each.what == "right"]
    assert len(right) == 9 * 2 * 2
    assert all(each.value in range(65) and each.n == 64 for each in right)
    mistral = [each.value for each in right if (each.reader, each.arm) == ("Mistral", "full_history")]
    assert sum(mistral) == 1  # figure 6B: one full match of Mistral's 128 full-history outputs
    assert published_count("user_history", "reference") == "2-3"
    assert published_count("oracle_restored", "reference") == "42"
    assert published_count("reference_following", "direct") == ""


def test_published_sizes_and_designs_are_ours_too(found: dict[str, list[Tally]]) -> None:
    """What the verdicts call exact or design holds of our own stimuli and arms."""
    rows = {(each.what, each.arm, each.variant): each for each in published_retention().rows if not each.reader}
    assert rows["stimuli", "", ""].value == len(make_stimuli(17, 16))
    assert rows["requests", "", ""].value == len(make_stimuli(17, 16)) * len(arm_plans()) * 2
    sufficient = [each for each in rows.values() if each.what == "text sufficient"]
    assert {each.arm: each.verdict for each in sufficient} == {
        "full_history": "design",
        "user_history": "design",
        "recency": "draw",
    }
    ours = {(each.arm, each.variant): each for each in found["tuned"]}
    for each in sufficient:
        if each.verdict == "design":
            own = ours[each.arm, each.variant]  # type: ignore[index]
            assert own.sufficient * each.n == each.value * own.n
    assert rows["text sufficient", "recency", "direct"].value == rows["text sufficient", "recency", "reference"].value


def test_the_page_prints_published_numbers_with_their_verdicts() -> None:
    assert "| user_history | 52 | 2-3 | 2 | 0 |" in published_table()
    table = published_facts_table()
    (recency,) = cells(table, published="text sufficient", of="recency direct")
    assert (recency["value"], recency["verdict"]) == ("20", "draw")
    (saved,) = cells(table, of="Qwen user_history")
    assert (saved["value"], saved["verdict"]) == ("30.08", "draw")


def test_the_page_says_who_read_how_much_and_how_tokens_were_counted(
    outcomes: list[Outcome], found: dict[str, list[Tally]]
) -> None:
    contests = {"tuned": contest(outcomes, "user_history", "recency")}
    page = retention_page(found, contests, {"tuned": "words"}, families=16)
    assert "`tuned` read the first 2 of 16 families: 160 requests." in page
    assert "words (`tuned`)" in page
    assert "{" not in page
    assert "all 2 families: 160" in retention_page(found, contests, {"tuned": "words"}, families=2)
    half = {"tuned": tallies([each for each in outcomes if "-clock-" in each.stimulus])}
    page = retention_page(half, contests, {"tuned": "words"}, families=16)
    assert "`tuned` read the first 2 of 16 families, 4 of 8 stimuli each: 80 requests." in page


def test_numbers_hold_counts_by_reader_arm_and_variant(found: dict[str, list[Tally]]) -> None:
    tree: Any = retention_numbers(found)
    node = tree["tuned"]["user_history"]
    assert node["direct"]["correct"] == 8
    assert node["reference"] == {
        **{"n": 8, "families": 2, "correct": 0, "missing": 0, "sufficient": 0, "slots_matched": pytest.approx(2 / 3)},
        **{"supported": 0, "unsupported": 0, "unresolved": 8},
    }
    assert 0 < node["saved"] < 1
    assert tree["tuned"]["recency"]["prompt_tokens"] == node["prompt_tokens"]


def test_pictures_are_the_same_bytes_every_time(found: dict[str, list[Tally]]) -> None:
    for picture in (outcome_figure, group_figure, slot_figure):
        first = picture(found)
        assert first.startswith(b"\x89PNG")
        assert first == picture(found)


def test_an_empty_outcome_file_is_one_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data/retention/outcomes").mkdir(parents=True)
    (tmp_path / "data/retention/outcomes/extractive.jsonl").touch()
    with pytest.raises(InputError, match=r"extractive\.jsonl holds no outcome; repeat `track_states@extractive`"):
        report_stage.main({"retention.readers": ["extractive"], "retention.families": 3})


@pytest.mark.models
def test_the_stages_run_from_seed_to_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, models: Path) -> None:
    """With the extractive reader, whose encoder is not needed for this task."""
    if not (models / "cl100k_base").is_dir():
        pytest.skip("models/cl100k_base is not there")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    (tmp_path / "models").symlink_to(models)
    make_stage.main({"seed": 17, "retention.families": 3})
    options = {"role.reader.extractive": {"solver": "extractive"}}
    keys = {"retention.policies": ["reference_following"], "retention.ask": {"extractive": {"families": 2}}, "seed": 17}
    track_stage.main({**options, **keys}, "extractive")
    outcomes = list(read_jsonl(tmp_path / "data/retention/outcomes/extractive.jsonl", Outcome))
    assert len(outcomes) == 2 * 8 * 10
    assert {each.counter for each in outcomes} == {"cl100k_base"}
    track_stage.main({**options, **keys, "retention.ask": {"extractive": {"wrappers": ["clock"]}}}, "extractive")
    clocked = list(read_jsonl(tmp_path / "data/retention/outcomes/extractive.jsonl", Outcome))
    assert len(clocked) == 3 * 4 * 10
    assert all("-clock-" in each.stimulus for each in clocked)
    track_stage.main({**options, **keys}, "extractive")
    report_stage.main({"retention.readers": ["extractive"], "retention.families": 3})
    numbers = read_json(tmp_path / "metrics/retention.json")
    assert numbers["extractive"]["user_history"]["direct"]["correct"] == 8
    assert numbers["extractive"]["user_history"]["reference"]["correct"] == 0
    assert "the first 2 of 3 families" in (tmp_path / "metrics/retention.md").read_text(encoding="utf-8")
    assert (tmp_path / "metrics/retention.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "metrics/retention_slots.png").is_file()
    assert (tmp_path / "metrics/retention_groups.png").is_file()
