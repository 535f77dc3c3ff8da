"""A source-aware judge's task: what a conversation says of one statement."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from memgauge.prompts import render
from memgauge.tasks.base import Message, ParseFailure
from memgauge.tasks.replies import label_of, read_object

SourceLabel = Literal["supported", "contradicted", "absent"]
LABELS: tuple[SourceLabel, ...] = get_args(SourceLabel)


@dataclass(frozen=True, slots=True)
class CheckSource:
    """One statement (a reference or an answer) beside the source it must rest on; no gold and no rubric."""

    name: ClassVar[str] = "check_source"
    schema: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {
            "reason": {"type": "string", "maxLength": 240},
            "label": {"type": "string", "enum": list(LABELS)},
        },
        "required": ["reason", "label"],
        "additionalProperties": False,
    }

    source: str
    question: str
    statement: str

    @property
    def max_new_tokens(self) -> int:
        """Room for a reason of 240 characters in any tokenizer, and the label."""
        return 300

    def messages(self) -> list[Message]:
        """System and user message."""
        statement = self.statement.strip() or "(nothing)"
        return render(self.name, source=self.source, question=self.question, statement=statement)

    def parse(self, reply: str) -> SourceLabel | ParseFailure:
        """The label of a JSON object; exactly one of LABELS once case, white space and marks are off.

        >>> task = CheckSource("user: I live in Oslo.", "Where do I live?", "Oslo")
        >>> task.parse('{"reason": "said so", "label": "Supported."}'), task.parse("supported")
        ('supported', ParseFailure(reason='the reply holds no JSON object'))
        """
        found = read_object(reply)
        if isinstance(found, ParseFailure):
            return found
        value = found.get("label")
        for label in LABELS:
            if isinstance(value, str) and label_of(value) == label:
                return label
        return ParseFailure(f"label {value!r} is not one of {', '.join(LABELS)}")
