"""Client logs of the load driver: one JSON object a line, what the caller itself saw.

Triton's own data hides errors of a model, refused requests and priorities, so the caller's view
is what tells them apart. Prose, headers and answers are dropped and counted; of an error only its
kind is kept.
"""

from enum import StrEnum

import msgspec

from orchid.engine.wire.diagnosis import UNDECODED
from orchid.formats.lines import lines
from orchid.formats.reading import Lost, Nanoseconds, Reading, Whole


class Failure(StrEnum):
    """Why a call gave no answer."""

    NONE = ""
    QUEUE_TIMEOUT = "queue_timeout"
    QUEUE_FULL = "queue_full"
    DEADLINE = "deadline"
    CANCELLED = "cancelled"
    MODEL_ERROR = "model_error"


_NULL = msgspec.Raw(b"null")


class _Line(msgspec.Struct):
    request_id: str
    model: str
    proto: str
    outcome: str
    t_send_unix_ns: Nanoseconds
    t_send_mono_ns: Nanoseconds
    t_done_unix_ns: Nanoseconds | None = None
    t_done_mono_ns: Nanoseconds | None = None
    t_first_mono_ns: Nanoseconds | None = None
    n_in: Whole | None = None
    max_tokens: Whole | None = None
    n_out: Whole | None = None
    chunks: Whole | None = None
    priority: int | None = None
    timeout_us: Nanoseconds | None = None
    status: str | None = None
    error: str | None = None
    headers: msgspec.Raw = _NULL
    response: msgspec.Raw = _NULL


class Call(msgspec.Struct, frozen=True):
    """One call as its client saw it.

    `outcome` is in the product's words. Durations are of the client's steady clock; `sent_ns` and
    `done_ns` are Unix nanoseconds of the client's host, and `sent_steady_ns` is the same moment on
    its steady clock, which anchors a server on that host.
    """

    request_id: str
    model: str
    protocol: str
    outcome: str
    failure: Failure
    sent_ns: int
    sent_steady_ns: int
    done_ns: int | None
    elapsed_ns: int | None
    first_response_ns: int | None
    input_tokens: int | None
    max_output_tokens: int | None
    output_tokens: int | None
    priority: int | None
    timeout_us: int | None


_DECODER = msgspec.json.Decoder(_Line)
_OUTCOMES = {
    Failure.NONE: "completed",
    Failure.QUEUE_TIMEOUT: "timed_out",
    Failure.QUEUE_FULL: "rejected",
    Failure.DEADLINE: "timed_out",
    Failure.CANCELLED: "cancelled",
    Failure.MODEL_ERROR: "failed",
}


def read(data: bytes) -> Reading[Call]:
    kept: list[Call] = []
    lost: list[Lost] = []
    dropped = 0
    for number, offset, line in lines(data):
        try:
            entry = _DECODER.decode(line)
        except UNDECODED as error:
            lost.append(Lost(offset, str(error), number))
            continue
        kept.append(_call(entry))
        dropped += _texts(entry)
    return Reading(kept, lost, dropped_text=dropped)


def _texts(entry: _Line) -> int:
    held = [entry.error is not None]
    held += [bytes(raw) != b"null" for raw in (entry.headers, entry.response)]
    return sum(held)


def _call(entry: _Line) -> Call:
    failure = _failure(entry)
    return Call(
        request_id=entry.request_id,
        model=entry.model,
        protocol=entry.proto,
        outcome=_OUTCOMES[failure],
        failure=failure,
        sent_ns=entry.t_send_unix_ns,
        sent_steady_ns=entry.t_send_mono_ns,
        done_ns=entry.t_done_unix_ns,
        elapsed_ns=_since(entry, entry.t_done_mono_ns),
        first_response_ns=_since(entry, entry.t_first_mono_ns),
        input_tokens=entry.n_in,
        max_output_tokens=entry.max_tokens,
        output_tokens=entry.n_out if entry.n_out is not None else entry.chunks,
        priority=entry.priority,
        timeout_us=entry.timeout_us,
    )


def _since(entry: _Line, steady_ns: int | None) -> int | None:
    return None if steady_ns is None else steady_ns - entry.t_send_mono_ns


def _failure(entry: _Line) -> Failure:
    if entry.outcome in ("ok", "ok_before_cancel"):
        return Failure.NONE
    if entry.outcome == "client_cancelled":
        return Failure.CANCELLED
    if "DEADLINE_EXCEEDED" in (entry.status or ""):
        return Failure.DEADLINE
    prose = entry.error or ""
    if "Request timeout expired" in prose:
        return Failure.QUEUE_TIMEOUT
    if "maximum queue size" in prose:
        return Failure.QUEUE_FULL
    return Failure.MODEL_ERROR
