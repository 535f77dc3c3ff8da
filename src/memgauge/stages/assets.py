"""Stage `assets`: bring one model or vocabulary, verified and converted once."""

from memgauge.assets import ensure
from memgauge.params import Params
from memgauge.stages.layout import MODELS


def main(params: Params, asset: str) -> None:
    """Write `models/ASSET/`."""
    ensure(asset, MODELS)
