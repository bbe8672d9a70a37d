"""LLMServingSim's table of requests (nanoseconds): computed, not measured, for comparison alone."""

from collections.abc import Callable

from orchid.engine.trial_evidence import Fact
from orchid.formats.numbers import count, figure
from orchid.formats.tables import Table
from orchid.formats.trials.requests import Ended, Request, point, sends, token_gap_ms
from orchid.formats.trials.shape import Clock, Loop, Trial, bounded

_COLUMNS = ("model", "input", "output", "arrival", "end_time", "latency", "queuing_delay", "TTFT")
_BESIDE = ("instance id", "request id", "TPOT")

Cell = Callable[[str], str]


def read(data: bytes, name: str = "") -> Trial:
    """One point of all requests; raises UnreadableError for another table."""
    table = Table(data, _COLUMNS, _BESIDE)
    rows = table.read(lambda cell: (cell("model")[:128], _request(cell)))
    requests = [request for _, request in rows]
    made = [point(requests, Clock.SIMULATED, label="run")] if requests else []
    for one in made:
        one.ours.update(sends(requests, None))
    told = (Fact.FIRST, Fact.INTER, Fact.COMPLETION, Fact.LENGTHS)
    return bounded(
        Trial(
            tool="LLMServingSim",
            loop=Loop.OPEN,
            points=made,
            lost=table.lost,
            told={Fact.LOOP.value: Loop.OPEN.value} | {one.value: "simulated" for one in told},
            notes=["Computed by a simulator."],
            model=rows[0][0] if rows else "",
            unused=table.unused,
            simulated=True,
        )
    )


def _request(cell: Cell) -> Request:
    arrival, latency, first = (figure(cell(n), n) for n in ("arrival", "latency", "TTFT"))
    if first > latency:
        raise ValueError("TTFT is more than latency")
    output = count(cell("output"), "output")
    return Request(
        Ended.ANSWERED,
        sent_ns=int(arrival),
        ended_ns=int(arrival + latency),
        first_ms=first / 1e6,
        latency_ms=latency / 1e6,
        gap_ms=token_gap_ms(latency / 1e6, first / 1e6, output),
        input_tokens=count(cell("input"), "input"),
        output_tokens=output,
    )
