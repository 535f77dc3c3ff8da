"""`memgauge passages`: the cohort's facts on real chats, and every command on a small generated benchmark."""

import csv
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from memgauge.cli import passages
from memgauge.datasets import beam
from memgauge.datasets.prepared import write_prepared
from memgauge.datasets.synthetic.generate import generate
from memgauge.datasets.synthetic.options import SyntheticOptions
from memgauge.errors import InputError, NothingScoredError
from memgauge.experiments.passage_budgets import BUDGETS
from memgauge.experiments.passage_evidence import Recall
from memgauge.experiments.passage_facts import QuestionFacts, cohort_facts
from memgauge.experiments.passage_scores import PassageScore
from memgauge.experiments.passage_speed import write_long_chat
from memgauge.files import read_jsonl, write_json, write_jsonl
from memgauge.report.passage_numbers import facts_numbers
from memgauge.stages import (
    passage_budgets,
    qualify_source,
    rank_entries,
    rank_passages,
    read_passages,
    score_passages,
    write,
)
from memgauge.stages.passage_paths import in_order
from memgauge.text.tokens import count_many

PARAMS = {
    "seed": 17,
    "stats": {"draws": 200, "margin": 0.02},
    "passages": {
        "budgets": [1, 3, 10],
        "reference": 10,
        "primary": 3,
        "judge_sees_question": False,
        "as_released": False,
        "price": "small",
        "tolerate": 0.02,
    },
    "prices": {"unit": "USD per 1M tokens", "models": {"small": {"input": 0.15, "output": 0.6}}},
    "role.reader.extractive": {"solver": "extractive"},
    "role.judge": {"solver": "extractive"},
    "role.writer": {"solver": "extractive"},
    "memory.verbatim": {"passage_tokens": 200},
    "benchmark.synthetic.write_budget_tokens": 2000,
}
SCORES = Path("data/passages/scores/synthetic-history-extractive.jsonl")
PARAMS |= {f"passages.{name}": PARAMS["passages"][name] for name in ("budgets", "judge_sees_question")}


def run(*arguments):
    import argparse

    parser = argparse.ArgumentParser()
    passages.add(parser.add_subparsers(required=True))
    options = parser.parse_args(["passages", *map(str, arguments)])
    options.run(options)


@pytest.fixture(scope="module")
def project(tmp_path_factory, models):
    """Two small histories, ranked, read, scored and compared."""
    if not (models / "minilm" / "model.safetensors").is_file():
        pytest.skip("the sentence encoder is not there: run `dvc repro assets@minilm`")
    folder = tmp_path_factory.mktemp("project")
    (folder / "models").symlink_to(models)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        pairs = generate(SyntheticOptions(histories=2, sessions_per_history=6, questions_per_history=7), 17)
        write_prepared(Path("data/prepared/synthetic"), pairs, Counter(), {})
        tree = {name: value for name, value in PARAMS.items() if "." not in name}
        write_json(Path("params.yaml"), tree)  # JSON is YAML
        rank_passages.main(PARAMS, "synthetic")
        read_passages.main(PARAMS, "synthetic", "history", "extractive")
        score_passages.main(PARAMS, "synthetic", "history", "extractive")
        qualify_source.main(PARAMS)
        passage_budgets.main(PARAMS, "synthetic", "history", "extractive")
        write.main(PARAMS, "synthetic", "verbatim")
        rank_entries.main(PARAMS, "synthetic", "verbatim")
        read_passages.main(PARAMS, "synthetic", "verbatim", "extractive")
        score_passages.main(PARAMS, "synthetic", "verbatim", "extractive")
        passage_budgets.main(PARAMS, "synthetic", "verbatim", "extractive")
    return folder


@pytest.fixture
def inside(project, monkeypatch):
    monkeypatch.chdir(project)
    return project


def test_the_stages_leave_numbers_a_page_and_a_picture(inside) -> None:
    stem = "metrics/experiments/passage_budgets/synthetic-history-extractive"
    numbers = json.loads(Path(f"{stem}.json").read_text())
    assert set(numbers["budgets"]) == {"1", "3", "10"}
    assert numbers["questions"] == 14
    recalls = [numbers["budgets"][budget]["recall"] for budget in ("1", "3", "10")]
    assert recalls == sorted(recalls)
    assert recalls[-1] > 0.5
    assert set(numbers["kinds"]) <= {"token_f1", "refusal"}
    assert numbers["advice"]["share_of_draws"] is not None
    page = Path(f"{stem}.md").read_text()
    assert "as the question has no rubric" in page
    assert Path(f"{stem}.png").read_bytes().startswith(b"\x89PNG")


def test_a_memory_systems_store_has_a_budget_curve_of_its_own(inside, capsys) -> None:
    """Its entries stand where passages of the whole history stand: fewer tokens, and no more evidence than it kept."""
    stem = "metrics/experiments/passage_budgets/synthetic"
    store, history = (
        json.loads(Path(f"{stem}-{name}-extractive.json").read_text()) for name in ("verbatim", "history")
    )
    assert set(store["budgets"]) == set(history["budgets"])
    assert store["questions"] == history["questions"]
    recalls = [store["budgets"][budget]["recall"] for budget in ("1", "3", "10")]
    assert 0 < recalls[0] <= recalls[1] <= recalls[2] < history["budgets"]["10"]["recall"]
    assert "memory system `verbatim`" in Path(f"{stem}-verbatim-extractive.md").read_text()
    run("advise", "--price", "small", "--tolerate", "0.02", "--source", "verbatim", "--json")
    assert json.loads(capsys.readouterr().out)["questions"] == 14


def test_a_second_run_writes_the_same_bytes(inside) -> None:
    def tree():
        folders = ("data/passages", "metrics")
        return {path: path.read_bytes() for folder in folders for path in Path(folder).rglob("*") if path.is_file()}

    before = tree()
    rank_passages.main(PARAMS, "synthetic")
    read_passages.main(PARAMS, "synthetic", "history", "extractive")
    score_passages.main(PARAMS, "synthetic", "history", "extractive")
    passage_budgets.main(PARAMS, "synthetic", "history", "extractive")
    assert tree() == before


def test_the_judges_verdict_stands_beside_judged_scores_and_no_others(inside, capsys) -> None:
    verdict = "Judge extractive is not qualified to rescore against sources: it compares words and reads no source."
    marked = [replace(each, kind="rubric", marks=(each.score,)) for each in read_jsonl(SCORES, PassageScore)]
    write_jsonl(Path("data/passages/scores/synthetic-history-judged.jsonl"), marked)
    for reader in ("judged", "extractive"):
        passage_budgets.main(PARAMS, "synthetic", "history", reader)
        stem = f"metrics/experiments/passage_budgets/synthetic-history-{reader}"
        shown = verdict if reader == "judged" else None
        assert json.loads(Path(f"{stem}.json").read_text())["judge"] == shown
        run("advise", "--price", "small", "--tolerate", "0.02", "--reader", reader)
        texts = [Path(f"{stem}.md").read_text(), capsys.readouterr().out]
        assert [verdict in text for text in texts] == [reader == "judged"] * 2
        run("advise", "--price", "small", "--tolerate", "0.02", "--reader", reader, "--json")
        assert json.loads(capsys.readouterr().out)["judge"] == shown


def test_advise_never_prints_a_bare_point(inside, capsys) -> None:
    run("advise", "--price", "small", "--tolerate", "0.02")
    assert "draws" in capsys.readouterr().out.splitlines()[0]
    run("advise", "--price", "small", "--tolerate", "1", "--json")
    found = json.loads(capsys.readouterr().out)
    assert (found["advised"], found["share_of_draws"]) == (1, 1.0)  # any loss is tolerated


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("advise", "--price", "none", "--tolerate", "0.02"),
            "price 'none' is not in prices.models; choose from small",
        ),
        (("advise", "--price", "small", "--tolerate", "2"), "tolerate is 2.0"),
        (("advise", "--price", "small", "--tolerate", "0", "--reader", "other"), "run the stage that makes it"),
        (("advise", "--price", "small", "--tolerate", "0", "--reference", "7"), "reference is 7"),
        (("sheet", "--budgets", "7", "--out", "x.csv"), "no answer was read at 7 passages"),
        (("agreement", "--sheet", "absent.csv"), "cannot read absent.csv"),
        (("speed", "--tokens", "0"), "--tokens is 0"),
    ],
)
def test_a_users_mistake_is_one_clear_error(inside, arguments, message) -> None:
    with pytest.raises(InputError) as caught:
        run(*arguments)
    assert message in str(caught.value)


def test_absent_data_is_one_clear_error(inside, monkeypatch) -> None:
    monkeypatch.delenv("MEMGAUGE_DATA", raising=False)
    with pytest.raises(InputError, match="set MEMGAUGE_DATA or --folder"):
        run("facts", "--json")
    (inside / "empty").mkdir(exist_ok=True)
    with pytest.raises(InputError, match="holds no chats"):
        run("facts", "--json", "--folder", "empty")


@pytest.mark.parametrize("budgets", [[], [0], [3, 3], ["3"], [True]])
def test_budgets_that_are_no_counts_are_refused(budgets) -> None:
    with pytest.raises(InputError, match=r"passages\.budgets"):
        rank_passages.budgets_of({"passages.budgets": budgets})


def test_processes_change_nothing(project) -> None:
    assert list(in_order(abs, range(-9, 0), 2)) == list(in_order(abs, range(-9, 0), 1)) == list(range(9, 0, -1))


def test_a_rated_sheet_comes_back_as_agreement(inside, capsys, monkeypatch) -> None:
    from memgauge.protocol import review_sheet

    monkeypatch.setattr(review_sheet, "ABSTENTIONS", 1)  # the small benchmark has few of each kind
    monkeypatch.setattr(review_sheet, "PER_ABILITY", 1)
    run("sheet", "--out", "sheet.csv")
    with open("sheet.csv", newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    for row in rows:
        row |= {"mark": "1", "reference_rating": "supported"}
    with open("sheet.csv", "w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    capsys.readouterr()
    run("agreement", "--sheet", "sheet.csv", "--json")
    found = json.loads(capsys.readouterr().out)
    assert found["criteria"]["pairs"] == len(rows)
    assert "reads no source" in found["judge"]
    run("agreement", "--sheet", "sheet.csv")
    assert "References:" in capsys.readouterr().out
    Path("sheet.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="is not UTF-8"):
        run("agreement", "--sheet", "sheet.csv")


def test_speed_tells_tokens_and_memory(inside, capsys) -> None:
    run("speed", "--tokens", "20000", "--json")
    found = json.loads(capsys.readouterr().out)
    assert found["tokens"] >= 20_000
    assert found["peak_mib"] >= found["before_mib"] > 0
    assert found["load_seconds"] > 0
    assert (found["plans"], found["windows"] > 100) == (1, True)
    assert 0 < found["questions"] <= 20


def test_the_long_chat_has_the_layout_of_the_10m_tier(tmp_path) -> None:
    """A list of plans of batches, message ids starting again, read by BEAM's loader without a quirk of its own."""
    total, plans = write_long_chat(tmp_path, 60_000, 17)
    chat = json.loads((tmp_path / "chats/10M/1/chat.json").read_text())
    assert [list(plan) for plan in chat] == [[f"plan-{number}"] for number in range(1, plans + 1)]
    assert plans > 1
    quirks = Counter()
    ((history, questions),) = beam.read(tmp_path, quirks, tiers=("10M",))
    assert history.id == "beam-10M-01"
    assert len(history.sessions) == 60 * plans
    assert sum(count_many([turn.text for _, turn in history.turns()])) == total >= 60_000
    assert all(session.date for session in history.sessions)
    assert len(questions) == 20
    assert {name for name, count in quirks.items() if count} <= {"questions_without_source_ids"}


@pytest.fixture(scope="module")
def facts(real_data):
    """The whole cohort, as the command prints it."""
    from io import StringIO

    out = StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdout", out)
        run("facts", "--json", "--folder", real_data, "--processes", "2")
    return json.loads(out.getvalue())


def test_facts_of_real_chats_have_the_papers_counts_and_token_ratios(facts) -> None:
    """In Qwen2.5's tokens, as the paper counts; within a point, as its prompt is not printed."""
    assert facts["questions"] == 1_100
    assert facts["passages"] == {"1": 1_100, "3": 3_300, "5": 5_500, "10": 11_000, "20": 21_990}
    assert facts["short_rankings"] == [12, 18]
    assert facts["short_ranking_questions"] == ["beam-500K-11-q06", "beam-500K-27-q09"]
    printed = {"1": 12.7, "3": 32.22, "5": 51.6, "10": 100.0, "20": 196.24}
    assert facts["token_ratio_percent"] == pytest.approx(printed, abs=1.0)
    other = facts["other_tokens_per_question"] * facts["questions"]
    assert 6.2e6 < facts["tokens"]["10"] + other < 8.0e6
    assert all(facts["characters"][budget] > 3 * facts["tokens"][budget] > 0 for budget in facts["tokens"])


def test_evidence_recall_grows_with_the_budget_in_every_row(facts) -> None:
    rows = facts["evidence_recall"]
    whole = {row["tier"]: row["questions"] for row in rows if row["ability"] == "all"}
    # 400 and 700 less 40 and 70 abstention questions, and five and one without marked turns
    assert whole == {"100K": 355, "500K": 629, "all": 984}
    for row in rows:
        values = [row["recall"][budget] for budget in ("1", "3", "5", "10", "20")]
        assert values == sorted(values)


def test_a_cohort_lists_its_short_rankings_in_order() -> None:
    def row(name, size):
        recall = Recall(name, "all", "x", False, dict.fromkeys(BUDGETS))
        return QuestionFacts(name, (10,) * size, (2,) * size, recall)

    found = facts_numbers(cohort_facts([row("q2", 18), row("q1", 12), row("q3", 20)]))
    assert found["short_rankings"] == [12, 18]
    assert found["short_ranking_questions"] == ["q1", "q2"]
    assert found["passages"]["20"] == 50
    assert found["token_ratio_percent"]["1"] == pytest.approx(100 * (6 + 525) / (60 + 525))
    with pytest.raises(NothingScoredError):
        cohort_facts([])
