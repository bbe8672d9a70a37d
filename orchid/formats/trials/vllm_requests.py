"""Single requests of a measured vLLM run: lengths, a wall clock, and stamps of the engine's clock.

`arrival_time` is Unix seconds; queued, scheduled, first and last token are seconds of a monotonic
clock. Durations are made within the monotonic clock alone, so they begin when the engine queued
the request, and arrivals are of the wall clock alone.
"""

import msgspec

from orchid.engine.trial_evidence import Fact
from orchid.formats.documents import records
from orchid.formats.numbers import count, figure
from orchid.formats.reading import Lost
from orchid.formats.trials.requests import Ended, Request, point, sends, token_gap_ms
from orchid.formats.trials.shape import Clock, Loop, Metric, Trial, bounded


class Line(msgspec.Struct):
    """One line as it is written."""

    input_toks: int
    output_toks: int
    arrival_time: float
    queued_ts: float
    scheduled_ts: float
    first_token_ts: float
    last_token_ts: float


_DECODER = msgspec.json.Decoder(Line)


def read(data: bytes, name: str = "") -> Trial:
    """One point of all requests; raises UnreadableError when no line is a record."""
    lost: list[Lost] = []
    found = read_requests(data, lost)
    made = [point(found, Clock.ENGINE, label="run")] if found else []
    for one in made:
        one.ours.update(_wall_clock(data))
    return bounded(
        Trial(
            tool="vLLM benchmark",
            loop=Loop.UNKNOWN,
            points=made,
            lost=lost,
            told=_told(),
            notes=[
                "Times begin when the engine queued the request: what lies before is not in them.",
                "Arrivals are of a wall clock and are never subtracted from the engine's stamps.",
            ],
        )
    )


def read_requests(data: bytes, lost: list[Lost]) -> list[Request]:
    """Requests on the engine's monotonic clock, in the order of the file."""
    return [one for _, _, one in records(data, _request, lost)]


def _request(text: bytes) -> Request:
    line = _DECODER.decode(text)
    stamps = (line.queued_ts, line.scheduled_ts, line.first_token_ts, line.last_token_ts)
    queued, _, first, last = (figure(one, "a stamp", high=1e10) for one in stamps)
    if list(stamps) != sorted(stamps):
        raise ValueError("the stamps don't follow one another")
    output = count(line.output_toks, "output_toks")
    first_ms, latency_ms = (first - queued) * 1e3, (last - queued) * 1e3
    return Request(
        Ended.ANSWERED,
        sent_ns=round(queued * 1e9),
        ended_ns=round(last * 1e9),
        first_ms=first_ms,
        latency_ms=latency_ms,
        gap_ms=token_gap_ms(latency_ms, first_ms, output),
        input_tokens=count(line.input_toks, "input_toks"),
        output_tokens=output,
    )


def _wall_clock(data: bytes) -> dict[str, Metric]:
    """The rate of arrivals, by the wall clock; lines that are no record were named before."""
    arrivals = records(data, lambda text: _DECODER.decode(text).arrival_time, [])
    at = [round(seconds * 1e9) for _, _, seconds in arrivals if 0 <= seconds < 1e10]
    return sends([Request(Ended.ANSWERED, moment) for moment in at], None)


def _told() -> dict[str, str]:
    told = {
        Fact.LENGTHS: "of each request",
        Fact.FIRST: "from single requests",
        Fact.INTER: "mean gap of each request",
        Fact.COMPLETION: "from single requests",
        Fact.DWELL: "queued and scheduled stamps of each request",
    }
    return {fact.value: text for fact, text in told.items()}
