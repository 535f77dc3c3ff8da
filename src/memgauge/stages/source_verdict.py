"""What stage `qualify_source` found, as the sentence that stands beside every judged score."""

import msgspec

from memgauge.files import read_json
from memgauge.protocol.source_qualification import SourceQualification, verdict_text
from memgauge.stages.passage_paths import SOURCE_JUDGE


def source_verdict() -> str:
    """Whether the judge may rescore against sources, and why not; InputError where that was not tried."""
    return verdict_text(msgspec.convert(read_json(SOURCE_JUDGE), SourceQualification))
