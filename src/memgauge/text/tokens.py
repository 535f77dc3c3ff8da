"""Token counts in cl100k_base, the suite's one unit of budget, without a network."""

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from memgauge.errors import AssetError

if TYPE_CHECKING:
    import tiktoken

VOCABULARY_FILE = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"  # tiktoken's cache name of cl100k_base


def models_folder() -> Path:
    """Where assets live: `MEMGAUGE_MODELS`, else `models` below the working folder."""
    return Path(os.environ.get("MEMGAUGE_MODELS", "models"))


@cache
def _encoding() -> "tiktoken.Encoding":
    folder = models_folder() / "cl100k_base"
    if not (folder / VOCABULARY_FILE).is_file():
        raise AssetError(
            f"the cl100k_base vocabulary is not in {folder}; run `dvc repro assets@cl100k_base` or set MEMGAUGE_MODELS"
        )
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    import tiktoken

    return tiktoken.get_encoding("cl100k_base")


def count_tokens(text: str) -> int:
    """Tokens of one text; text that looks like a control token is counted as plain text.

    >>> count_tokens("hello world")
    2
    """
    return len(_encoding().encode_ordinary(text))


def count_many(texts: list[str]) -> list[int]:
    """Tokens of each text, in order."""
    return [len(ids) for ids in _encoding().encode_ordinary_batch(texts, num_threads=2)]


def truncate(text: str, limit: int) -> str:
    """The longest prefix of at most `limit` tokens; a character cut in two is dropped whole.

    >>> truncate("one two three", 2)
    'one two'
    """
    ids = _encoding().encode_ordinary(text)
    if len(ids) <= limit:
        return text
    return _encoding().decode_bytes(ids[: max(limit, 0)]).decode("utf-8", errors="ignore")


def split_tokens(text: str, size: int) -> list[str]:
    """Consecutive pieces of at most `size` tokens whose concatenation is the text, characters kept whole."""
    encoding = _encoding()
    ids = encoding.encode_ordinary(text)
    pieces: list[str] = []
    pending = b""
    for start in range(0, len(ids), size):
        pending += encoding.decode_bytes(ids[start : start + size])
        whole = pending.decode("utf-8", errors="ignore")
        pending = pending[len(whole.encode("utf-8")) :]
        pieces.append(whole)
    return [piece for piece in pieces if piece]
