"""Which prompts are generated together: those that share a long prefix, or those of like length."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MOST_SHARING = 32  # each decoding step looks at the tokens of all sharers: more of them cost more than they save
WORTH = 200  # tokens that sharing must save: a small group decodes nearly as long as a full batch, so less does not pay


@dataclass(frozen=True, slots=True)
class Prompt:
    """A request as the model's token ids and how to continue them; equal prompts are generated once.

    `seed` and `sample` decide the draw where `temperature` is above 0, and are 0 where it is not.
    """

    ids: tuple[int, ...]
    max_new_tokens: int
    temperature: float = 0.0
    seed: int = 0
    sample: int = 0
    schema: str | None = None

    @property
    def room(self) -> int:
        """Tokens that prompt and reply may take together."""
        return len(self.ids) + self.max_new_tokens


@dataclass(frozen=True, slots=True)
class Group:
    """Prompts to generate together; `shared` leading tokens are the same in all (0: padded side by side)."""

    prompts: tuple[Prompt, ...]
    shared: int = 0


def plan(prompts: Sequence[Prompt], budget: int) -> list[Group]:
    """Every prompt in one group; a group holds at most `budget` tokens (a lone prompt may hold more).

    >>> context = tuple(range(100, 300))
    >>> prompts = [Prompt((*context, 1), 2), Prompt((5, 6), 2), Prompt((*context, 2, 3), 2)]
    >>> [(len(group.prompts), group.shared) for group in plan(prompts, 1000)]
    [(2, 200), (1, 0)]
    """
    together: list[Group] = []
    alone: list[Prompt] = []
    for group in _sharing(prompts, budget):
        if group.shared * (len(group.prompts) - 1) >= WORTH:
            together.append(group)
        else:
            alone += group.prompts
    return together + [Group(tuple(batch)) for batch in batches(alone, budget)]


def _sharing(prompts: Sequence[Prompt], budget: int) -> Iterator[Group]:
    """Neighbours in sorted order, as long as what they share is at least half of each of them."""
    group: list[Prompt] = []
    shared = used = 0
    for prompt in sorted(prompts, key=lambda prompt: (prompt.ids, prompt.max_new_tokens)):
        # A prompt is never all prefix: its last token must be fed to get its first new one.
        alike = common(group[0].ids, prompt.ids) if group else 0
        both = min(alike, shared, len(prompt.ids) - 1)
        pays = 2 * both >= max([len(prompt.ids), *(len(member.ids) for member in group)])
        room = used + prompt.room - both + (shared - both) * (len(group) - 1)
        if group and pays and room <= budget and len(group) < MOST_SHARING:
            group, shared, used = [*group, prompt], both, room
        else:
            if group:
                yield Group(tuple(group), shared)
            group, shared, used = [prompt], len(prompt.ids) - 1, prompt.room
    if group:
        yield Group(tuple(group), shared)


def common(first: Sequence[int], second: Sequence[int]) -> int:
    """How many leading tokens are the same.

    >>> common((1, 2, 3), (1, 2, 4, 5))
    2
    """
    pairs = enumerate(zip(first, second, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(first), len(second)))


def batches(prompts: Sequence[Prompt], budget: int) -> Iterator[list[Prompt]]:
    """Prompts by length, longest first, in batches whose padded room fits `budget` tokens (one always goes).

    >>> prompts = [Prompt((1,) * n, 2) for n in (3, 8, 2, 3)]
    >>> [[len(prompt.ids) for prompt in group] for group in batches(prompts, 10)]
    [[8], [3, 3], [2]]
    """
    group: list[Prompt] = []
    for prompt in sorted(prompts, key=lambda prompt: (-len(prompt.ids), -prompt.max_new_tokens)):
        widest = max((member.max_new_tokens for member in group), default=0)
        room = len((group or [prompt])[0].ids) + max(widest, prompt.max_new_tokens)
        if group and room * (len(group) + 1) > budget:
            yield group
            group = []
        group.append(prompt)
    if group:
        yield group
