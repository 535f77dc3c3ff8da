"""A file is whole or absent: atomic writes, named faults, a full disk."""

import subprocess
import sys
from pathlib import Path

import pytest

from memgauge.errors import InputError
from memgauge.files import read_json, read_jsonl, write_json, write_jsonl
from memgauge.records import Turn


def test_records_survive_the_round_trip(tmp_path: Path) -> None:
    turns = [Turn("1", "Ann", "a\u2028b \U0001f620"), Turn("2", "Bob", "", "a car")]
    write_jsonl(tmp_path / "turns.jsonl", turns)
    assert list(read_jsonl(tmp_path / "turns.jsonl", Turn)) == turns


def test_undefined_number_is_null_in_json(tmp_path: Path) -> None:
    write_json(tmp_path / "m.json", {"b": float("nan"), "a": 1})
    assert (tmp_path / "m.json").read_text(encoding="utf-8") == '{\n  "a": 1,\n  "b": null\n}\n'


def test_a_failing_producer_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "turns.jsonl"
    write_jsonl(path, [Turn("1", "Ann", "old")])

    def broken():  # type: ignore[no-untyped-def]
        yield Turn("1", "Ann", "new")
        raise KeyError("later")

    with pytest.raises(KeyError):
        write_jsonl(path, broken())
    assert [turn.text for turn in read_jsonl(path, Turn)] == ["old"]
    assert [each.name for each in tmp_path.iterdir()] == ["turns.jsonl"]


def test_a_bad_line_is_named_with_its_field(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"id":"1","speaker":"A","text":"x"}\n{"id":"2","speaker":"A"}\n')
    with pytest.raises(InputError, match=r"t\.jsonl line 2: .*text"):
        list(read_jsonl(tmp_path / "t.jsonl", Turn))


def test_malformed_json_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"a": ')
    with pytest.raises(InputError, match=r"x\.json is not valid JSON"):
        read_json(tmp_path / "x.json")


def test_a_full_disk_is_one_error_and_leaves_nothing(tmp_path: Path) -> None:
    """The operating system refuses the write: a limit on file size stands in for the disk's end."""
    code = (
        "import resource, signal, sys\n"
        "from pathlib import Path\n"
        "from memgauge.errors import InputError\n"
        "from memgauge.files import write_bytes\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try:\n"
        "    write_bytes(Path(sys.argv[1]), [b'x' * 600] * 9)\n"
        "except InputError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "big")], capture_output=True, text=True, check=True
    )
    assert "cannot write" in done.stdout
    assert "free space" in done.stdout
    assert list(tmp_path.iterdir()) == []
