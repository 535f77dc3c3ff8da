"""Where a training keeps its checkpoints, and which of them a killed run left whole."""

import hashlib
import shutil
from pathlib import Path
from typing import Any

import msgspec

STATE = "trainer_state.json"  # transformers writes it last


def run_folder(root: Path, *facts: Any) -> Path:
    """The folder of one training: whatever decides its result is in `facts`, so no other training resumes it."""
    encoded = msgspec.json.encode([repr(fact) for fact in facts])
    return root / hashlib.sha256(encoded).hexdigest()[:16]


def last_whole(folder: Path) -> Path | None:
    """The newest complete checkpoint; half-written ones, which a kill leaves, are removed.

    A checkpoint is complete when its last file is there and reads as JSON.
    """
    whole: list[tuple[int, Path]] = []
    for path in sorted(folder.glob("checkpoint-*")):
        if _is_whole(path):
            whole.append((int(path.name.rpartition("-")[2]), path))
        else:
            shutil.rmtree(path)
    return max(whole)[1] if whole else None


def forget(folder: Path) -> None:
    """Remove a finished training's checkpoints; its result is elsewhere."""
    shutil.rmtree(folder, ignore_errors=True)


def _is_whole(checkpoint: Path) -> bool:
    try:
        msgspec.json.decode((checkpoint / STATE).read_bytes())
    except (OSError, msgspec.DecodeError):
        return False
    return True
