"""Writes the sentence encoder as one ONNX graph, once, when assets are prepared.

Importing sentence-transformers takes about nine seconds, and every stage that needs one vector would pay them;
onnxruntime opens this graph in a fraction of a second and gives the same vectors.
"""

import logging
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from memgauge.errors import AssetError

GRAPH = "model.onnx"
INPUTS = ("input_ids", "attention_mask")
OUTPUT = "sentence_embedding"
_TOLERANCE = 1e-5  # of one coordinate of a unit vector
_CHECKED = ((1, 16), (3, 48), (2, 256))  # rows, word pieces
_SEED = 0


def export_encoder(folder: Path) -> None:
    """Write `folder`/model.onnx: (rows, word pieces) ids and mask to (rows, dimensions) unit vectors, pooling included.

    `folder` is what sentence-transformers loads. Two exports with the same libraries give the same bytes. Raises
    AssetError when the graph and the library disagree on vectors of random word pieces.
    """
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True).eval()

    class Vectors(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = model

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> Any:
            return self.inner(dict(zip(INPUTS, (input_ids, attention_mask), strict=True)))[OUTPUT]

    size = int(model.tokenizer.vocab_size)
    pieces = torch.randint(size, (3, 32), generator=torch.Generator().manual_seed(_SEED))
    free = {0: torch.export.Dim("rows", min=1, max=4096), 1: torch.export.Dim("pieces", min=2, max=512)}
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about names of dimensions, which nobody reads
        program: Any = torch.onnx.export(
            Vectors().eval(),
            (pieces, torch.ones_like(pieces)),
            dynamic_shapes=dict.fromkeys(INPUTS, free),
            input_names=list(INPUTS),
            output_names=[OUTPUT],
            dynamo=True,
            verbose=False,
        )
    _forget_places(program.model)
    program.save(str(folder / GRAPH), external_data=False)
    _check(folder / GRAPH, Vectors().eval(), size)


def _forget_places(model: Any) -> None:
    """Drop what names files and lines of the exporting machine."""
    for holder in (model, model.graph, *model.graph):
        holder.metadata_props.clear()
    for value in (*model.graph.inputs, *model.graph.outputs):
        value.metadata_props.clear()
    for node in model.graph:
        for value in node.outputs:
            value.metadata_props.clear()


def _check(graph: Path, library: Any, size: int) -> None:
    import torch
    from onnxruntime import InferenceSession

    session = InferenceSession(graph, providers=["CPUExecutionProvider"])
    draws = np.random.default_rng(_SEED)
    for shape in _CHECKED:
        ids, mask = draws.integers(size, size=shape), np.ones(shape, dtype=np.int64)
        mask[0, shape[1] // 2 :] = 0
        (ours,) = session.run([OUTPUT], dict(zip(INPUTS, (ids, mask), strict=True)))
        with torch.inference_mode():
            theirs = library(torch.from_numpy(ids), torch.from_numpy(mask)).numpy()
        apart = float(np.abs(ours - theirs).max())
        if not apart < _TOLERANCE:
            raise AssetError(
                f"{graph}: its vectors are up to {apart:.1e} from sentence-transformers' own "
                f"(at most {_TOLERANCE:.0e}); install the library versions of constraints.txt"
            )
