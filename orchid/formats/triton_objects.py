"""The objects of a Triton trace file: what they hold, and how whole ones are saved from a torn one.

An object begins where a brace and one of the tracer's own keys stand. In JSON no string holds that
pair unescaped, so on a sound file the cuts are exactly its objects; in an unsound one the text of a
request id or a tensor may look like an object, and costs itself.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated

import msgspec
from msgspec import Meta

from orchid.engine.wire.diagnosis import UNDECODED
from orchid.formats.reading import Lost, Nanoseconds

_KEYS = b"id|model_name|model_version|request_id|parent_id|timestamps|activity|tensor"
OBJECT_START = re.compile(rb'\{\s{0,8}"(?:' + _KEYS + rb')"\s{0,8}:')
_TENSOR_HEAD = re.compile(rb'\{"id":\d+,"activity":"TENSOR_\w+","tensor":\{"name":')
_TENSOR_TAIL = re.compile(rb'","shape":"[\d,-]*","dtype":"\w+"\}\}\Z')
_BOM = b"\xef\xbb\xbf"
_BEFORE, _AFTER = _BOM + b"[, \t\r\n", b"[, \t\r\n]"

Version = Annotated[int, Meta(ge=-1, le=2**31 - 1)]  # -1: the newest


class Stamp(msgspec.Struct, gc=False):
    name: str
    ns: Nanoseconds


class Fragment(msgspec.Struct, gc=False):
    """One object of the file. Tensor contents have no field here, so the decoder skips them."""

    id: Nanoseconds
    model_name: str | None = None
    model_version: Version | None = None
    request_id: str | None = None
    parent_id: Nanoseconds | None = None
    timestamps: tuple[Stamp, ...] = ()
    activity: str | None = None


_DECODER = msgspec.json.Decoder(list[Fragment])


class Window:
    """A stretch of the file from the start of one object to that of another.

    `lost` and `tensors` (those that are not JSON) are known once the fragments are read. `closed`:
    the array ends here, after a whole object.
    """

    def __init__(self, data: bytes, offset: int) -> None:
        self.data, self.offset = data, offset
        self.lost: list[Lost] = []
        self.tensors = 0
        self.closed = False

    def fragments(self) -> list[Fragment]:
        try:
            found = _decoded(self.data)
        except UNDECODED:
            return [one for start, end in self._pieces() for one in self._piece(start, end)]
        self.closed = b"]" in self.data[-_tail(self.data) :]
        return found

    def _pieces(self) -> Iterator[tuple[int, int]]:
        starts = [match.start() for match in OBJECT_START.finditer(self.data)]
        if not starts or self.data[: starts[0]].strip(_BEFORE):
            starts.insert(0, 0)
        return pairwise([*starts, len(self.data)])

    def _piece(self, start: int, end: int) -> list[Fragment]:
        piece = self.data[start:end]
        self.closed = b"]" in piece[-_tail(piece) :]
        try:
            return _decoded(piece)
        except UNDECODED as error:
            reason = _reason(piece.rstrip(_AFTER), error)
        if _whole_tensor(piece.rstrip(_AFTER)):
            self.tensors += 1
            return []
        return self._before_a_torn_start(piece, start, reason)

    def _before_a_torn_start(self, piece: bytes, start: int, reason: str) -> list[Fragment]:
        """The start of the next object, cut too short to be seen, may hang on a whole one."""
        self.closed = False
        close = piece.rfind(b"}") + 1
        try:
            found = _decoded(piece[:close])
        except UNDECODED:
            found, close = [], 0
        rest = piece[close:]
        self.lost.append(Lost(self.offset + start + len(piece) - len(rest.lstrip(_BEFORE)), reason))
        return found

    @staticmethod
    def begins_tensor(data: bytes | bytearray) -> bool:
        return _TENSOR_HEAD.match(data) is not None


def _decoded(data: bytes) -> list[Fragment]:
    return _DECODER.decode(b"[" + data.lstrip(_BEFORE).rstrip(_AFTER) + b"]")


def _tail(piece: bytes) -> int:
    """How many bytes stand after the last object, at least one."""
    return max(1, len(piece) - len(piece.rstrip(_AFTER)))


def _whole_tensor(piece: bytes) -> bool:
    """A tensor whose contents are not JSON: nothing of it is kept, so nothing is lost with it.

    Triton writes INT8 and UINT8 as raw characters, and BYTES unescaped.
    """
    return Window.begins_tensor(piece) and _TENSOR_TAIL.search(piece, len(piece) - 512) is not None


def _reason(piece: bytes, error: Exception) -> str:
    if isinstance(error, msgspec.ValidationError):
        return str(error)
    if Window.begins_tensor(piece):
        return "a tensor's contents that Triton left open"
    if not piece.lstrip(_BEFORE).startswith(b"{"):
        return "no trace object begins here"
    if not piece.endswith(b"}"):
        return "the file ends inside this object"
    if b'"request_id"' in piece:
        return "the request id holds a character that Triton does not escape"
    return f"not a JSON object: {error}"


_NAMES = (
    "HTTP_RECV_START",
    "HTTP_RECV_END",
    "HTTP_SEND_START",
    "HTTP_SEND_END",
    "GRPC_WAITREAD_START",
    "GRPC_WAITREAD_END",
    "GRPC_SEND_START",
    "GRPC_SEND_END",
    "INFER_RESPONSE_COMPLETE",
    "REQUEST_START",
    "QUEUE_START",
    "COMPUTE_START",
    "COMPUTE_INPUT_END",
    "COMPUTE_OUTPUT_START",
    "COMPUTE_END",
    "REQUEST_END",
)
_OLD = {name.lower().replace("_", " ").replace("waitread", "wait/read"): name for name in _NAMES}
_OLD |= {"request handler start": "REQUEST_START", "request handler end": "REQUEST_END"}
#: Today's name of an event by any that servers wrote; one object for all who bear the name. Older
#: servers wrote `request handler start` and the like. A backend's own name is not in it.
TODAY = {name: name for name in _NAMES} | _OLD


def own_name(written: str) -> str:
    """A name that a backend gave, as much of it as is kept."""
    return written.replace("\x00", "")[:256]


def whole_before(data: bytes) -> int:
    """How many bytes of a file that still grows are whole objects; what follows may be half one."""
    starts = [found.start() for found in OBJECT_START.finditer(data)]
    if not starts:
        return 0
    try:
        _decoded(data[starts[-1] :])
    except UNDECODED:
        return starts[-1]
    return len(data)
