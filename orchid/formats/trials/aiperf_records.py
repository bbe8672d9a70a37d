"""AIPerf's `profile_export.jsonl`: one object a request, with metadata, metrics and an error.

Times of the metadata are Unix nanoseconds of the client. A cancel is error 499; a failed record
may still hold metrics such as error_isl and has no latency. Output counts reasoning tokens. The
gap between tokens is undefined at one token. Prose of errors is dropped and counted.
"""

from typing import Any

import msgspec

from orchid.engine.trial_evidence import Fact
from orchid.formats.documents import records
from orchid.formats.numbers import count, optional
from orchid.formats.reading import Lost, Nanoseconds
from orchid.formats.trials.requests import Ended, Request, point, sends, token_gap_ms
from orchid.formats.trials.shape import Clock, Loop, Trial, bounded

CANCELLED = 499
_MS = {"ms": 1.0, "s": 1e3, "sec": 1e3, "us": 1e-3, "ns": 1e-6}


class _Metadata(msgspec.Struct):
    request_start_ns: Nanoseconds
    request_end_ns: Nanoseconds | None = None
    benchmark_phase: str = "profiling"
    was_cancelled: bool = False


class _Value(msgspec.Struct):
    value: Any = None
    unit: str = ""


class _Error(msgspec.Struct):
    code: int | None = None


class _Line(msgspec.Struct):
    metadata: _Metadata
    metrics: dict[str, _Value] | None = None
    error: _Error | None = None


_DECODER = msgspec.json.Decoder(_Line)


def read(data: bytes, name: str = "") -> Trial:
    """One point of all requests; raises UnreadableError when no line is a record."""
    lost: list[Lost] = []
    found = read_requests(data, lost)
    made = [point(found, Clock.CLIENT, label="run")] if found else []
    for one in made:
        one.ours.update(sends(found, None))
    return bounded(
        Trial(
            tool="AIPerf",
            loop=Loop.UNKNOWN,
            points=made,
            lost=lost,
            told=_told(made[0].ours if made else {}),
            notes=["The records don't say whether the load was open or closed."],
        )
    )


def read_requests(data: bytes, lost: list[Lost]) -> list[Request]:
    return [one for _, _, one in records(data, _request, lost)]


def _request(line: bytes) -> Request:
    entry = _DECODER.decode(line)
    about, metrics = entry.metadata, entry.metrics or {}
    if about.request_end_ns is not None and about.request_end_ns < about.request_start_ns:
        raise ValueError("request_end_ns lies before request_start_ns")
    ended = _ended(entry)
    sent, done = about.request_start_ns, about.request_end_ns
    input_tokens = _tokens(metrics, "input_sequence_length")
    if ended is not Ended.ANSWERED:
        return Request(ended, sent, done, input_tokens=input_tokens)
    latency, first = _ms(metrics, "request_latency"), _ms(metrics, "time_to_first_token")
    if latency is None and done is not None:
        latency = (done - sent) / 1e6
    output = _output(metrics)
    gap = None
    if latency is not None and first is not None:
        if first > latency:
            raise ValueError("time_to_first_token is more than request_latency")
        gap = token_gap_ms(latency, first, output)
    return Request(ended, sent, done, first, latency, gap, input_tokens, output)


def _ended(entry: _Line) -> Ended:
    if entry.metadata.benchmark_phase.startswith("warm"):
        return Ended.WARM_UP
    if entry.metadata.was_cancelled or (entry.error and entry.error.code == CANCELLED):
        return Ended.CANCELLED
    return Ended.FAILED if entry.error else Ended.ANSWERED


def _ms(metrics: dict[str, _Value], name: str) -> float | None:
    held = metrics.get(name)
    value = optional(held.value, name) if held else None
    if held is None or value is None:
        return None
    if held.unit not in _MS:
        raise ValueError(f"{name} has the unit {held.unit[:20]!r}; expected {', '.join(_MS)}")
    return value * _MS[held.unit]


def _tokens(metrics: dict[str, _Value], name: str) -> int | None:
    held = metrics.get(name)
    return None if held is None or held.value is None else count(held.value, name)


def _output(metrics: dict[str, _Value]) -> int | None:
    """Output with its reasoning; older records have the two apart."""
    whole = _tokens(metrics, "output_sequence_length")
    if whole is not None:
        return whole
    parts = [_tokens(metrics, name) for name in ("output_token_count", "reasoning_token_count")]
    return None if parts[0] is None else parts[0] + (parts[1] or 0)


def _told(held: dict[str, Any]) -> dict[str, str]:
    told = {Fact.CANCELLED: "cancelled requests are counted apart (499)"}
    names = {
        "request_latency": Fact.COMPLETION,
        "time_to_first_token": Fact.FIRST,
        "inter_token_latency": Fact.INTER,
    }
    told |= {fact: "from single requests" for name, fact in names.items() if name in held}
    if {"input_sequence_length", "output_sequence_length"} <= held.keys():
        told[Fact.LENGTHS] = "of each request"
    return {fact.value: text for fact, text in told.items()}
