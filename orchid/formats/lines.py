"""Lines of a text format with their numbers and byte offsets."""

from collections.abc import Iterator

_BOM = b"\xef\xbb\xbf"


def lines(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """(number from 1, byte offset, line without its end), past a leading BOM and blank lines."""
    offset = len(_BOM) if data.startswith(_BOM) else 0
    number = 0
    while offset < len(data):
        end = data.find(b"\n", offset)
        end = len(data) if end < 0 else end
        number += 1
        line = data[offset:end].strip()
        if line:
            yield number, offset, line
        offset = end + 1
