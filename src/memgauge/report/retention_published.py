"""What paper C prints of its retention experiment; a reference, never a result of ours."""

from dataclasses import dataclass

from memgauge.datasets.retention.wording import Variant

SOURCE = "paper C, figure 5: right states of 64 a cell; Qwen2.5-14B-Instruct and Mistral-7B-Instruct-v0.3"
OF = 64
MISSING = ("user_history", "reference")  # one request of Qwen failed: 2 right, 3 at most
TOKEN_REDUCTION_PERCENT = {"Qwen": 30.08, "Mistral": 31.53}
SUFFICIENT: dict[str, dict[Variant, int]] = {
    "full_history": {"direct": 64, "reference": 64},
    "user_history": {"direct": 64, "reference": 0},
    "recency": {"direct": 20, "reference": 20},
}
FAMILIES_MORE = (13, 16)  # families in which Qwen's direct cases are right more often under user history than recency


@dataclass(frozen=True, slots=True)
class PublishedArm:
    """Right states of 64, (direct, reference) a reader."""

    arm: str
    qwen: tuple[int, int]
    mistral: tuple[int, int]


PUBLISHED: tuple[PublishedArm, ...] = (
    PublishedArm("full_history", (33, 32), (1, 0)),
    PublishedArm("user_history", (52, 2), (2, 0)),
    PublishedArm("recency", (13, 13), (0, 1)),
    PublishedArm("full_guidance", (41, 42), (2, 1)),
    PublishedArm("full_placebo", (35, 32), (1, 0)),
    PublishedArm("full_unconstrained", (33, 30), (0, 0)),
    PublishedArm("user_history_unconstrained", (48, 1), (0, 0)),
    PublishedArm("oracle_removed", (50, 3), (0, 1)),
    PublishedArm("oracle_restored", (41, 42), (5, 0)),
)


def published_count(arm: str, variant: Variant) -> str:
    """Qwen's count as the paper prints it, "" for an arm that it does not have.

    >>> published_count("user_history", "reference"), published_count("full_history", "direct")
    ('2-3', '33')
    """
    for each in PUBLISHED:
        if each.arm == arm:
            count = each.qwen[variant == "reference"]
            return f"{count}-{count + 1}" if (arm, variant) == MISSING else str(count)
    return ""
