"""BLIS TraceV2: a CSV of requests, with its YAML header before it or without.

`arrival_time_us` is when a request was due and `send_time_us` when the driver sent it: replay uses
the arrival, and how late the driver was is kept beside it. Of the header only the mode, the
unit of time and the warm-up requests are read. Error messages are dropped.
"""

import re
from collections.abc import Callable

from orchid.formats.arrivals.shape import Arrival, ClockOf, Holds, Trace, bounded, in_order
from orchid.formats.numbers import count, figure
from orchid.formats.reading import Lost, UnreadableError
from orchid.formats.tables import Table

_COLUMNS = ("request_id", "input_tokens", "output_tokens", "arrival_time_us")
_BESIDE = (
    *("client_id", "tenant_id", "slo_class", "session_id", "round_index", "prefix_group"),
    *("prefix_length", "streaming", "text_tokens", "image_tokens", "audio_tokens"),
    *("video_tokens", "reason_ratio", "model", "deadline_us", "server_input_tokens"),
    *("send_time_us", "first_chunk_time_us", "last_chunk_time_us", "num_chunks", "status"),
    *("error_message", "finish_reason", "x_request_id", "adapter", "think_time_us"),
    *("vllm_priority", "slo_target_us"),
)
_TABLE = re.compile(rb"^request_id,", re.MULTILINE)
_SETTING = re.compile(rb"^(time_unit|mode|warm_up_requests):[ \t]*(\S+)", re.MULTILINE)
_LONGEST_HEADER = 64 * 1024


def read(data: bytes, name: str = "") -> Trace:
    """All arrivals in order; raises UnreadableError without the table or any row."""
    header, start = _header(data)
    if header.get("time_unit", "us") not in ("us", "microseconds"):
        raise UnreadableError(f"time_unit is {header['time_unit'][:20]}; expected us")
    table = Table(data[start:], _COLUMNS, _BESIDE)
    notes = [f"Mode {header['mode'][:20]}."] if "mode" in header else []
    ordered = in_order(table.read(_arrival), notes)
    before = data[:start].count(b"\n")
    moved = [_moved(one, start, before) for one in table.lost]
    warm_up = header.get("warm_up_requests", "0")
    return bounded(
        Trace(
            "BLIS TraceV2",
            Holds.ARRIVALS,
            ClockOf.START,
            ordered,
            lost=moved,
            notes=notes,
            unused=table.unused,
            warm_up=count(warm_up, "warm_up_requests") if warm_up.isdigit() else 0,
        )
    )


def _header(data: bytes) -> tuple[dict[str, str], int]:
    """Settings of the YAML header, and where the table begins."""
    match = _TABLE.search(data, 0, _LONGEST_HEADER)
    start = match.start() if match else 0
    settings = _SETTING.findall(data[:start])
    read = {key.decode(): value.decode("utf-8", "replace").strip("\"'") for key, value in settings}
    return read, start


def _moved(lost: Lost, start: int, lines_before: int) -> Lost:
    """Places are told in the file as it came, header and all."""
    line = None if lost.line is None else lost.line + lines_before
    return Lost(lost.offset + start, lost.reason, line)


def _arrival(cell: Callable[[str], str]) -> Arrival:
    arrival = int(figure(cell("arrival_time_us"), "arrival_time_us", high=9e15))
    sent = int(figure(cell("send_time_us") or 0, "send_time_us", high=9e15))
    return Arrival(
        arrival * 1000,
        count(cell("input_tokens"), "input_tokens"),
        count(cell("output_tokens"), "output_tokens"),
        failed=cell("status") in ("error", "timeout"),
        session=cell("session_id")[:64],
        group=cell("slo_class")[:64],
        late_ns=(sent - arrival) * 1000 if sent else None,
    )
