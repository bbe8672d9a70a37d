"""What a finished request says of the predictions that it was admitted on.

A prediction is of one of two kinds. A *bound* reserves for the most that may happen (tokens up to
the cap or an approved percentile, the memory they take, their price), and is judged by how often it
holds. An *estimate* is of the middle (accelerator time by the price in TEU, the completion time).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import msgspec

from orchid.engine.calibration.samples import MEASURED, PRICED_OUT, Buckets, Cell
from orchid.engine.document.demand import Demand
from orchid.engine.document.model import PolicyDocument
from orchid.engine.pricing import pad_of

#: What a reserved cap promises at least: crossing it is a typed stop, and no more than so rare.
NOMINAL = 0.95
BINS = 10
_ANSWERED = MEASURED - {"truncated"}


class Measure(StrEnum):
    """What is predicted, and in what."""

    WORK = "work"
    TEU = "teu"
    OUTPUT = "output"
    LIVE = "live"
    COMPLETION = "completion"

    @property
    def is_bound(self) -> bool:
        return self in (Measure.TEU, Measure.OUTPUT, Measure.LIVE)


class Observation(NamedTuple):
    """One prediction beside what came of it; `promised` is the chance that a bound holds."""

    measure: Measure
    predicted: float
    observed: float
    promised: float

    @property
    def ratio(self) -> float:
        return self.observed / self.predicted


class Completion(NamedTuple):
    """A forecast of being in time, in one of `BINS` bins, and whether it was.

    `kind` is `probability` where admission stated one, and `time` for its predicted completion as
    a part of the deadline.
    """

    kind: str
    bin: int
    predicted: float
    in_time: bool


class Decided(msgspec.Struct, gc=False):
    """Of a decision what it predicted."""

    action: str = ""
    route: str | None = None
    reason: str | None = None
    teu: float | str | None = None
    live_tokens: int | None = None
    output_tokens: int | None = None
    completion_ms: float | None = None
    completion_probability: float | None = None


class Tried(msgspec.Struct, gc=False):
    """Of an attempt what it took, and on what."""

    route: str | None = None
    pool: str | None = None
    model_version: str | None = None
    manifest: str | None = None
    status: str | None = None
    accelerator_ms: float | None = None
    accelerator_prefill_ms: float | None = None
    accelerator_decode_ms: float | None = None
    useful_tokens: int | None = None
    teu_predicted: float | str | None = None
    kv_blocks_peak: int | None = None

    @property
    def work_ms(self) -> float | None:
        """Accelerator milliseconds, whole or as the sum of both phases."""
        if self.accelerator_ms is not None:
            return self.accelerator_ms
        parts = self.accelerator_prefill_ms, self.accelerator_decode_ms
        return parts[0] + parts[1] if parts[0] is not None and parts[1] is not None else None

    @property
    def version(self) -> str:
        """Manifest, else model version; and the pool, which stands for the hardware."""
        named = self.manifest or self.model_version
        return "@".join(part for part in (named, self.pool) if part)


read_decision = msgspec.json.Decoder(Decided | None).decode
read_attempts = msgspec.json.Decoder(list[Tried]).decode


@dataclass(frozen=True, slots=True)
class Finished:
    """One stored request."""

    class_name: str
    tenant: str
    outcome: str
    input_tokens: int | None
    cached_input_tokens: int | None
    max_output_tokens: int | None
    output_tokens: int | None
    deadline_ms: float | None
    completion_ms: float | None
    decision: Decided | None
    attempts: list[Tried]

    @property
    def served_by(self) -> Tried | None:
        """The last attempt, where it ended with an answer that was read whole."""
        last = self.attempts[-1] if self.attempts else None
        return last if last is not None and last.route and last.status in MEASURED else None


def cell_of(request: Finished, route: str | None, buckets: Buckets) -> Cell | None:
    """The shape as admission knew it; None where a part of it is unknown."""
    cap = request.max_output_tokens
    if not route or request.input_tokens is None or cap is None:
        return None
    return buckets.cell(route, request.input_tokens, cap)


def refused_cell(request: Finished, buckets: Buckets) -> Cell | None:
    """The shape of a request that was refused for its price; None for every other."""
    decided = request.decision
    if decided is None or decided.action != "reject" or decided.reason not in PRICED_OUT:
        return None
    return cell_of(request, decided.route, buckets)


def observations(request: Finished, cell: Cell, document: PolicyDocument) -> Iterator[Observation]:
    """Every prediction of an answered request that has something beside it."""
    tried, decided = request.served_by, request.decision or Decided()
    if tried is None:
        return
    output = _output_of(request, tried)
    work = _work(request, tried, cell, document.demand, output)
    if work is not None:
        yield work
    if output is None:
        return
    promised = _promised(document, request.class_name)
    for measure, predicted, observed in _bounds(request, tried, cell, document, output):
        if predicted and observed is not None:
            yield Observation(measure, float(predicted), float(observed), promised)
    if decided.completion_ms and request.completion_ms:
        yield Observation(Measure.COMPLETION, decided.completion_ms, request.completion_ms, NOMINAL)


def _bounds(
    request: Finished, tried: Tried, cell: Cell, document: PolicyDocument, output: int
) -> Iterator[tuple[Measure, float | int | None, float | int | None]]:
    """What was reserved beside what was used of it."""
    decided = request.decision or Decided()
    reserved = tried.teu_predicted if tried.teu_predicted is not None else decided.teu
    used = _used_teu(request, cell, document, output)
    yield Measure.TEU, None if reserved is None else float(reserved), used
    yield Measure.OUTPUT, decided.output_tokens, output
    yield Measure.LIVE, decided.live_tokens, _live(request, tried, document, output)


def completions(request: Finished) -> Iterator[Completion]:
    """What admission forecast of the deadline, for whoever was admitted and did not leave."""
    decided, deadline = request.decision, request.deadline_ms
    if decided is None or not deadline or not request.attempts or request.outcome == "cancelled":
        return
    took = request.completion_ms
    in_time = request.outcome in _ANSWERED and took is not None and took <= deadline
    if decided.completion_probability is not None:
        chance = decided.completion_probability
        yield Completion("probability", _bin(chance), chance, in_time)
    if decided.completion_ms is not None:
        part = decided.completion_ms / deadline
        yield Completion("time", _bin(part), part, in_time)


def pad_in_force(demand: Demand, cell: Cell) -> float:
    """What the cell's estimates are multiplied by; 1 where it is disabled, since nobody is."""
    pad = pad_of(demand, cell.route, cell.input_bucket, cell.output_bucket)
    return 1.0 if pad is None else float(pad)


def _bin(value: float) -> int:
    return min(BINS - 1, int(value * BINS + 1e-9))


def _work(
    request: Finished, tried: Tried, cell: Cell, demand: Demand, output: int | None
) -> Observation | None:
    """Accelerator milliseconds beside the TEU of the tokens that were really worked on.

    The unit of the price is not known here: their ratio is milliseconds a TEU, and only how cells
    stand to one another can be right or wrong.
    """
    factor, ms = demand.model_factor.get(cell.route), tried.work_ms
    if factor is None or not ms or output is None or request.input_tokens is None:
        return None
    fresh = max(request.input_tokens - (request.cached_input_tokens or 0), 0)
    teu = float(factor) * (float(demand.input_weight) * fresh + output) * pad_in_force(demand, cell)
    return Observation(Measure.WORK, teu, ms, NOMINAL) if teu else None


def _used_teu(request: Finished, cell: Cell, document: PolicyDocument, output: int) -> float | None:
    factor = document.demand.model_factor.get(cell.route)
    if factor is None or request.input_tokens is None:
        return None
    return float(factor * (document.demand.input_weight * request.input_tokens + output))


def _live(request: Finished, tried: Tried, document: PolicyDocument, output: int) -> int | None:
    """Peak tokens in the cache: by the engine's blocks where it told them, else what was held."""
    if tried.kv_blocks_peak is not None:
        return tried.kv_blocks_peak * document.scheduling.kv_block_tokens
    return None if request.input_tokens is None else request.input_tokens + output


def _output_of(request: Finished, tried: Tried) -> int | None:
    if tried.useful_tokens is not None:
        return tried.useful_tokens
    return request.output_tokens if len(request.attempts) == 1 else None


def _promised(document: PolicyDocument, class_name: str) -> float:
    """The approved percentile where the class reserves one, else what a cap is held to."""
    traffic = document.classes.get(class_name)
    return traffic.reserve.percentile if traffic and traffic.reserve else NOMINAL
