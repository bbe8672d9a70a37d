"""What edges send about themselves, read within bounds of size, time and words."""

import asyncio
import re

import msgspec
from starlette.requests import Request

from releases.edge_problems import EdgeProblem, bad_name
from releases.edge_store import Report
from releases.states import ActivationState

LARGEST_REPORT = 64 * 1024
SLOWEST_REPORT_S = 10.0  # from its first byte to its last
EDGE_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}")


async def body_of(request: Request) -> bytes:
    """The body, refused while it is still coming in when it is larger or slower than any is."""
    parts = bytearray()
    try:
        async with asyncio.timeout(SLOWEST_REPORT_S):
            async for part in request.stream():
                parts += part
                if len(parts) > LARGEST_REPORT:
                    raise EdgeProblem(413, "too_large", "Too large", "A report is at most 64 KiB.")
    except TimeoutError as error:
        detail = f"A report is whole within {SLOWEST_REPORT_S:.0f} seconds."
        raise EdgeProblem(408, "too_slow", "Too slow", detail) from error
    return bytes(parts)


def read_report(body: bytes) -> Report:
    try:
        report = msgspec.json.decode(body, type=Report)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise EdgeProblem(400, "bad_report", "Unreadable report", str(error)) from error
    if not EDGE_NAME.fullmatch(report.edge):
        raise EdgeProblem(400, "bad_report", "Unreadable report", bad_name().detail)
    if report.state not in ActivationState.values:
        states = ", ".join(ActivationState.values)
        raise EdgeProblem(400, "bad_report", "Unreadable report", f"state is one of {states}.")
    return report
