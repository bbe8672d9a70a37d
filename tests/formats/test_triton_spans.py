from pathlib import Path

from orchid.formats import otlp
from orchid.formats.triton_phases import phases
from orchid.formats.triton_spans import traces
from tests.formats.otlp_bodies import body, named_pairs, spans_of, wire_span


def _read_run2(recordings: Path) -> list[otlp.Span]:
    bodies = sorted((recordings / "run2/otlp").glob("*.otlp.json"))
    return [span for body in bodies for span in spans_of(otlp.read_json(body.read_bytes()))]


def test_a_request_is_one_trace_though_it_has_three_server_spans(recordings: Path) -> None:
    spans = _read_run2(recordings)
    found = traces(spans)
    roots = [one for one in found if one.trace.parent_id is None]
    assert len(spans) == 629
    assert len(found) == 232
    assert len(roots) == len({span.trace_id for span in spans}) == 200


def test_spans_in_any_order_and_delivered_twice_give_the_same_traces(recordings: Path) -> None:
    spans = _read_run2(recordings)

    def summary(given: list[otlp.Span]) -> dict[str, object]:
        return {one.span_id: (one.trace.model, phases(one.trace)) for one in traces(given)}

    assert summary(spans[::-1] + spans) == summary(spans)


def test_the_compute_phase_comes_from_the_span_below(recordings: Path) -> None:
    body = (recordings / "run2/otlp/0001.otlp.json").read_bytes()
    (one,) = traces(spans_of(otlp.read_json(body)))
    assert one.trace.request_id == "run2-2-00060"
    assert phases(one.trace).compute_ns == 1796004768521880986 - 1796004768511999696
    assert phases(one.trace).http_ns == 1796004768520447160 - 1796004768509418419


def test_a_stamp_that_was_never_taken_is_no_event_and_a_long_wait_is_one() -> None:
    start = 1_790_341_371_953_418_752
    booted = start - 30 * 86_400 * 10**9
    events = {
        "GRPC_WAITREAD_START": booted + 5,
        "REQUEST_START": start,
        "COMPUTE_START": 0,
        "COMPUTE_INPUT_END": booted,
        "REQUEST_END": start + 9,
    }
    span = wire_span(
        attributes=named_pairs({"triton.model_name": "full"}),
        events=[{"name": name, "timeUnixNano": str(ns)} for name, ns in events.items()],
    )
    (one,) = traces(spans_of(otlp.read_json(body(span))))
    assert dict(one.trace.events).keys() == {"GRPC_WAITREAD_START", "REQUEST_START", "REQUEST_END"}
    assert (one.trace.first_ns, phases(one.trace).request_ns) == (start, 9)
