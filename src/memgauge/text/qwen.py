"""Token ids in Qwen2.5's vocabulary, which paper C's budgets and prompt limit are stated in, without a network."""

from base64 import b64decode
from functools import cache
from typing import TYPE_CHECKING
from unicodedata import normalize

from memgauge.errors import AssetError
from memgauge.text.tokens import models_folder

if TYPE_CHECKING:
    import tiktoken

NAME = "qwen2.5"
FILE = "qwen.tiktoken"
# How Qwen2 splits text before byte pairs are merged (its published tokenizer).
PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


@cache
def _encoding() -> "tiktoken.Encoding":
    file = models_folder() / NAME / FILE
    if not file.is_file():
        raise AssetError(
            f"the Qwen2.5 vocabulary is not in {file.parent}; run `dvc repro assets@{NAME}` or set MEMGAUGE_MODELS"
        )
    import tiktoken

    # tiktoken's own loader would copy the file into its cache, which is the tracked folder of another vocabulary.
    lines = (line.split() for line in file.read_bytes().splitlines() if line)
    ranks = {b64decode(token): int(rank) for token, rank in lines}
    return tiktoken.Encoding(name=NAME, pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={})


def qwen_ids(text: str) -> list[int]:
    """Ids of one text, NFC first as Qwen's own tokenizer does; control tokens count as plain text.

    Raises AssetError when the vocabulary is not there.
    """
    return _encoding().encode_ordinary(normalize("NFC", text))


def count_qwen(texts: list[str]) -> list[int]:
    """Tokens of each text, in order."""
    composed = [normalize("NFC", text) for text in texts]
    return [len(ids) for ids in _encoding().encode_ordinary_batch(composed, num_threads=2)]
