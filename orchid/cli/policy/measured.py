"""Measured attempts from files: request records, or a client's log, with a server's trace files."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import click

from orchid.cli.policy.records import records_of
from orchid.engine.calibration.samples import (
    AttemptSample,
    RefusedShape,
    Unmeasured,
    refused_shape,
    samples_of,
)
from orchid.engine.wire.records import Rejected
from orchid.formats import client_log, triton_trace
from orchid.formats.reading import UnreadableError
from orchid.formats.triton_phases import Trace, children, phases

#: Formats that are read whole must fit in memory.
MAX_WHOLE_BYTES = 256 << 20
CLIENT_LOGS = "*client*log*.jsonl"


@dataclass
class Measured:
    """What the files hold, in the order of time, and what was left out and why."""

    samples: list[AttemptSample] = field(default_factory=list)
    refused: list[RefusedShape] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    first: datetime | None = None
    last: datetime | None = None
    stopped: bool = False
    """More attempts were there than were asked for."""


def measured(files: Sequence[Path], traces: Sequence[Path], limit: int) -> Measured:
    """Read the files up to `limit` attempts; accelerator times that they lack are the traces'."""
    times, found = accelerator_ms(traces), Measured()
    dated: list[tuple[float, AttemptSample]] = []
    for file in files:
        rows = _calls(file, times, found) if file.match(CLIENT_LOGS) else _rows(file, times, found)
        for row in rows:
            dated.append(row)
            if len(dated) == limit:
                found.stopped = True
                break
    dated.sort(key=lambda row: row[0])
    found.samples = [sample for _, sample in dated]
    if dated:
        found.first, found.last = _utc(dated[0][0]), _utc(dated[-1][0])
    return found


def _utc(at_s: float) -> datetime:
    return datetime.fromtimestamp(at_s, UTC)


def _rows(
    file: Path, times: dict[str, float], found: Measured
) -> Iterator[tuple[float, AttemptSample]]:
    for record in records_of(file):
        if isinstance(record, Rejected):
            found.left_out[f"a line that is no record ({record.code})"] += 1
            continue
        if shape := refused_shape(record):
            found.refused.append(shape)
        for sample in samples_of(record, times):
            if isinstance(sample, Unmeasured):
                found.left_out[f"an attempt without {sample.lacks}"] += 1
                continue
            yield record.arrived_at.timestamp(), sample


def _calls(
    file: Path, times: dict[str, float], found: Measured
) -> Iterator[tuple[float, AttemptSample]]:
    """A client's log says the shapes, the server's trace the times."""
    reading = client_log.read(_whole(file))
    found.left_out["a line that is no call"] += len(reading.lost)
    for call in reading.records:
        ms = times.get(call.request_id)
        if call.outcome != "completed":
            found.left_out["an attempt without a whole answer"] += 1
        elif call.input_tokens is None or call.output_tokens is None:
            found.left_out["an attempt without route, input_tokens or output_tokens"] += 1
        elif not ms:
            found.left_out["an attempt without accelerator_ms"] += 1
        else:
            tokens = call.input_tokens, 0, call.output_tokens
            cap = call.max_output_tokens
            yield (
                call.sent_ns / 1e9,
                AttemptSample(call.model, *tokens, ms, max_output_tokens=cap),
            )


def accelerator_ms(files: Sequence[Path]) -> dict[str, float]:
    """Milliseconds of inference by the request id that the server was given.

    A composite model's request is the sum of the models that it called.
    """
    found: dict[str, float] = {}
    for file in files:
        try:
            traces = triton_trace.read(_whole(file)).records
        except UnreadableError as error:
            raise click.ClickException(f"{file} is no trace file of Triton: {error}") from error
        parents = children(traces).keys()
        for trace in traces:
            ms = _infer_ms(trace)
            if trace.request_id and ms and trace.id not in parents:
                found[trace.request_id] = found.get(trace.request_id, 0.0) + ms
    return found


def _infer_ms(trace: Trace) -> float | None:
    timed = phases(trace)
    ns = timed.infer_ns if timed.infer_ns is not None else timed.compute_ns
    return None if ns is None else ns / 1e6


def _whole(file: Path) -> bytes:
    size = file.stat().st_size
    if size > MAX_WHOLE_BYTES:
        raise click.ClickException(
            f"{file} has {size >> 20} MiB; at most {MAX_WHOLE_BYTES >> 20} can be read: split it."
        )
    return file.read_bytes()
