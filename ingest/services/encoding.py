"""Bodies as they travel: plain or gzip, and never larger unpacked than the bound."""

import zlib

from controlplane.errors import BadInput, Problem

#: A body of an edge or of OTLP on the wire, a file on the wire, and any of them unpacked.
MAX_BODY = 8 * 1024 * 1024
MAX_FILE = 48 * 1024 * 1024
MAX_UNPACKED = 64 * 1024 * 1024

#: Each member costs a copy of what is behind it; files that tools append to have a handful.
MAX_MEMBERS = 1000

_GZIP_WINDOW = 31


class TooLarge(Problem):
    status = 413
    title = "More than one delivery may hold"


def decoded(body: bytes, encoding: str) -> bytes:
    """The plain bytes; BadInput for another encoding or a broken stream, TooLarge for a bomb."""
    if encoding in ("", "identity"):
        return body
    if encoding != "gzip":
        raise BadInput("unsupported_encoding", "Send the body plain or with gzip.", status=415)
    try:
        return b"".join(_members(body))
    except zlib.error as error:
        raise BadInput("bad_gzip", "The body says gzip and is not, or was cut short.") from error


def _members(body: bytes) -> list[bytes]:
    """A gzip file is one or more members; each is unpacked up to what is left of the bound."""
    parts: list[bytes] = []
    left = MAX_UNPACKED
    while body:
        member = zlib.decompressobj(_GZIP_WINDOW)
        part = member.decompress(body, left + 1)
        left -= len(part)
        if left < 0:
            raise TooLarge("too_large", f"The body holds more than {MAX_UNPACKED} bytes unpacked.")
        if not member.eof:
            raise zlib.error("cut short")
        parts.append(part)
        if len(parts) > MAX_MEMBERS:
            raise TooLarge("too_large", f"The body has more than {MAX_MEMBERS} gzip members.")
        body = member.unused_data
    return parts
