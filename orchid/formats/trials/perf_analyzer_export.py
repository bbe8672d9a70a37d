"""perf_analyzer's `--profile-export-file`: every request with the times of its responses.

Times are Unix nanoseconds of the client. There is no status: a request without a response failed
or did not finish. Requests outside the measurement windows are warm-up and are cut. Bodies are
skipped unread.
"""

from collections.abc import Iterable, Sequence

import msgspec

from orchid.engine.sample import described
from orchid.engine.trial_evidence import Fact
from orchid.engine.wire.diagnosis import UNDECODED
from orchid.formats.reading import Lost, Nanoseconds, UnreadableError
from orchid.formats.tables import lose
from orchid.formats.trials.requests import Ended, Request, point, sends
from orchid.formats.trials.shape import Clock, Loop, Method, Metric, Point, Trial, bounded

_LOOPS = {"concurrency": Loop.CLOSED, "request_rate": Loop.OPEN}


class _Level(msgspec.Struct):
    mode: str = ""
    value: float | None = None


class _Experiment(msgspec.Struct):
    experiment: _Level = msgspec.field(default_factory=_Level)
    requests: list[msgspec.Raw] = []
    window_boundaries: list[Nanoseconds] = []


class _Export(msgspec.Struct):
    experiments: list[_Experiment]
    service_kind: str = ""
    endpoint: str = ""


class _Request(msgspec.Struct):
    timestamp: Nanoseconds
    response_timestamps: list[Nanoseconds] = []


_DOCUMENT = msgspec.json.Decoder(_Export)
_ONE = msgspec.json.Decoder(_Request)
_BOM = b"\xef\xbb\xbf"


def read(data: bytes, name: str = "") -> Trial:
    """One point an experiment; raises UnreadableError for another document."""
    try:
        export = _DOCUMENT.decode(data.removeprefix(_BOM))
    except UNDECODED as error:
        raise UnreadableError(f"not a profile export of perf_analyzer: {error}") from None
    lost: list[Lost] = []
    finder = _Finder(data)
    points = [_point(one, finder, lost) for one in export.experiments]
    loops = {_LOOPS.get(one.experiment.mode, Loop.UNKNOWN) for one in export.experiments}
    loop = loops.pop() if len(loops) == 1 else Loop.UNKNOWN
    return bounded(
        Trial(
            tool="perf_analyzer",
            loop=loop,
            points=points,
            lost=lost,
            told=_told(loop, points),
            notes=_notes(export, points),
        )
    )


class _Finder:
    """Byte offsets of requests that were refused, in the order of the document."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._from = 0

    def offset(self, raw: msgspec.Raw) -> int:
        at = self._data.find(bytes(raw), self._from)
        self._from = max(at, self._from) + 1
        return max(at, 0)


def _point(experiment: _Experiment, finder: _Finder, lost: list[Lost]) -> Point:
    sent: list[_Request] = []
    for number, raw in enumerate(experiment.requests):
        try:
            sent.append(_whole(_ONE.decode(raw)))
        except (*UNDECODED, ValueError) as error:
            lose(lost, Lost(finder.offset(raw), f"request {number}: {error}"))
    window = experiment.window_boundaries
    requests = [_request(one, window) for one in sent]
    level = experiment.experiment
    is_open = _LOOPS.get(level.mode) is Loop.OPEN
    made = point(
        requests,
        Clock.CLIENT,
        label=f"{level.mode or 'level'} {level.value:g}" if level.value else level.mode or "run",
        level=level.value,
        offered_per_s=level.value if is_open else None,
    )
    made.ours.update(_streams(sent, window) | sends(requests, level.value if is_open else None))
    return made


def _whole(sent: _Request) -> _Request:
    """Responses may be listed in any order, and none came before its request."""
    sent.response_timestamps.sort()
    if sent.response_timestamps and sent.response_timestamps[0] < sent.timestamp:
        raise ValueError("a response lies before its request")
    return sent


def _request(sent: _Request, window: Sequence[int]) -> Request:
    if _is_warm_up(sent, window):
        return Request(Ended.WARM_UP, sent.timestamp)
    if not sent.response_timestamps:
        return Request(Ended.FAILED, sent.timestamp)
    first, last = sent.response_timestamps[0], sent.response_timestamps[-1]
    return Request(
        Ended.ANSWERED,
        sent.timestamp,
        last,
        # Of one response nobody can say that it was the first of a stream.
        first_ms=(first - sent.timestamp) / 1e6 if first != last else None,
        latency_ms=(last - sent.timestamp) / 1e6,
    )


def _is_warm_up(sent: _Request, window: Sequence[int]) -> bool:
    return len(window) >= 2 and not min(window) <= sent.timestamp <= max(window)


def _streams(sent: Iterable[_Request], window: Sequence[int]) -> dict[str, Metric]:
    """Gaps between responses; tokens are not counted here, a response may hold several."""
    gaps = [
        (after - before) / 1e6
        for one in sent
        if not _is_warm_up(one, window)
        for before, after in zip(one.response_timestamps, one.response_timestamps[1:], strict=False)
    ]
    if not gaps:
        return {}
    found = Metric("ms", described(gaps), Method.INVERTED_CDF, Clock.CLIENT)
    return {"inter_response_gap": found}


def _told(loop: Loop, points: list[Point]) -> dict[str, str]:
    told = {Fact.LOOP: loop.value} if loop else {}
    held = {name for one in points for name in one.ours}
    if "request_latency" in held:
        told[Fact.COMPLETION] = "from single requests"
    if "time_to_first_token" in held:
        told[Fact.FIRST] = "from first responses"
    if "inter_response_gap" in held:
        told[Fact.INTER] = "from gaps between responses"
    return {fact.value: text for fact, text in told.items()}


def _notes(export: _Export, points: list[Point]) -> list[str]:
    notes = ["A request without a response is counted as failed: the format has no status."]
    if any(one.warm_up for one in points):
        notes.append("Requests outside the measurement windows are cut as warm-up.")
    if export.service_kind:
        notes.append(f"Service kind {export.service_kind[:40]}.")
    return notes
