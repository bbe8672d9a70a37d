"""The demo's requests: arrivals and lengths of a recorded trace, the rest drawn by a seeded hash.

The recorded conversations say when and how long, not who and what. Class, tenant and session follow
from a hash, so that every run offers the same mix: three gated segments of about a third each.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from orchid.formats.arrivals.shape import Arrival

LONG_PROMPT_TOKENS = 2048
# What a client asks for: the smallest of the usual caps that holds its answer.
CAPS = (128, 256, 512, 1024, 2048)
STANDARD_TENANTS = ("birch", "cedar", "maple", "rowan")
PREMIUM_TENANTS = ("atlas", "borealis")


@dataclass(frozen=True)
class DemoRequest:
    """One request as its client intends it; `at_s` counts from the driver's start."""

    number: int
    at_s: float
    class_: str
    tenant: str
    tenant_class: str
    session: str
    input_tokens: int
    answer_tokens: int
    max_output_tokens: int


def requests(slice_: Sequence[Arrival], rate_per_s: float, seed: int) -> Iterator[DemoRequest]:
    """The slice for ever, its gaps scaled so that it makes `rate_per_s` on average."""
    first = slice_[0].at_ns
    span_ns = (slice_[-1].at_ns - first) * Fraction(len(slice_), len(slice_) - 1)
    scale = len(slice_) / rate_per_s / float(span_ns)
    number = 0
    while True:
        lap_s = number / rate_per_s
        for row in slice_:
            yield _request(row, number, lap_s + (row.at_ns - first) * scale, seed)
            number += 1


def _request(row: Arrival, number: int, at_s: float, seed: int) -> DemoRequest:
    segment, tenant, session = hashlib.blake2b(f"{seed}/{number}".encode(), digest_size=3).digest()
    premium, extraction = segment % 3 == 1, segment % 3 == 2
    tenants = PREMIUM_TENANTS if premium else STANDARD_TENANTS
    name = tenants[tenant % len(tenants)]
    return DemoRequest(
        number=number,
        at_s=at_s,
        class_="structured_extraction" if extraction else _assistant(row.input_tokens),
        tenant=name,
        tenant_class="premium" if premium else "standard",
        session=f"{name}-{session}",
        input_tokens=row.input_tokens,
        answer_tokens=row.output_tokens,
        max_output_tokens=next(cap for cap in CAPS if cap >= row.output_tokens),
    )


def _assistant(input_tokens: int) -> str:
    return "long_assistant" if input_tokens > LONG_PROMPT_TOKENS else "short_assistant"
