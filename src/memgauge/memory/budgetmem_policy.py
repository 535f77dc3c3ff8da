"""The router of BudgetMem at test time: one small network for all modules, its weights read from a folder.

Plain numpy, so that writing answers needs no training library; `training.router` makes the weights.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memgauge.errors import InputError
from memgauge.files import read_bytes, read_json
from memgauge.memory.budgetmem_modules import TIERS, Vectors
from memgauge.memory.budgetmem_pipeline import MODULES, Module

WEIGHTS, SETTINGS = "router.safetensors", "router.json"
LAYERS = ("hidden.0", "hidden.1", "hidden.2", "logits")


@dataclass(frozen=True, slots=True)
class Policy:
    """logits = MLP(proj(query + pooled) + proj(module)), + for side by side; ReLU between the layers of the MLP.

    With vectors of d numbers and width w the layers are 2d to w, d to w, then 2w to w, w, w / 2 and 3 tiers.
    `tensors` holds `NAME.weight` (outputs, inputs) and `NAME.bias` of `state`, `module`, LAYERS, and `modules`, the
    vectors of the modules' descriptions in the order of MODULES.
    """

    tensors: Mapping[str, NDArray[np.float32]]

    def choose(self, module: Module, states: Vectors) -> list[int]:
        """The tier of the highest logit for each row, the cheaper one of equals."""
        return [int(place) for place in self.logits(module, states).argmax(axis=1)]

    def logits(self, module: Module, states: Vectors) -> Vectors:
        """Shape (questions, tiers). Raises InputError for vectors of another encoder's length."""
        wanted = self.tensors["state.weight"].shape[1]
        if states.shape[1] != wanted:
            raise InputError(
                f"the router takes vectors of {wanted // 2} numbers, not {states.shape[1] // 2}; train it anew with"
                " this encoder"
            )
        described = self.tensors["modules"][list(MODULES).index(module)]
        told = np.broadcast_to(self._linear("module", described[None]), (len(states), len(self.tensors["module.bias"])))
        rows: Vectors = np.hstack([self._linear("state", states), told])
        for layer in LAYERS[:-1]:
            rows = np.maximum(self._linear(layer, rows), 0)
        return self._linear(LAYERS[-1], rows)

    def _linear(self, name: str, rows: Vectors) -> Vectors:
        made: Vectors = rows @ self.tensors[f"{name}.weight"].T + self.tensors[f"{name}.bias"]
        return made


def read_policy(folder: Path) -> Policy:
    """The router that `training.router.save` wrote. Raises InputError for a folder without one, or of other modules."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    settings: dict[str, Any] = read_json(folder / SETTINGS)
    if settings.get("modules") != dict(MODULES) or settings.get("tiers") != list(TIERS):
        raise InputError(f"{folder / SETTINGS} describes other modules or tiers than this version has; train it anew")
    try:
        return Policy(load(read_bytes(folder / WEIGHTS)))
    except SafetensorError as error:
        raise InputError(f"{folder / WEIGHTS} is no safetensors file ({error}); train the router anew") from error
