"""Columns of whole numbers as bytes that are read back as they lie.

A matrix is stored column by column, each in the narrowest of 1, 2, 4 or 8 bytes that holds it, and
columns of equal width stand side by side, so that reading takes a few copies however many columns
there are. A column of zeros takes no room. Numbers that are negative or beyond 63 bits are spelled.
Equal columns give equal bytes.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

Parts = NDArray[Any]
Narrow = NDArray[Any]

_WIDTHS = (1, 2, 4, 8)
_ZERO, _SPELLED = 0, 9
_ENDS = np.array([0, 2**8 - 1, 2**16 - 1, 2**32 - 1], dtype=np.int64)
_CODES = (_ZERO, *_WIDTHS)


class _Head(msgspec.Struct, array_like=True, frozen=True):
    """The head that the caller gave, then rows and codes of each matrix, then spelled columns."""

    given: Any
    matrices: list[tuple[int, bytes]]
    spelled: list[list[str]]


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(_Head)


def packed(given: Any, matrices: Sequence[Parts]) -> bytes:
    """The matrices, [row, place] or [row], behind a head of the caller's own."""
    whole = [one[:, None] if one.ndim == 1 else one for one in matrices]
    codes = [_codes(one) for one in whole]
    spelled = [
        [str(value) for value in one[:, place].tolist()]
        for one, some in zip(whole, codes, strict=True)
        for place in np.flatnonzero(some == _SPELLED)
    ]
    shapes = [
        (len(one), some.astype(np.uint8).tobytes()) for one, some in zip(whole, codes, strict=True)
    ]
    head = _encoder.encode(_Head(given, shapes, spelled))
    body = (part for one, some in zip(whole, codes, strict=True) for part in _body(one, some))
    return b"".join([len(head).to_bytes(4, "little"), head, *body])


class Reader:
    """What `packed` was given: `given`, then the matrices in their order."""

    def __init__(self, data: bytes | memoryview) -> None:
        self._data = data
        self._at = 4 + int.from_bytes(data[:4], "little")
        head = _decoder.decode(data[4 : self._at])
        self.given: Any = head.given
        self._matrices: Iterator[tuple[int, bytes]] = iter(head.matrices)
        self._spelled = iter(head.spelled)

    def matrix(self) -> Parts:
        """The next matrix, [row, place]: 64 bits, or Python's numbers where one is spelled."""
        rows, given = next(self._matrices)
        codes = np.frombuffer(given, dtype=np.uint8)
        dtype: Any = object if _SPELLED in given else np.int64
        found = np.zeros((len(codes), rows), dtype=dtype)
        for place in np.flatnonzero(codes == _SPELLED):
            found[place] = [int(text) for text in next(self._spelled)]
        for width in _WIDTHS:
            if width in given:
                places = np.flatnonzero(codes == width)
                found[places] = self._raw(width, len(places) * rows).reshape(-1, rows)
        return found.T

    def column(self) -> Narrow:
        """The next matrix of one column, in the width it was stored in."""
        rows, given = next(self._matrices)
        code = given[0] if given else _ZERO
        if code == _ZERO:
            return np.zeros(rows, dtype=np.uint8)
        if code == _SPELLED:
            return np.array([int(text) for text in next(self._spelled)], dtype=object)
        return self._raw(code, rows)

    def _raw(self, width: int, count: int) -> Narrow:
        found = np.frombuffer(self._data, dtype=f"<u{width}", count=count, offset=self._at)
        self._at += width * count
        return found


def _codes(matrix: Parts) -> NDArray[np.int64]:
    """How each column is stored."""
    if not matrix.size:
        return np.zeros(matrix.shape[1], dtype=np.int64)
    top, least = matrix.max(axis=0), matrix.min(axis=0)
    if matrix.dtype == object:
        held = [_code_of(int(high), int(low)) for high, low in zip(top, least, strict=True)]
        return np.array(held, dtype=np.int64)
    codes = np.array(_CODES)[np.searchsorted(_ENDS, top)]
    return np.where(least < 0, _SPELLED, codes)


def _code_of(top: int, least: int) -> int:
    if least < 0 or top >= 2**63:
        return _SPELLED
    return _CODES[int(np.searchsorted(_ENDS, top))]


def _body(matrix: Parts, codes: NDArray[np.int64]) -> Iterator[bytes]:
    for width in _WIDTHS:
        places = np.flatnonzero(codes == width)
        if len(places):
            yield np.ascontiguousarray(matrix[:, places].T).astype(f"<u{width}").tobytes()
