"""What would happen to one request, told with every constraint that it meets.

The request arrives at the fleet that the document declares: idle, or after some seconds of a part
(or a multiple) of the declared arrivals, decided and served by the same policy.
"""

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import islice

from orchid.engine.admission.decide import decide
from orchid.engine.admission.request import AdmissionRequest, Decision
from orchid.engine.decision_diff.arrivals import Arrival
from orchid.engine.decision_diff.course import Course
from orchid.engine.decision_diff.fleet import policy_of
from orchid.engine.document.model import PolicyDocument
from orchid.engine.pricing import offered_requests_per_s

MOST_TOKENS = 10_000_000
MOST_MS = 3_600_000
MOST_LOAD = 2_000
#: For how long the load has lasted when the request arrives, and the most requests that it has.
LOAD_MS = 2_000.0
MOST_ARRIVALS = 4_000


class AskedError(ValueError):
    """The words describe no request; the message says what was found and what would be right."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request to explain. What is None takes the class's declared shape and deadline."""

    cls: str
    tenant: str = "-"
    tenant_class: str | None = None
    region: str | None = None
    privacy_cell: str | None = None
    segment: Mapping[str, str] = field(default_factory=dict)
    input_tokens: int | None = None
    max_output_tokens: int | None = None
    cached_input_tokens: int = 0
    deadline_in_ms: int | None = None
    load: int = 0
    """Percent of the declared arrivals, all classes alike; 0 is an idle fleet."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """The decision, and what the fleet was doing when it was made."""

    asked: Asked
    decision: Decision
    running: int
    waiting: int
    places: int


_TEXTS = ("tenant", "tenant_class", "region", "privacy_cell")
_COUNTS = {
    "input_tokens": MOST_TOKENS,
    "max_output_tokens": MOST_TOKENS,
    "cached_input_tokens": MOST_TOKENS,
    "deadline_in_ms": MOST_MS,
    "load": MOST_LOAD,
}
#: Keys of a request in words; beside them each dimension of the document is one.
KEYS = ("class", *_TEXTS, *_COUNTS)


def read_asked(words: Mapping[str, str], document: PolicyDocument) -> Asked:
    """A request from keys and values as people write them; empty values are left out.

    Raises AskedError for an unknown key or class (with the nearest name) and for no whole number.
    """
    given = {key.strip(): value.strip() for key, value in words.items() if value.strip()}
    dimensions = [name for name in document.segments.dimensions if name not in KEYS]
    for key in given:
        if key not in (*KEYS, *dimensions):
            raise AskedError(f"{key!r} is no key of a request{_near(key, [*KEYS, *dimensions])}")
    cls = given.get("class", "")
    if not cls:
        raise AskedError(f"name a class: {', '.join(document.classes)}")
    return Asked(
        cls=cls,
        segment={name: given[name] for name in dimensions if name in given},
        # The keys are fields of Asked, which a mapping can't tell the type checker.
        **{key: given[key] for key in _TEXTS if key in given},  # type: ignore[arg-type]
        **{key: _count(key, given[key]) for key in _COUNTS if key in given},  # type: ignore[arg-type]
    )


def _near(word: str, known: list[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    return f"; did you mean {close[0]}?" if close else f"; it has {', '.join(known)}"


def _count(key: str, text: str) -> int:
    most = _COUNTS[key]
    if not (text.isascii() and text.isdigit() and len(text) < 12 and int(text) <= most):
        raise AskedError(f"{key} is a whole number from 0 to {most:,}, not {text[:40]!r}")
    return int(text)


def explain(document: PolicyDocument, asked: Asked) -> Explanation:
    """Decide the request as the edge would, with the arithmetic of every constraint."""
    course = Course(policy_of(document), None, alone=False)
    now_ms = _loaded(course, document, asked.load)
    pool = course.state.pools[course.policy.pool]
    request = _request(asked, now_ms)
    decision = decide(request, course.state, course.policy, now_ms, explain=True)
    waiting = sum(len(lane.queue) for lane in pool.lanes)
    return Explanation(asked, decision, pool.in_flight, waiting, pool.slots)


def _request(asked: Asked, now_ms: float) -> AdmissionRequest:
    return AdmissionRequest(
        request_id="asked",
        class_=asked.cls,
        arrived_ms=now_ms,
        tenant=asked.tenant,
        tenant_class=asked.tenant_class,
        region=asked.region,
        privacy_cell=asked.privacy_cell,
        segment=dict(asked.segment),
        input_tokens=asked.input_tokens,
        max_output_tokens=asked.max_output_tokens,
        cached_input_tokens=asked.cached_input_tokens,
        deadline_ms=asked.deadline_in_ms,
    )


def _loaded(course: Course, document: PolicyDocument, load: int) -> float:
    """Let the mix arrive and be served for a while, each request by another tenant.

    Returns the moment of the last arrival, in milliseconds.
    """
    per_ms = float(offered_requests_per_s(document)) * load / 100_000
    if not per_ms:
        return 0.0
    now_ms = 0.0
    for number, name in enumerate(islice(_mix(document), _count_of(per_ms))):
        now_ms, tenant = number / per_ms, f"load-{number}"
        request = AdmissionRequest(tenant, name, now_ms, tenant=tenant)
        course.arrive(number, Arrival(request, "", None, None, None))
    return now_ms


def _count_of(per_ms: float) -> int:
    return max(1, min(round(per_ms * LOAD_MS), MOST_ARRIVALS))


def _mix(document: PolicyDocument) -> Iterator[str]:
    """Classes in the proportion of their arrivals, spread evenly and always in the same order."""
    rates = {n: c.arrivals_per_s for n, c in document.classes.items() if c.arrivals_per_s}
    due = dict.fromkeys(rates, Decimal())
    total = sum(rates.values(), Decimal())
    while rates:
        for name, rate in rates.items():
            due[name] += rate
        first = max(due, key=lambda name: due[name])
        due[first] -= total
        yield first
