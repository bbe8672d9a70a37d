"""The kinds of value that a record may hold, each with its bounds.

Every string is a name from a bounded vocabulary and holds no white space, so no field of a record
can carry a sentence of a prompt or of an answer; and no control character, which no store takes.
"""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal

from msgspec import Meta

Name = Annotated[str, Meta(min_length=1, max_length=128, pattern=r"^[^\s\x00-\x1f\x7f]+\Z")]
Code = Annotated[str, Meta(min_length=1, max_length=64, pattern=r"^[a-z0-9_.:-]+\Z")]
Dimension = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]{0,31}\Z")]
# Its text is part of a segment's key, where `=` and `|` are the marks between names and values.
DimensionValue = Annotated[
    str, Meta(min_length=1, max_length=128, pattern=r"^[^\s\x00-\x1f\x7f=|]+\Z")
]
Dimensions = Annotated[dict[Dimension, DimensionValue], Meta(max_length=16)]
Instant = Annotated[datetime, Meta(tz=True)]
Milliseconds = Annotated[float, Meta(ge=0, le=1e9)]
Joules = Annotated[float, Meta(ge=0, le=1e12)]
Tokens = Annotated[int, Meta(ge=0, le=100_000_000)]
Bytes = Annotated[int, Meta(ge=0, le=1 << 50)]
Count = Annotated[int, Meta(ge=0, le=1_000_000_000)]
Probability = Annotated[float, Meta(ge=0, le=1)]

Cohort = Literal["incumbent", "candidate", "shadow"]
Action = Literal["admit", "fallback", "bound", "defer", "reject"]
AttemptStatus = Literal[
    "completed",
    "early_terminated",
    "bounded",
    "truncated",
    "timed_out",
    "cancelled",
    "failed",
    "lost",
]
#: An attempt's, or that there was none.
Outcome = Literal[AttemptStatus, "rejected", "deferred"]
InputConvention = Literal["includes_cached", "excludes_cached"]

AMOUNT_LIMIT = Decimal(10) ** 15

# Names under which senders put what people wrote or read. A field so called refuses the record.
TEXT_FIELDS = frozenset(
    {
        "answer",
        "answers",
        "arguments",
        "body",
        "completion",
        "completions",
        "content",
        "contents",
        "conversation",
        "document",
        "documents",
        "generated_text",
        "history",
        "input",
        "inputs",
        "instruction",
        "instructions",
        "message",
        "messages",
        "output",
        "output_text",
        "outputs",
        "prompt",
        "prompts",
        "query",
        "question",
        "raw",
        "response",
        "responses",
        "system_prompt",
        "text",
        "texts",
        "tool_arguments",
        "tool_calls",
        "transcript",
        "user_prompt",
    }
)


def check_amount(name: str, value: Decimal | None) -> None:
    """Refuse dollars or TEU that are negative, not finite or absurdly large, by ValueError."""
    if value is not None and not (value.is_finite() and 0 <= value <= AMOUNT_LIMIT):
        raise ValueError(f"{name} must be a finite decimal from 0 to {AMOUNT_LIMIT:f}")
