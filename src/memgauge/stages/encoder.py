"""The sentence encoder of a stage: one a process, its vectors shared by all cells."""

from functools import cache

from memgauge.memory.base import Encoder
from memgauge.retrieval.dense import SentenceEncoder
from memgauge.stages.layout import MODELS, embedding_cache


@cache
def sentence_encoder() -> Encoder:
    """The MiniLM encoder with the vectors that all cells share."""
    return SentenceEncoder(MODELS / "minilm", cache=embedding_cache())
