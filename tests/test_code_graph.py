"""Which source files a stage depends on: a small package by hand, and this one beside the import graph of grimp."""

from pathlib import Path

import grimp
import pytest

import memgauge
from memgauge.code_graph import CARRYING, PLUMBING, CodeGraph
from memgauge.stages.digest_code import CATALOGUE, OF_MEMORYCPT, OF_ONE_SYSTEM, module_of
from memgauge.stages.table import STAGES

FILES = {
    "stages/read.py": "from memgauge.protocol.answering import answer\nfrom memgauge.stages import shared\n",
    "stages/shared.py": "def solver():\n    from memgauge.solvers import catalogue\n",
    "stages/other.py": "import memgauge.text.unused\n",
    "protocol/answering.py": "from memgauge.tasks.answer import Answer\nimport memgauge.records\n",
    "records.py": "",
    "solvers/catalogue.py": "MAKERS = {'one': 'memgauge.solvers.one:Solver'}\n",
    "solvers/one.py": "import memgauge.tasks.answer\nimport memgauge.tasks.gist\nimport memgauge.report\n",
    "tasks/answer.py": "",
    "tasks/gist.py": "import memgauge.text.used\n",
    "text/used.py": "",
    "text/unused.py": "",
    "report/__init__.py": "",
    "report/table.json": "{}",
    "prompts/__init__.py": "",
    "prompts/answer.txt": "a",
    "prompts/answer_strict.txt": "b",
    "prompts/answering.txt": "c",
    "prompts/gist.txt": "d",
}
EXPECTED = {
    "stages/read.py",
    "protocol/answering.py",
    "solvers/catalogue.py",
    "solvers/one.py",
    "tasks/answer.py",
    "text/used.py",
    "report/__init__.py",
    "report/table.json",
    "prompts/answer.txt",
    "prompts/answer_strict.txt",
}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_closure_goes_through_functions_texts_and_prompts(package: Path) -> None:
    """Another stage's helper is followed but not counted; a task that only the solver knows is not either."""
    assert set(CodeGraph(package).digests("read")) == EXPECTED


def test_excluded_modules_are_neither_counted_nor_followed(package: Path) -> None:
    found = CodeGraph(package).digests("read", without=["solvers.catalogue"])
    assert set(found) == {name for name in EXPECTED if not name.startswith(("solvers", "text", "report"))}


@pytest.mark.parametrize("name", sorted(FILES))
def test_digests_change_with_a_counted_file_and_only_then(package: Path, name: str) -> None:
    before = CodeGraph(package).digests("read")
    (package / name).write_text(FILES[name] + "\n")
    assert (CodeGraph(package).digests("read") != before) == (name in EXPECTED)


@pytest.fixture(scope="module")
def real() -> CodeGraph:
    return CodeGraph(Path(memgauge.__path__[0]))


@pytest.fixture(scope="module")
def imports() -> grimp.ImportGraph:
    return grimp.build_graph("memgauge")


@pytest.mark.parametrize("stage", sorted(STAGES))
def test_nothing_that_a_stage_imports_is_missing(stage: str, real: CodeGraph, imports: grimp.ImportGraph) -> None:
    """Against an import graph that another library builds: solvers, which know every task, are left out there."""
    solvers = {name for name in imports.modules if name.startswith("memgauge.solvers.")}
    shared = {f"memgauge.{name}" for name in CARRYING}
    found = real.digests(stage, [], [CATALOGUE] if stage in OF_ONE_SYSTEM + OF_MEMORYCPT else [])
    upstream = imports.find_upstream_modules(f"memgauge.stages.{stage}")
    modules = {name.removeprefix("memgauge").removeprefix(".") for name in upstream - solvers - shared}
    asked = {name for name in modules if not name.startswith("tasks.")}
    files = {f"{name.replace('.', '/')}.py" for name in asked - PLUMBING}
    packages = {name for name in files if not (real.folder / name).is_file()}  # an __init__ alone computes nothing
    left_out = {"memory/catalogue.py"} if stage in OF_ONE_SYSTEM + OF_MEMORYCPT else set()
    assert files - packages - left_out <= set(found)


@pytest.mark.parametrize("stage", ["distil", "write_student", "summarise_retrieved", "collect_traces"])
def test_a_reader_prompt_trains_no_writer(stage: str, real: CodeGraph) -> None:
    assert "prompts/answer_question.txt" not in real.digests(stage, [module_of("memorycpt")], [CATALOGUE])


def test_what_stages_do_alike_belongs_to_each_of_them(real: CodeGraph) -> None:
    assert "stages/fetch.py" in real.digests("prepare_training")
    assert {"stages/run_arms.py", "stages/variants.py"} <= set(real.digests("run_sweep", [], [CATALOGUE]))


def test_a_reader_prompt_belongs_to_readers_and_a_writer_prompt_to_its_writers(real: CodeGraph) -> None:
    read = real.digests("read")
    epc = real.digests("write", ["memory.epc"], [CATALOGUE])
    summary = real.digests("write", ["memory.summary"], [CATALOGUE])
    assert "prompts/answer_question.txt" in read
    assert not {"prompts/select_evidence.txt", "prompts/summarise_session.txt", "memory/epc.py"} & set(read)
    assert {"prompts/select_evidence.txt", "memory/epc.py", "memory/evidence_units.py"} <= set(epc)
    assert "prompts/answer_question.txt" not in epc
    assert not {"memory/epc.py", "memory/evidence_units.py", "prompts/select_evidence.txt"} & set(summary)
