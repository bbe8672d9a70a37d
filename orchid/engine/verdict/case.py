"""A case: everything that one judgement rests on, as one value with one spelling in bytes.

Who has the bytes can judge again, years later and without a database, and must come to the same
judgement to the last byte. So a case holds no clock and no promise to look something up: what was
read off a clock is told as a state that changes rarely (`Facts`), the policy is the document's own
text, and what was counted are whole numbers. Equal content has equal bytes, however it was counted,
merged or delivered; their SHA-256 is the case's digest.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from functools import lru_cache

import msgspec

from orchid.engine.document.load import load_document
from orchid.engine.document.model import PolicyDocument
from orchid.engine.verdict.counted import Counted
from orchid.engine.verdict.evidence import Item
from orchid.engine.verdict.result import Accepted

SCHEMA = "orchid.case/v1"


class UnknownCaseError(ValueError):
    """The bytes are no case, or one of a later version of this program."""


@dataclass(frozen=True, slots=True)
class Subject:
    """Whose requests are judged: one generation under one publication.

    `live_from` is None for a stage of a rollout, whose window grows from its opening; what is live
    is judged by stretches. `hold_until` is when the stage has been watched for long enough.
    """

    product: str
    digest: str
    publication: int
    cohort: str
    exposure: float
    opens_at: datetime
    closes_at: datetime | None = None
    live_from: datetime | None = None
    hold_until: datetime | None = None

    @property
    def is_stage(self) -> bool:
        """Whether a rollout waits for this verdict."""
        return self.live_from is None

    @property
    def canary(self) -> float:
        """The candidate's part of the split."""
        return self.exposure if self.cohort == "candidate" else 1.0 - self.exposure


@dataclass(frozen=True, slots=True)
class EdgeClock:
    """An edge whose clock was off beyond the bound while the window was open.

    `skew_ms` is positive where it runs ahead of ours.
    """

    edge: str
    skew_ms: int


@dataclass(frozen=True, slots=True)
class Facts:
    """What was known of the window's evidence beside what it counted.

    `stalled_at` is how far records are counted, where that has stopped or lags beyond its limit;
    `quiet` is how long no eligible request came, as a state of `validity.State`. `missing` are
    records by edge that were numbered and never came, `waiting` and `set_aside` deliveries that may
    hold requests of the window, `silent` the edges heard in it that have stopped telling anything.
    """

    heard: bool
    last_request_at: datetime | None
    quiet: str
    closed: bool
    stalled_at: datetime | None = None
    missing: Mapping[str, int] = field(default_factory=dict)
    waiting: int = 0
    set_aside: int = 0
    silent: tuple[str, ...] = ()
    clocks: tuple[EdgeClock, ...] = ()


@dataclass(frozen=True, slots=True)
class Stratum:
    """Units of one stratum of a canary: how many each cohort answered, and how many both did."""

    name: str
    candidate: int
    incumbent: int
    both: int = 0

    @property
    def total(self) -> int:
        """Units of the stratum; one that both answered is one."""
        return self.candidate + self.incumbent - self.both


@dataclass(frozen=True, slots=True)
class Exposed:
    """A canary's split. `what` is what was counted: sessions, tenants or requests.

    Past a bound a part of the units is followed, chosen by a hash of the unit: `share` is that
    part.
    """

    what: str
    strata: tuple[Stratum, ...]
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class Apart:
    """A segment of which the candidate answers another part than of the rest."""

    where: Mapping[str, tuple[str, ...]]
    fraction: float


@dataclass(frozen=True)
class Part:
    """What was counted from `start` to the case's end, and the scopes that begin there."""

    start: datetime
    scopes: tuple[str, ...]
    counted: Counted


@dataclass(frozen=True)
class Costs:
    """The closed window of the ledger."""

    start: datetime
    end: datetime
    counted: Counted

    @property
    def seconds(self) -> Decimal:
        """Exact; a float would put noise into dollars."""
        span = max(self.end - self.start, timedelta(0))
        whole = Decimal(span.days * 86_400 + span.seconds)
        return whole + Decimal(span.microseconds) / 1_000_000


@dataclass(frozen=True)
class Watched:
    """The detector as it stood at `since`, and what was counted from there, step by step.

    `log_r` has its statistics by test, one for each alternative it looks for (None is log 0), after
    `steps` steps; `effects` are the design effects that were known by then. All three are empty
    before the first step.
    """

    since: datetime
    steps: int = 0
    log_r: Sequence[Sequence[float | None]] = ()
    effects: Sequence[float] = ()
    counted: Counted | None = None


@dataclass(frozen=True)
class Case:
    """One judgement's whole ground. `given` is the canonical text of the document's given keys.

    `running` are the violations by dimensions of the steps that are not over yet. Nothing else is
    read from those, since of a step's requests the quickest are told first. `beside` is what
    the other cohort of a split answered in the minutes of the first part, and `guarded` the traffic
    of each window (in milliseconds) that a guardrail of a stage looks back on. `accepted` is what a
    stage is held to beside its gates, `apart` the segments that are split otherwise than the rest.
    """

    subject: Subject
    given: str
    end: datetime
    parts: tuple[Part, ...]
    costs: Costs
    evidence: tuple[Item, ...]
    facts: Facts
    watched: Watched
    running: tuple[tuple[str, int], ...] = ()
    beside: Counted | None = None
    exposed: Exposed | None = None
    guarded: Mapping[int, Counted] = field(default_factory=dict)
    accepted: tuple[Accepted, ...] = ()
    apart: tuple[Apart, ...] = ()
    behind: tuple[str, ...] = ()
    """Live edges that have not told yet of all arrivals up to `end`."""

    @property
    def is_split(self) -> bool:
        """Whether another generation answers a part of the traffic."""
        return self.subject.exposure < 1 or bool(self.apart)

    @property
    def document(self) -> PolicyDocument:
        """The policy that it is judged by."""
        return _document(self.given)

    @property
    def evidence_digest(self) -> str:
        """Names the evidence alone: what a vote rests on beside the document."""
        return digest_of_evidence(item.digest for item in self.evidence)

    def part_of(self, scope: str) -> Part:
        """What the scope is judged by; without a start of its own, the first."""
        return next((part for part in self.parts if scope in part.scopes), self.parts[0])


def digest_of(data: bytes) -> str:
    """The digest of a case's bytes."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def digest_of_evidence(digests: Iterable[str]) -> str:
    """One digest over a set of evidence, in whatever order it was read."""
    return digest_of("\n".join(sorted(digests)).encode())


@lru_cache(maxsize=64)
def _document(given: str) -> PolicyDocument:
    """A document is read once; a product's windows share a few of them."""
    return load_document(json.loads(given)).document


class _Wire(msgspec.Struct, frozen=True, omit_defaults=True):
    """A case with what was counted as bytes."""

    schema: str
    subject: Subject
    given: str
    end: datetime
    parts: list[tuple[datetime, tuple[str, ...], bytes]]
    costs: tuple[datetime, datetime, bytes]
    evidence: tuple[Item, ...]
    facts: Facts
    watched: tuple[datetime, int, list[list[float | None]], list[float], bytes | None]
    running: tuple[tuple[str, int], ...] = ()
    beside: bytes | None = None
    exposed: Exposed | None = None
    guarded: list[tuple[int, bytes]] = []
    accepted: tuple[Accepted, ...] = ()
    apart: tuple[Apart, ...] = ()
    behind: tuple[str, ...] = ()


_encoder = msgspec.msgpack.Encoder(order="deterministic", decimal_format="string")
_decoder = msgspec.msgpack.Decoder(_Wire)


def encode(case: Case) -> bytes:
    """The case's one spelling: MessagePack, mappings by name, evidence by its digest."""
    watched = case.watched
    return _encoder.encode(
        _Wire(
            SCHEMA,
            case.subject,
            case.given,
            case.end,
            [(part.start, part.scopes, part.counted.encoded()) for part in case.parts],
            (case.costs.start, case.costs.end, case.costs.counted.encoded()),
            tuple(sorted(case.evidence, key=lambda item: (-item.push, item.digest))),
            case.facts,
            (
                watched.since,
                watched.steps,
                [list(row) for row in watched.log_r],
                list(watched.effects),
                _encoded(watched.counted),
            ),
            case.running,
            _encoded(case.beside),
            case.exposed,
            [(window_ms, case.guarded[window_ms].encoded()) for window_ms in sorted(case.guarded)],
            case.accepted,
            case.apart,
            case.behind,
        )
    )


def decode(data: bytes) -> Case:
    """What `encode` was given. Raises UnknownCaseError for anything else."""
    try:
        wire = _decoder.decode(data)
    except msgspec.DecodeError as error:
        raise UnknownCaseError(str(error)) from error
    if wire.schema != SCHEMA:
        raise UnknownCaseError(f"this program reads {SCHEMA}, not {wire.schema}")
    since, steps, log_r, effects, seen = wire.watched
    return Case(
        subject=wire.subject,
        given=wire.given,
        end=wire.end,
        parts=tuple(Part(at, names, Counted.decoded(data)) for at, names, data in wire.parts),
        costs=Costs(wire.costs[0], wire.costs[1], Counted.decoded(wire.costs[2])),
        evidence=wire.evidence,
        facts=wire.facts,
        watched=Watched(since, steps, log_r, effects, _decoded(seen)),
        running=wire.running,
        beside=_decoded(wire.beside),
        exposed=wire.exposed,
        guarded={window_ms: Counted.decoded(data) for window_ms, data in wire.guarded},
        accepted=wire.accepted,
        apart=wire.apart,
        behind=wire.behind,
    )


def _encoded(counted: Counted | None) -> bytes | None:
    return None if counted is None else counted.encoded()


def _decoded(data: bytes | None) -> Counted | None:
    return None if data is None else Counted.decoded(data)
