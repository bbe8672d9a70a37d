"""Bodies as they travel: plain, gzip or zstd, and never larger unpacked than the bound.

Both are unpacked in small pieces, so that to check a body costs no memory, and a bomb ends as soon
as it passes the bound.
"""

import zlib
from collections.abc import Callable, Generator, Iterator

import zstandard

from controlplane.errors import BadInput, TooLarge

#: A body of an edge or of OTLP on the wire, a file on the wire, and any of them unpacked.
MAX_BODY = 8 * 1024 * 1024
MAX_FILE = 48 * 1024 * 1024
MAX_UNPACKED = 64 * 1024 * 1024

#: What to do with a file that is too large for one delivery.
BY_TERMINAL = "`orchid ingest FILE` sends a file of any size, in parts."

#: Files that tools append to have a handful of gzip members or zstd frames.
MAX_MEMBERS = 1000

#: What a sender may put in Content-Encoding.
ACCEPTED = "gzip, zstd"

_GZIP_WINDOW = 31
_GZIP_INPUT, _GZIP_OUTPUT = 64 * 1024, 1024 * 1024
# Four bytes of zstd may stand for 128 KiB: of so much input nothing worse than 32 MiB comes out.
_ZSTD_INPUT = 1024
# What RFC 9659 lets a sender use over HTTP.
_ZSTD_WINDOW = 8 * 1024 * 1024


#: Yields what a member holds and returns where the next one begins.
Member = Generator[bytes, None, int]


def decoded(body: bytes, encoding: str) -> bytes:
    """The plain bytes; BadInput for another encoding or a broken stream, TooLarge for a bomb."""
    if encoding in ("", "identity"):
        return body
    return b"".join(_bounded(body, encoding))


def check(body: bytes, encoding: str) -> None:
    """Raise what `decoded` would raise, without holding what it would give."""
    if encoding not in ("", "identity"):
        for _ in _bounded(body, encoding):
            pass


def _bounded(body: bytes, encoding: str) -> Iterator[bytes]:
    left = MAX_UNPACKED
    for piece in _pieces(body, encoding):
        left -= len(piece)
        if left < 0:
            raise TooLarge(
                "too_large",
                f"The body holds more than {MAX_UNPACKED} bytes unpacked. {BY_TERMINAL}",
            )
        yield piece


def _pieces(body: bytes, encoding: str) -> Iterator[bytes]:
    unpack = _UNPACK.get(encoding)
    if unpack is None:
        raise BadInput(
            "unsupported_encoding",
            f"Send the body plain or with one of {ACCEPTED}.",
            status=415,
            headers={"Accept-Encoding": ACCEPTED},
        )
    at, members, whole = 0, 0, memoryview(body)
    while at < len(body):
        members += 1
        if members > MAX_MEMBERS:
            raise TooLarge("too_large", f"The body has more than {MAX_MEMBERS} {encoding} members.")
        try:
            at = yield from unpack(whole, at)
        except (zlib.error, zstandard.ZstdError) as error:
            raise _broken(encoding) from error


def _broken(encoding: str) -> BadInput:
    return BadInput(
        f"bad_{encoding}", f"The body says {encoding} and is not, is damaged, or was cut short."
    )


def _gzip_member(body: memoryview, at: int) -> Member:
    """One member's pieces; returns where the next one begins."""
    member = zlib.decompressobj(_GZIP_WINDOW)
    while at < len(body):
        fed: bytes | memoryview = body[at : at + _GZIP_INPUT]
        at += len(fed)
        while fed and not member.eof:
            yield member.decompress(fed, _GZIP_OUTPUT)
            fed = member.unconsumed_tail
        if member.eof:
            return at - len(member.unused_data)
    raise zlib.error("cut short")


def _zstd_frame(body: memoryview, at: int) -> Member:
    """One frame's pieces; returns where the next one begins."""
    frame = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).decompressobj()
    while at < len(body):
        fed = body[at : at + _ZSTD_INPUT]
        at += len(fed)
        yield frame.decompress(fed)
        if frame.eof:
            return at - len(frame.unused_data)
    raise zstandard.ZstdError("cut short")


_UNPACK: dict[str, Callable[[memoryview, int], Member]] = {
    "gzip": _gzip_member,
    "x-gzip": _gzip_member,  # RFC 9110: the same
    "zstd": _zstd_frame,
}
