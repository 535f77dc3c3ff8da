"""The pipeline's promise with real dvc and git: a changed parameter re-runs what reads it, and nothing else.

One scratch clone runs the whole pipeline at a small size; each test changes one thing and looks at what ran.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from mlflow.tracking import MlflowClient
from ruamel.yaml import YAML

from memgauge.params import load
from memgauge.stages.digest_code import OF_ONE_SYSTEM
from memgauge.stages.table import STAGES, check_params

REPOSITORY = Path(__file__).resolve().parent.parent
RUNNING = re.compile(r"^Running stage '([^']+)'", re.MULTILINE)
FORCED_OR_CACHED = re.compile(r"^Stage '([^']+)' is cached", re.MULTILINE)
SMALL_SYSTEMS = ("verbatim", "summary", "epc")
EXPERIMENTS = ("degrade", "sweep", "ablate", "weigh", "match_cost", "break_down", "compare", "agree", "attribute")
RUN_ARMS = {"run_degrade", "run_sweep", "run_ablate", "run_weigh"}
SMALL = {
    "benchmark.synthetic.source.histories": 4,
    "benchmark.synthetic.source.sessions_per_history": 12,
    "benchmark.synthetic.write_budget_tokens": 1500,
    "stats.draws": 500,
    "systems": list(SMALL_SYSTEMS),
    "qpc_systems": ["verbatim"],
    "readers": ["extractive"],
    "tune_reader.pairs": 8,
    "tune_reader.held_out": 1,
    "sweep.systems": ["summary", "verbatim"],
    "sweep.budgets": [1000],
    "degrade.shares": [0.5],
    "ablate.arms": {"questions_1": {"questions": 1}},
    "weigh.arms": {"low_coverage": {"coverage": 0.5}},
    "match_cost.systems": ["summary", "epc"],
    "prepare_training.train": 2,
    "write_student": {"benchmarks": ["synthetic"], "sessions": 1},
    "distil.rows": {"train": 4, "val": 2},
    "train_summariser.steps": 1,
    "train_summariser.per_device": 4,
    "train_summariser.generations": 2,
    "distil.check": {"histories": 1, "sessions": 1, "write_budget_tokens": 100},
    "ask_qa": {"histories": 1, "per_history": 2},
    "ask_qa_depths.depths": [[2, 5]],
    "passage_sources": ["history", "verbatim"],
    "passage_systems": ["verbatim"],
    "retention.families": 1,
    "retention.readers": ["extractive"],
    "retention.ask": {},
}


class Scratch:
    """A clone with its own parameters that shares the repository's cache of models."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "GIT_AUTHOR_NAME": "test",
            "GIT_AUTHOR_EMAIL": "test@example.org",
            "GIT_COMMITTER_NAME": "test",
            "GIT_COMMITTER_EMAIL": "test@example.org",
        }
        self.environment.pop("MEMGAUGE_MODELS", None)

    def run(self, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False
        )
        if check and done.returncode:
            raise AssertionError(f"{' '.join(command)}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
        return done

    def ran(self, *options: str) -> set[str]:
        """The stages that one `dvc repro` ran or took from its run cache."""
        out = self.run("dvc", "repro", *options).stdout
        return set(RUNNING.findall(out)) | set(FORCED_OR_CACHED.findall(out))

    def set(self, **values: object) -> None:
        yaml = YAML()
        path = self.folder / "params.yaml"
        tree = yaml.load(path.read_text(encoding="utf-8"))
        for key, value in values.items():
            node = tree
            *parents, last = key.split(".")
            for part in parents:
                node = node[part]
            node[last] = value
        with path.open("w", encoding="utf-8") as stream:
            yaml.dump(tree, stream)

    def commit(self) -> None:
        self.run("git", "add", "-A")
        self.run("git", "commit", "-qm", "state", "--allow-empty")


def copy_worktree(target: Path) -> None:
    """A git repository with the files git would track here, committed or not."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=REPOSITORY,
        capture_output=True,
        check=True,
    ).stdout.decode()
    for name in filter(None, listed.split("\0")):
        if (source := REPOSITORY / name).is_file() and not name.startswith(("metrics/", "dvc.lock")):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target / name)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Scratch:
    """A scratch repository after one whole `dvc repro`."""
    folder = tmp_path_factory.mktemp("scratch")
    copy_worktree(folder)
    clone = Scratch(folder)
    clone.run("git", "init", "-q")
    clone.run("dvc", "config", "--local", "cache.dir", str(REPOSITORY / ".dvc" / "cache"))
    clone.set(**SMALL)
    clone.commit()
    clone.ran()
    clone.commit()
    return clone


def verbs(stages: set[str]) -> set[str]:
    return {name.split("@")[0] for name in stages}


@pytest.mark.pipeline
class TestRerunTable:
    """Design section 6: each row of the table, as far as its stages exist."""

    def test_second_repro_runs_nothing(self, scratch: Scratch) -> None:
        assert scratch.ran() == set()

    def test_alpha_retrains_the_summariser_and_nothing_else(self, scratch: Scratch) -> None:
        """One step of training may leave equal summaries: what follows them then has nothing new to do."""
        scratch.set(alpha=0.6)
        ran = scratch.ran()
        assert {"train_summariser", "qpc", "track"} <= ran
        allowed = {"summarise_retrieved@synthetic", "ask_qa_student@synthetic"}
        assert ran - allowed == {"train_summariser", "qpc", "track"}

    def test_one_systems_parameter_reruns_only_its_cells(self, scratch: Scratch) -> None:
        scratch.set(**{"memory.verbatim.passage_tokens": 100})
        ran = scratch.ran()
        runs_systems = {"write", "retrieve", "read", "ask_qa"} | RUN_ARMS
        cells = {name for name in ran if verbs({name}) <= runs_systems}
        assert cells == {
            "write@synthetic-verbatim",
            "retrieve@synthetic-verbatim",
            "read@synthetic-verbatim-extractive",
            "ask_qa@synthetic-verbatim",
            "run_sweep@synthetic-extractive-verbatim",
        }
        assert {"sweep@synthetic-extractive", "score@synthetic-extractive", "tabulate_verdicts@synthetic"} <= ran
        assert not verbs(ran) & {"degrade", "ablate", "weigh"}
        assert {"diagnose@synthetic", "report", "track"} <= ran
        assert not verbs(ran) & {
            "assets",
            "fetch",
            "prepare",
            "equip",
            "equip_readers",
            "tune_reader",
            "refer",
            "qualify",
        }

    def test_reader_prompt_reruns_answers_but_no_store_or_context(self, scratch: Scratch) -> None:
        prompt = scratch.folder / "src/memgauge/prompts/answer_question.txt"
        prompt.write_text(prompt.read_text(encoding="utf-8") + "\n", encoding="utf-8")
        ran = verbs(scratch.ran())
        assert {"refer", "read"} <= ran
        assert not ran & {"assets", "fetch", "prepare", "write", "retrieve", "collect_traces", "distil"}

    def test_reader_parameters_reach_who_reads_and_no_writer(self, scratch: Scratch) -> None:
        scratch.set(**{"role.reader.extractive.phrase": 21})
        changed = verbs(scratch.ran("--dry"))
        scratch.set(**{"role.reader.extractive.phrase": 20})
        assert {"equip_readers", "refer", "read", "run_sweep", "read_silver", "read_passages"} <= changed
        assert not changed & {"assets", "fetch", "prepare", "write", "retrieve", "tune_reader", "distil"}

    def test_where_replies_come_from_changes_nothing(self, scratch: Scratch) -> None:
        scratch.set(**{"llm.mode": "replay"})
        assert scratch.ran("--dry") == set()
        scratch.set(**{"llm.mode": "live"})

    def test_the_seed_reaches_generated_data_training_and_draws(self, scratch: Scratch) -> None:
        scratch.set(seed=18)
        changed = scratch.ran("--dry")
        scratch.set(seed=17)
        assert {"fetch@synthetic", "tune_reader", "prepare_training", "diagnose@synthetic"} <= changed
        assert not verbs(changed) & {"assets", "prepare", "write", "retrieve", "read", "score"}

    def test_resamples_rerun_statistics_only(self, scratch: Scratch) -> None:
        scratch.set(**{"stats.draws": 400})
        ran = verbs(scratch.ran())
        assert {"diagnose", "report", "track"} <= ran
        assert ran <= {"diagnose", "report", "track", "compare_silver", "qpc", "passage_budgets", *EXPERIMENTS}

    def test_a_price_reruns_costs_only(self, scratch: Scratch) -> None:
        scratch.set(**{"prices.models.qwen3-14b.input": 0.2})
        assert verbs(scratch.ran()) == {"qpc", "passage_budgets", "track"}

    def test_the_judge_reruns_verdicts_only(self, scratch: Scratch) -> None:
        scratch.set(**{"role.judge": {"solver": "extractive", "floor": 0.44}})
        assert verbs(scratch.ran()) <= {
            *("equip", "judge", "qualify", "tabulate_verdicts", "track"),
            *("ask_qa", "ask_qa_student", "ask_qa_depths", "qpc"),
            *("qualify_source", "score_passages", "passage_budgets"),
        }

    def test_read_budget_reruns_contexts_but_no_store(self, scratch: Scratch) -> None:
        scratch.set(**{"retrieval.k": 2})
        ran = scratch.ran()
        assert {name for name in ran if name.startswith("retrieve@")} == {
            f"retrieve@synthetic-{system}" for system in SMALL_SYSTEMS
        }
        assert not verbs(ran) & {"assets", "fetch", "prepare", "write", "refer"}

    def test_added_benchmark_runs_no_cell_of_the_others(self, scratch: Scratch, real_data: Path) -> None:
        scratch.environment["MEMGAUGE_DATA"] = str(real_data)
        scratch.set(benchmarks=["synthetic", "longmemeval"], **{"benchmark.longmemeval.select": {"histories": 1}})
        ran = scratch.ran()
        assert "diagnose@longmemeval" in ran
        assert not {name for name in ran if "@synthetic" in name}
        scratch.set(benchmarks=["synthetic"])
        scratch.ran()

    def test_forced_rerun_gives_the_same_hashes(self, scratch: Scratch) -> None:
        """Also without the vectors that cells share: the encoder itself must repeat its bytes."""
        for path in (scratch.folder / ".dvc/tmp/memgauge").glob("embeddings.sqlite*"):
            path.unlink()
        before = (scratch.folder / "dvc.lock").read_bytes()
        grids = ("fetch", "prepare", "write", "retrieve", "refer", "read", "score", "diagnose")
        grids += ("judge", "degrade")
        forced = [f"{grid}@*" for grid in grids] + ["tune_reader", "report"]
        for pattern in forced:
            scratch.run("dvc", "repro", "--force", "--single-item", "--no-run-cache", "--glob", pattern)
        assert (scratch.folder / "dvc.lock").read_bytes() == before

    def test_experiments_elsewhere_log_to_the_shared_store(self, scratch: Scratch) -> None:
        """One in a temporary folder, one from the queue: both are parents of three cells in the same database."""
        scratch.commit()
        scratch.run("dvc", "exp", "run", "--temp", "--name", "shallow", "-S", "retrieval.k=1")
        scratch.run("dvc", "exp", "run", "--queue", "--name", "queued", "-S", "retrieval.k=3")
        scratch.run("dvc", "queue", "start")
        deadline = time.monotonic() + 600
        while "Success" not in (state := scratch.run("dvc", "queue", "status").stdout):
            assert "Failed" not in state, state
            assert time.monotonic() < deadline, state
            time.sleep(3)
        client = MlflowClient(f"sqlite:///{scratch.folder / 'mlflow.db'}")
        experiment = client.get_experiment_by_name("memgauge")
        assert experiment is not None
        runs = client.search_runs([experiment.experiment_id], max_results=500)
        assert all(run.info.status == "FINISHED" for run in runs)
        for name, k in (("shallow", "1"), ("queued", "3")):
            (parent,) = [run for run in runs if run.info.run_name == name]
            children = [run for run in runs if run.data.tags.get("mlflow.parentRunId") == parent.info.run_id]
            cells = [run for run in children if "system" in run.data.params]
            assert {"tune_reader", "judge"} <= {run.data.params["stage"] for run in children if run not in cells}
            assert {run.data.params["retrieval.k"] for run in cells} == {k}
            assert {run.data.params["system"] for run in cells} == set(SMALL_SYSTEMS)


def declared() -> dict[str, dict]:
    with (REPOSITORY / "dvc.yaml").open(encoding="utf-8") as stream:
        return YAML(typ="safe").load(stream)["stages"]


@pytest.mark.parametrize("name", sorted(STAGES))
def test_stage_reads_exactly_what_dvc_watches(name: str) -> None:
    watched = declared()[name].get("params", [])
    named = [key.replace("${item.", "{").replace("${prepare_training.benchmark}", "{benchmark}") for key in watched]
    assert [key.replace("${", "{") for key in named] == list(STAGES[name].params)


@pytest.mark.parametrize("name", [*EXPERIMENTS, "show_cases"])
def test_the_numbers_of_an_experiment_are_metrics_kept_in_git(name: str) -> None:
    (metric,) = declared()[name]["metrics"]
    ((path, options),) = metric.items()
    assert path.startswith(f"metrics/experiments/{name}/")
    assert path.endswith(".json")
    assert options == {"cache": False}


def test_every_stage_is_in_the_table() -> None:
    assert set(declared()) == set(STAGES)


def test_every_parameter_is_read_by_a_stage() -> None:
    check_params(load(REPOSITORY / "params.yaml"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("sed: 3\n", "keys that no stage reads: sed"),
        ("memory: [\n", "not valid YAML"),
    ],
)
def test_wrong_parameter_file_is_one_line_and_exit_code_2(tmp_path: Path, change: str, words: str) -> None:
    text = (REPOSITORY / "params.yaml").read_text(encoding="utf-8")
    (tmp_path / "params.yaml").write_text(text + change, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "memgauge.stages", "report"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", sorted(set(STAGES) - {"digest_code"}))
def test_stage_watches_the_digest_of_its_code(name: str) -> None:
    watched = [dep for dep in declared()[name]["deps"] if dep.startswith(("data/code", "src"))]
    systems = re.findall(r"memory\.(\$\{[^}]+\})", "\n".join(declared()[name].get("params", [])))
    named = [f"data/code/{name}/{system}.json" for system in systems]
    assert watched == (named if name in OF_ONE_SYSTEM else [f"data/code/{name}.json"])


@pytest.mark.parametrize("name", sorted(RUN_ARMS))
def test_arms_read_no_other_system_than_their_experiment_names(name: str) -> None:
    """Else a parameter of any system would run the arms of every experiment again."""
    keys = [key for key in STAGES[name].params if key.startswith("memory")]
    assert keys
    assert all(key.startswith(("memory.{system}", f"memory.{{{name.removeprefix('run_')}.")) for key in keys)
