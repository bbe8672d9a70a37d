"""A body as its sender packed it: gzip or zstd, in one member or many, whole or not."""

import gzip
import json
import zlib
from collections.abc import Callable

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from controlplane.errors import BadInput
from ingest.models import Batch, RequestRow
from ingest.services import encoding
from ingest.services.encoding import MAX_UNPACKED, decoded
from tests.ingest.ingest_cast import RecordMaker, Sender, count_waiting

URL = "/api/v1/ingest/requests"
OVER = MAX_UNPACKED + 1


def zstd(body: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(body)


def streamed_zstd(body: bytes) -> bytes:
    """As a sender packs that doesn't know the length beforehand."""
    packer = zstandard.ZstdCompressor().compressobj()
    return packer.compress(body) + packer.flush()


PACK: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "x-gzip": ("x-gzip", gzip.compress),
    "zstd": ("zstd", zstd),
    "zstd, streamed": ("zstd", streamed_zstd),
}
packed = pytest.mark.parametrize(("name", "pack"), PACK.values(), ids=PACK)


def packs(body: bytes, name: str) -> bytes:
    return gzip.compress(body, mtime=0) if name == "gzip" else zstd(body)


@pytest.mark.django_db
@packed
def test_what_a_sender_packs_is_unpacked(
    edge: Sender, record: RecordMaker, name: str, pack: Callable[[bytes], bytes]
) -> None:
    lines = b"\n".join(json.dumps(record()).encode() for _ in range(2))
    answer = edge.records(pack(lines), **{"Content-Encoding": name})
    assert answer.status_code == 202
    count_waiting()
    assert RequestRow.objects.count() == 2


@pytest.mark.parametrize("name", ["gzip", "zstd"])
@given(
    parts=st.lists(st.binary(max_size=3_000), min_size=1, max_size=5),
    limits=st.sampled_from([(64 * 1024, 1024 * 1024), (7, 11)]),
)
@settings(derandomize=True, max_examples=60, deadline=None)
def test_members_one_after_another_are_one_body(
    name: str, parts: list[bytes], limits: tuple[int, int]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoding, "_GZIP_INPUT", limits[0])
        patch.setattr(encoding, "_GZIP_OUTPUT", limits[1])
        patch.setattr(encoding, "_ZSTD_INPUT", limits[0])
        assert decoded(b"".join(packs(part, name) for part in parts), name) == b"".join(parts)


@pytest.mark.parametrize("name", ["gzip", "zstd"])
@given(data=st.data())
@settings(derandomize=True, max_examples=80, deadline=None)
def test_a_stream_that_was_cut_is_never_taken_for_whole(name: str, data: st.DataObject) -> None:
    whole = packs(b"some text that is packed " * 20, name) * 2
    cut = data.draw(st.integers(1, len(whole) - 1).filter(lambda at: at != len(whole) // 2))
    with pytest.raises(BadInput, match="cut short"):
        decoded(whole[:cut], name)


@pytest.mark.parametrize(
    ("body", "name", "status", "code"),
    [
        (b"not gzip", "gzip", 400, "bad_gzip"),
        (gzip.compress(b"{}", mtime=0)[:-3], "gzip", 400, "bad_gzip"),
        (gzip.compress(b"{}") + b"and then?", "gzip", 400, "bad_gzip"),
        (b"not zstd", "zstd", 400, "bad_zstd"),
        (zstd(b"{}" * 100)[:-3], "zstd", 400, "bad_zstd"),
        (zstd(b"{}") + b"and then?", "zstd", 400, "bad_zstd"),
        (gzip.compress(b"{}"), "zstd", 400, "bad_zstd"),
        (b"{}", "br", 415, "unsupported_encoding"),
        (b"{}", "gzip, zstd", 415, "unsupported_encoding"),
        (gzip.compress(b"") * 2_000, "gzip", 413, "too_large"),
        (zstd(b"") * 2_000, "zstd", 413, "too_large"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.django_db
def test_what_cannot_be_unpacked_is_refused_at_once(
    edge: Sender, body: bytes, name: str, status: int, code: str
) -> None:
    answer = edge.post(URL, body, **{"Batch-Id": "b", "Content-Encoding": name})
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert not Batch.objects.exists()
    if status == 415:
        assert answer["Accept-Encoding"] == "gzip, zstd"


def _gzip_bomb() -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    return packer.compress(bytes(OVER)) + packer.flush()


@pytest.mark.parametrize(
    ("bomb", "name"),
    [(_gzip_bomb, "gzip"), (lambda: streamed_zstd(bytes(OVER)), "zstd")],
    ids=["gzip", "zstd"],
)
@pytest.mark.django_db
def test_a_bomb_is_refused_before_it_is_unpacked(
    edge: Sender, bomb: Callable[[], bytes], name: str
) -> None:
    answer = edge.post(URL, bomb(), **{"Batch-Id": "b", "Content-Encoding": name})
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


def test_a_frame_that_asks_for_endless_memory_is_refused() -> None:
    wide = zstandard.ZstdCompressionParameters(window_log=27)
    packer = zstandard.ZstdCompressor(compression_params=wide).compressobj()
    with pytest.raises(BadInput) as refusal:
        decoded(packer.compress(b"{}") + packer.flush(), "zstd")
    assert refusal.value.code == "bad_zstd"
