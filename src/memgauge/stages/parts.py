"""What a role's solver is made of: options as given, and a checksum of every file in the folders they name."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memgauge.errors import AssetError
from memgauge.stages.layout import MODELS

FOLDERS = ("model", "adapter")  # options that name a folder; `model` is a mere name beside an endpoint


def parts_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options and checksums by path; AssetError for a folder that is not there.

    A solver that works by ranking is made of the sentence encoder. Behind an endpoint nothing can be hashed: its
    options are all that is known.
    """
    named = () if options.get("endpoint") else FOLDERS
    folders = [Path(str(options[name])) for name in named if options.get(name)]
    if options.get("solver") == "extractive":
        folders.append(MODELS / "minilm")
    return {
        "options": dict(sorted(options.items())),
        "files": {str(file): _sha256(file) for folder in folders for file in _files(folder)},
    }


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise AssetError(f"there is no model in {folder}; run its stage (`dvc repro assets`) or correct the path")
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "NOTICE.txt")


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
