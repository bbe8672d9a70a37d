"""Whatever a sender delivers: no door answers with a fault of ours, and no worker stumbles."""

import gzip
import json
from copy import deepcopy
from datetime import timedelta
from typing import Any

import pytest
import zstandard
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import User
from ingest.models import Batch
from ingest.services.processing import process_waiting
from ingest.states import FILE_KINDS, SourceKind
from policies.models import Product
from tests.formats.otlp_bodies import body as otlp_body
from tests.formats.otlp_bodies import wire_span
from tests.ingest.ingest_cast import RecordMaker, Sender, token

pytestmark = pytest.mark.django_db
bounded = settings(
    derandomize=True,
    max_examples=25,
    deadline=None,
    # The database is the same for all examples: what one leaves, the next one meets.
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

NASTY: list[Any] = [
    float("nan"), float("inf"), -1, 2**31, 2**63, 2**64, 10**30, 1e308, 5e-324, "", "a\x00b",
    "\ud800", "é" * 300, [], {}, [[[]]], None, True, "9" * 400, "2026-11-30T03:00:00",
    "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "NaN",
]  # fmt: skip
nasty = st.sampled_from(NASTY) | st.text(max_size=20) | st.integers() | st.floats()
json_like = st.recursive(
    nasty, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner)
)
RAW = [
    b"", b"\n\n", b"[", b"{" * 5_000, b'{"a":' * 3_000 + b"1" + b"}" * 3_000, b"[" * 100_000,
    b"\xff\xfe", b"\xef\xbb\xbf{}", b'{"a": ' + b"9" * 5_000 + b"}", b'{"a": 1e999}', b"\x00" * 100,
    b'"\\ud800"', b'{"request_id": "\\u0000"}', b"{}{}\n{}",
    b"up 1e999\nup{a=\"\\\n", b"a,b\n" + b"x" * 140_000,
]  # fmt: skip
headers = st.fixed_dictionaries(
    {},
    optional={
        "Content-Type": st.sampled_from(
            ["application/json", "application/x-protobuf", "text/plain", "x", ""]
        ),
        "Content-Encoding": st.sampled_from(["", "identity", "gzip", "zstd", "br", "GZIP", "é"]),
        "Boot-Id": st.text(max_size=80),
        "First-Seq": st.sampled_from(["", "0", "1", "-1", "²", "9" * 19, "9" * 400, "1e3"]),
        "Last-Seq": st.sampled_from(["", "0", "5", "9" * 19, "x"]),
        "Watermark": st.sampled_from([str(value) for value in NASTY]) | st.text(max_size=30),
    },
)
query = st.fixed_dictionaries(
    {},
    optional={
        name: st.sampled_from(["", "\x00", "é", "9" * 30, "²", "triton", "x" * 200, "1"])
        for name in ("source", "server_run", "engine_kind", "anchor_monotonic_ns",
                     "anchor_unix_ns", "format", "title", "cursor")
    },
)  # fmt: skip


class Doors:
    """Every way in, each with a credential that may use it."""

    def __init__(self, ana: User) -> None:
        self.senders = {kind: Sender(token(kind, ana)) for kind in ("edge", "ci", "otel")}
        for sender in self.senders.values():
            sender.client.raise_request_exception = False
        self.sent = 0

    def post(self, way: str, body: bytes, headers: dict[str, str], params: dict[str, str]) -> None:
        self.sent += 1
        kind, path = WAYS[way]
        given = {"Batch-Id": f"batch-{self.sent}", **headers}
        media = given.pop("Content-Type", "application/json")
        answer = self.senders[kind].client.post(
            path.partition("?")[0],
            body,
            content_type=media,
            headers=given,
            query_params=_with(path, params),
        )
        assert answer.status_code < 500, (way, answer.content[:300])

    def count(self) -> None:
        """What the workers do with all of it: done, or set aside with a reason of its own."""
        while process_waiting(20, timezone.now() + timedelta(hours=1)):
            pass
        stumbled = Batch.objects.filter(reason__contains="while counting")
        reasons = [(batch.kind, batch.reason, bytes(batch.body or b"")[:300]) for batch in stumbled]
        stumbled.delete()  # or the next example meets it
        assert reasons == []


WAYS = {
    "records": ("edge", "/api/v1/ingest/requests"),
    "spans": ("otel", "/v1/traces"),
    **{f"file {kind}": ("ci", f"/api/v1/ingest/files?kind={kind}") for kind in FILE_KINDS},
}


def _with(path: str, params: dict[str, str]) -> dict[str, str]:
    _, _, fixed = path.partition("kind=")
    return {**params, "kind": fixed} if fixed else params


@pytest.fixture
def doors(product: Product, ana: User) -> Doors:
    return Doors(ana)


@pytest.mark.parametrize("way", WAYS)
@bounded
@given(
    body=st.binary(max_size=300) | st.sampled_from(RAW),
    pack=st.sampled_from([bytes, bytes, gzip.compress, zstandard.compress]),
    headers=headers,
    params=query,
)
def test_no_bytes_headers_or_query_break_a_door(
    doors: Doors, way: str, body: bytes, pack: Any, headers: dict[str, str], params: dict[str, str]
) -> None:
    sound = {name: value for name, value in headers.items() if _travels(value)}
    doors.post(way, pack(body), sound, params)
    doors.count()


@pytest.mark.parametrize("way", WAYS)
def test_no_body_of_the_strange_ones_breaks_a_door(doors: Doors, way: str) -> None:
    for body in RAW:
        doors.post(way, body, {}, {})
    doors.count()


def _travels(value: str) -> bool:
    """Whether a server would hand the header on: latin-1 without line ends."""
    return all(character.isprintable() and ord(character) < 256 for character in value)


@bounded
@given(changes=st.lists(st.tuples(st.integers(0, 200), json_like), min_size=1, max_size=4))
def test_no_value_of_a_field_breaks_a_record(
    doors: Doors, record: RecordMaker, changes: list[tuple[int, Any]]
) -> None:
    line = record()
    for place, value in changes:
        _set(line, place, value)
    doors.post("records", json.dumps(line).encode(), {}, {})
    doors.count()


@pytest.mark.parametrize("name", ["\x00", "\ud800"])
def test_a_name_that_no_column_holds_is_refused_with_its_line_alone(
    doors: Doors, record: RecordMaker, name: str
) -> None:
    sound, odd = record(), record() | {"request_id": {name: float("nan")}}
    doors.post("records", "\n".join(map(json.dumps, (sound, odd))).encode(), {}, {})
    doors.count()
    counts = Batch.objects.latest("id").counts
    assert (counts["inserted"], counts["rejected"]) == (1, 1)


@bounded
@given(changes=st.lists(st.tuples(st.integers(0, 200), json_like), min_size=1, max_size=4))
def test_no_value_of_a_field_breaks_a_span(doors: Doors, changes: list[tuple[int, Any]]) -> None:
    body = json.loads(otlp_body(wire_span(1), wire_span(2)))
    for place, value in changes:
        _set(body, place, value)
    doors.post("spans", json.dumps(body).encode(), {"Content-Type": "application/json"}, {})


@bounded
@given(changes=st.lists(st.tuples(st.integers(0, 200), json_like), min_size=1, max_size=3))
def test_no_value_of_a_field_breaks_a_trace_file(
    doors: Doors, changes: list[tuple[int, Any]]
) -> None:
    stamps = [{"name": "REQUEST_START", "ns": 5}, {"name": "REQUEST_END", "ns": 9}]
    body: list[Any] = [
        {"id": 1, "model_name": "full", "model_version": 1, "request_id": "a", "parent_id": 7},
        {"id": 1, "timestamps": stamps},
    ]
    for place, value in changes:
        _set(body, place, value)
    doors.post(f"file {SourceKind.TRITON_TRACE}", json.dumps(body).encode(), {}, {})
    doors.count()


def _set(document: Any, place: int, value: Any) -> None:
    """Put the value in the place of one of all values, however deep."""
    places = list(_places(document))
    if places:
        holder, key = places[place % len(places)]
        holder[key] = deepcopy(value)  # one value in two places could be put into itself


def _places(value: Any) -> Any:
    if isinstance(value, dict):
        pairs: list[tuple[Any, Any]] = list(value.items())
    elif isinstance(value, list):
        pairs = list(enumerate(value))
    else:
        return
    for key, inner in pairs:
        yield value, key
        yield from _places(inner)
