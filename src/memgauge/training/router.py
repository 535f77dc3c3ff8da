"""BudgetMem's router trained by PPO: one policy for five modules, one-step episodes (arXiv 2602.06025 and its code).

From the release: learning rate 3e-4, clip 0.2, value 0.5, entropy 0.01, gradient norm 0.5, 4 passes over each batch
of 32, 7 epochs, a joint ratio over the five choices, width 256. Ours, where it is silent: ReLU, Adam without decay,
advantages scaled to unit spread within a batch, last layer starting small so that all tiers are tried alike.
Deterministic for one machine and thread count; a seed is an argument, the release's is 42.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from memgauge.errors import InputError
from memgauge.files import write_bytes, write_json
from memgauge.memory.base import Encoder
from memgauge.memory.budgetmem_modules import TIERS, Vectors
from memgauge.memory.budgetmem_pipeline import MODULES, Module
from memgauge.memory.budgetmem_policy import LAYERS, SETTINGS, WEIGHTS, Policy
from memgauge.seeds import generator
from memgauge.training.router_episodes import Episodes, Played, Seen

if TYPE_CHECKING:
    import torch

    Tensors = dict[str, torch.Tensor]

_SMALL = 0.01  # scale of the last layer at the start
_VALUE = "value"


@dataclass(frozen=True, slots=True)
class RouterTraining:
    """`quality_weight` and `cost_weight` are the reward's w_r and w_c; `width` scales the network; the rest is PPO's.

    `window` is how many past costs the reward's percentiles are of. Raises InputError.
    """

    quality_weight: float = 1.0
    cost_weight: float = 0.5
    epochs: int = 7
    batch: int = 32
    passes: int = 4
    learning_rate: float = 3e-4
    clip: float = 0.2
    value_weight: float = 0.5
    entropy_weight: float = 0.01
    gradient_norm: float = 0.5
    width: int = 256
    window: int = 2_000

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if name in ("epochs", "batch", "passes", "width", "window"):
                if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                    raise InputError(f"{name} is {value!r}; it must be a whole number of at least 1")
            elif not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < float("inf"):
                raise InputError(f"{name} is {value!r}; it must be a finite number of at least 0")
        if self.width % 2:
            raise InputError(f"width is {self.width}; it must be even, since the last hidden layer has half of it")


@dataclass(frozen=True, slots=True)
class Step:
    """What one batch gave under the policy that played it: means over its questions, and the entropy in nats."""

    reward: float
    quality: float
    usd: float
    entropy: float


@dataclass(frozen=True, slots=True)
class Trained:
    """The policy, the record of its training, and the costs and qualities that its last rewards were scaled by."""

    policy: Policy
    steps: tuple[Step, ...]
    seen: Seen


def module_vectors(encoder: Encoder) -> Vectors:
    """The vectors of the modules' descriptions, shape (modules, dimensions)."""
    return encoder.encode(list(MODULES.values())).astype(np.float32)


def train_router(episodes: Episodes, modules: Vectors, options: RouterTraining, seed: int) -> Trained:
    """A router trained on all questions of `episodes`; `modules` are `module_vectors` of the encoder that states use.

    Raises InputError without questions.
    """
    import torch

    if not episodes.questions:
        raise InputError("there are no questions to train the router on; ask for more train histories")
    tensors = _start(modules, options.width, seed)
    optimiser = torch.optim.Adam([one for name, one in tensors.items() if name != "modules"], lr=options.learning_rate)
    seen = Seen(options.window)
    steps: list[Step] = []
    for epoch in range(options.epochs):
        order = generator(seed, "router", "order", str(epoch)).permutation(episodes.questions).tolist()
        for start in range(0, len(order), options.batch):
            sampler = _Sampler(tensors, generator(seed, "router", "choices", str(epoch), str(start)))
            played = episodes.play(order[start : start + options.batch], sampler)
            seen = seen.with_played(played)
            rewards = seen.rewards(played, options.quality_weight, options.cost_weight)
            entropy = _learn(tensors, optimiser, sampler, rewards, options)
            steps.append(_step(played, rewards, entropy))
    return Trained(_policy(tensors), tuple(steps), seen)


def untrained(modules: Vectors, options: RouterTraining, seed: int) -> Policy:
    """The policy that training starts from."""
    return _policy(_start(modules, options.width, seed))


def save(trained: Trained, folder: Path, options: RouterTraining, seed: int) -> None:
    """Write `router.safetensors` and `router.json`, the same bytes for the same training."""
    from safetensors.numpy import save as to_bytes

    tensors = {name: np.ascontiguousarray(trained.policy.tensors[name]) for name in sorted(trained.policy.tensors)}
    write_bytes(folder / WEIGHTS, [to_bytes(tensors)])
    facts = {"modules": dict(MODULES), "tiers": list(TIERS), "options": asdict(options), "seed": seed}
    write_json(folder / SETTINGS, {**facts, "dimensions": tensors["modules"].shape[1]})


def _start(modules: Vectors, width: int, seed: int) -> "Tensors":
    """Weights uniform within 1 / sqrt(inputs), as torch's linear layers begin, drawn from the seed."""
    import torch

    draws = generator(seed, "router", "start")
    dimensions = modules.shape[1]
    sizes = {"state": (width, 2 * dimensions), "module": (width, dimensions), _VALUE: (1, 2 * width)}
    outputs, inputs = (width, width, width // 2, len(TIERS)), (2 * width, width, width, width // 2)
    sizes.update({name: (out, into) for name, out, into in zip(LAYERS, outputs, inputs, strict=True)})
    tensors: dict[str, NDArray[np.float32]] = {}
    for name, (out, into) in sizes.items():
        bound = (_SMALL if name == LAYERS[-1] else 1.0) / np.sqrt(into)
        tensors[f"{name}.weight"] = draws.uniform(-bound, bound, (out, into)).astype(np.float32)
        tensors[f"{name}.bias"] = np.zeros(out, dtype=np.float32)
    made = {name: torch.tensor(array, requires_grad=True) for name, array in tensors.items()}
    return {**made, "modules": torch.tensor(modules)}


def _policy(tensors: Mapping[str, Any]) -> Policy:
    """A copy in numpy, without the value head, which only training needs."""
    kept = {name: one for name, one in tensors.items() if not name.startswith(_VALUE)}
    return Policy({name: one.detach().numpy().copy() for name, one in kept.items()})


class _Sampler:
    """Plays the policy by drawing from it, and keeps what it saw and chose, module by module."""

    def __init__(self, tensors: "Tensors", draws: np.random.Generator) -> None:
        self.policy = _policy(tensors)
        self.draws = draws
        self.states: list[Vectors] = []
        self.choices: list[list[int]] = []

    def choose(self, module: Module, states: Vectors) -> list[int]:
        logits = self.policy.logits(module, states).astype(np.float64)
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        edges = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
        places = (self.draws.random(len(states))[:, None] >= edges[:, :-1]).sum(axis=1).tolist()
        self.states.append(states.astype(np.float32))
        self.choices.append(places)
        return list(places)


def _learn(
    tensors: "Tensors", optimiser: Any, sampler: _Sampler, rewards: NDArray[np.float64], options: RouterTraining
) -> float:
    """Several passes of PPO over one batch; the entropy per choice before them, in nats."""
    import torch

    states = torch.tensor(np.stack(sampler.states))  # (modules, questions, 2 * dimensions)
    choices = torch.tensor(sampler.choices)  # (modules, questions)
    wanted = torch.tensor(rewards, dtype=torch.float32)
    with torch.no_grad():
        old, entropy, value = _read(tensors, states, choices)
        advantages = wanted - value
        advantages = (advantages - advantages.mean()) / (advantages.std(unbiased=False) + 1e-8)
    first_entropy = float(entropy)
    for _ in range(options.passes):
        joint, entropy, value = _read(tensors, states, choices)
        ratio = torch.exp(joint - old)
        bounded = torch.clamp(ratio, 1 - options.clip, 1 + options.clip)
        gain = torch.minimum(ratio * advantages, bounded * advantages).mean()
        miss = torch.nn.functional.mse_loss(value, wanted)
        loss = options.value_weight * miss - gain - options.entropy_weight * entropy
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(optimiser.param_groups[0]["params"], options.gradient_norm)
        optimiser.step()
    return first_entropy


def _read(
    tensors: "Tensors", states: "torch.Tensor", choices: "torch.Tensor"
) -> "tuple[torch.Tensor, torch.Tensor, torch.Tensor]":
    """The joint log-probability of each question's choices, the mean entropy of a choice, each question's value."""
    import torch

    def linear(name: str, rows: "torch.Tensor") -> "torch.Tensor":
        return torch.nn.functional.linear(rows, tensors[f"{name}.weight"], tensors[f"{name}.bias"])

    told = linear("module", tensors["modules"])[:, None].expand(-1, states.shape[1], -1)
    features = torch.cat([linear("state", states), told], dim=-1)
    rows = features
    for layer in LAYERS[:-1]:
        rows = torch.relu(linear(layer, rows))
    logs = torch.log_softmax(linear(LAYERS[-1], rows), dim=-1)
    joint = logs.gather(-1, choices[..., None])[..., 0].sum(dim=0)
    entropy = -(logs.exp() * logs).sum(dim=-1).mean()
    return joint, entropy, linear(_VALUE, features[0])[:, 0]  # the filter's features: nothing is chosen before it


def _step(played: Sequence[Played], rewards: NDArray[np.float64], entropy: float) -> Step:
    return Step(
        float(rewards.mean()),
        float(np.mean([one.quality for one in played])),
        float(np.mean([one.usd for one in played])),
        entropy,
    )
