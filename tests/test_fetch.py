"""What fetching promises: local copy first, pinned checksums, and nothing written when they do not match."""

import gzip
import hashlib
import io
import urllib.error
from dataclasses import replace
from pathlib import Path

import pytest

from memgauge.datasets import fetch as fetching
from memgauge.datasets import fetch as module
from memgauge.datasets.catalogue import READERS, reader
from memgauge.datasets.fetch import fetch
from memgauge.datasets.pins import Pin, pins
from memgauge.errors import AssetError, InputError

CONTENT = b'[{"x": 1}]'
SHA256 = hashlib.sha256(CONTENT).hexdigest()
URL = "https://example.org/longmemeval_s.json"


def no_network(url: str) -> io.BytesIO:
    raise AssertionError(f"the network was asked for {url}")


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_pins_cover_both_tiers_with_two_or_three_files_a_chat():
    beam = pins("beam")
    assert len(beam) == 55 * 2 + 10
    assert sum(path.endswith("chat_trunecated.json") for path in beam) == 10
    commit = "b2a3ee8ba12d68f83143dda191097dc3e028ddd3"
    pin = beam["chats/100K/1/chat.json"]
    assert pin.url == f"https://raw.githubusercontent.com/mohammadtavakoli78/BEAM/{commit}/chats/100K/1/chat.json"
    assert pin.bytes == 564977
    assert all(len(item.sha256) == 64 for name in ("beam", "locomo", "longmemeval") for item in pins(name).values())


@pytest.mark.parametrize("name", ["locomo", "longmemeval"])
def test_single_files_come_from_the_local_folder(real_data, tmp_path, name):
    fetch(name, tmp_path, real_data, {}, no_network)
    (pin, *_) = pins(name).values()
    assert files(tmp_path) == [pin.path]
    assert (tmp_path / pin.path).stat().st_size == pin.bytes


def test_beam_is_unpacked_from_the_local_folder(real_data, tmp_path):
    fetch("beam", tmp_path, real_data, {"tiers": ["100K"]}, no_network)
    expected = {path: pin.bytes for path, pin in pins("beam").items() if "/100K/" in path}
    assert {path: (tmp_path / path).stat().st_size for path in files(tmp_path)} == expected


def test_wrong_checksum_names_both_and_writes_nothing(tmp_path):
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    (source / "locomo10.json").write_bytes(CONTENT)
    with pytest.raises(AssetError) as caught:
        fetch("locomo", target, source, {}, no_network)
    pin = pins("locomo")["locomo10.json"]
    assert all(
        word in str(caught.value) for word in ["locomo10.json", SHA256, pin.sha256, "MEMGAUGE_DATA", str(pin.url)]
    )
    assert files(target) == []


def test_a_fetch_that_breaks_off_leaves_the_folder_as_it_was_and_is_resumed(tmp_path, real_data, monkeypatch):
    """The second of two files is damaged, then mended: the first is not read again."""
    target, read_again = tmp_path / "raw", []
    target.mkdir()
    (target / "old").write_text("old")
    two = dict(list(pins("beam").items())[:2])
    broken = {name: replace(pin, sha256="0" * 64) for name, pin in list(two.items())[1:]}
    monkeypatch.setattr(fetching, "_beam_pins", lambda source, options: list((two | broken).values()))
    with pytest.raises(AssetError, match="SHA-256"):
        fetch("beam", target, real_data, {}, no_network)
    assert files(target) == ["old"]
    monkeypatch.setattr(fetching, "_beam_pins", lambda source, options: list(two.values()))
    blocks = fetching._blocks
    monkeypatch.setattr(
        fetching, "_blocks", lambda name, pin, *rest: read_again.append(pin) or blocks(name, pin, *rest)
    )
    fetch("beam", target, real_data, {}, no_network)
    assert files(target) == sorted(two)
    assert read_again == list(two.values())[1:]
    assert not target.with_name(".raw.partial").exists()


def test_download_is_the_second_choice_and_is_checked_too(tmp_path):
    asked = []

    def answer(url: str) -> io.BytesIO:
        asked.append(url)
        return io.BytesIO(CONTENT)

    with pytest.raises(AssetError, match=SHA256):
        fetch("locomo", tmp_path / "a", None, {}, answer)
    assert asked == [pins("locomo")["locomo10.json"].url]
    fetch("longmemeval", tmp_path / "b", None, {"file": "s.json", "sha256": SHA256, "url": URL}, answer)
    assert (tmp_path / "b" / "s.json").read_bytes() == CONTENT
    assert asked[1:] == [URL]


def test_verified_files_that_are_there_are_not_brought_again(tmp_path):
    options = {"file": "s.json", "sha256": SHA256, "url": URL}
    fetch("longmemeval", tmp_path / "b", None, options, lambda url: io.BytesIO(CONTENT))
    fetch("longmemeval", tmp_path / "b", None, options, no_network)
    (tmp_path / "b" / "other.json").write_bytes(CONTENT)
    fetch("longmemeval", tmp_path / "b", None, options, lambda url: io.BytesIO(CONTENT))
    assert files(tmp_path / "b") == ["s.json"]
    (tmp_path / "b" / "s.json").write_bytes(b"changed")
    with pytest.raises(AssertionError, match="the network was asked"):
        fetch("longmemeval", tmp_path / "b", None, options, no_network)


def test_unreachable_address_says_what_to_do(tmp_path):
    def refuse(url: str) -> io.BytesIO:
        raise urllib.error.URLError("no route")

    with pytest.raises(AssetError, match=r"no route.*put a copy with SHA-256 .* set MEMGAUGE_DATA"):
        fetch("locomo", tmp_path, None, {}, refuse)
    assert files(tmp_path) == []


def test_only_https_is_opened(tmp_path):
    with pytest.raises(InputError, match="not an https address"):
        fetch("longmemeval", tmp_path, None, {"file": "s.json", "sha256": SHA256, "url": "file:///etc/passwd"})


def test_sample_without_a_local_copy_says_what_to_do(tmp_path):
    with pytest.raises(AssetError, match=r"longmemeval_sample\.json is not in MEMGAUGE_DATA \(not set\)"):
        fetch("longmemeval", tmp_path, None, {}, no_network)


def test_unpinned_file_needs_its_checksum_and_the_error_gives_the_one_found(tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    (source / "longmemeval_s.json.gz").write_bytes(gzip.compress(CONTENT))
    options = {"file": "longmemeval_s.json"}
    with pytest.raises(AssetError, match=rf"benchmark\.longmemeval\.source\.sha256.*{SHA256}"):
        fetch("longmemeval", tmp_path / "t", source, options, no_network)
    fetch("longmemeval", tmp_path / "t", source, {**options, "sha256": SHA256}, no_network)
    assert (tmp_path / "t" / "longmemeval_s.json").read_bytes() == CONTENT


def test_damaged_gzip_copy_is_an_asset_error(tmp_path, monkeypatch):
    (tmp_path / "x.json.gz").write_bytes(gzip.compress(CONTENT)[:-9])
    monkeypatch.setattr(module, "pins", lambda name: {"x.json": Pin("x.json", 1, SHA256, None)})
    with pytest.raises(AssetError, match=r"cannot read .*x\.json\.gz"):
        fetch("locomo", tmp_path / "t", tmp_path, {}, no_network)
    assert files(tmp_path / "t") == []


def test_unpinned_tiers_need_permission_and_a_local_copy(tmp_path):
    place = tmp_path / "beam" / "chats" / "1M" / "3"
    (place / "probing_questions").mkdir(parents=True)
    (place / "chat.json").write_bytes(b"[]")
    (place / "topic.json").write_bytes(b"{}")
    (place / "probing_questions" / "probing_questions.json").write_bytes(b"{}")
    with pytest.raises(AssetError, match=r"'1M' has no pinned checksums.*allow_unpinned"):
        fetch("beam", tmp_path / "t", tmp_path, {"tiers": ["1M"]}, no_network)
    fetch("beam", tmp_path / "t", tmp_path, {"tiers": ["1M"], "allow_unpinned": True}, no_network)
    assert files(tmp_path / "t") == [
        "chats/1M/3/chat.json",
        "chats/1M/3/probing_questions/probing_questions.json",
    ]


def test_unknown_names_list_the_choices(tmp_path):
    with pytest.raises(InputError, match="choose from beam, locomo, longmemeval"):
        fetch("loocmo", tmp_path, None, {})
    with pytest.raises(InputError, match=r"unknown benchmark 'x'; choose from beam, locomo, longmemeval, synthetic"):
        reader("x")


@pytest.mark.parametrize("name", sorted(READERS))
def test_every_reader_of_the_table_exists(name):
    assert callable(reader(name))
