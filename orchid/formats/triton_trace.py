"""Trace files of Triton's own tracer (`--trace-config mode=triton`).

A file is one JSON array of small objects keyed by `id`, in the order of writing and not of time:
one header, one object for each timestamp, and tensor contents at level TENSORS. Older servers
wrote one object an id with lower-case names. Both are read. Stamps are nanoseconds of a steady
clock of the server's host, so they give durations and no wall time.

Triton escapes neither request ids nor tensors, and leaves the array open until the server stops.
So a window of the file that is not JSON is cut at the starts of its objects, every whole object is
kept, and what is lost is told by its place (`salvage`).
"""

from collections.abc import Sequence
from operator import itemgetter

from orchid.formats.reading import Lost, Reading
from orchid.formats.triton_epochs import taken
from orchid.formats.triton_objects import OBJECT_START, TODAY, Fragment, Window, own_name
from orchid.formats.triton_phases import Trace, by_time

#: Bytes that are decoded at once, and the longest object that is read. A tensor may be longer.
WINDOW = 1 << 20
#: Fragments that are told by place; a file that is not a trace at all could name millions.
KEPT_LOST = 10_000
_LONGEST_START = 64
_NS = itemgetter(1)
_USUAL_START = b'{"id":'


def read(data: bytes) -> Reading[Trace]:
    """Every trace of which the file holds at least one timestamp, in order of first mention."""
    reader = TraceReader()
    reader.feed(data)
    records = reader.close()
    return Reading(
        [trace for trace in records if trace.events],
        reader.lost,
        reader.complete,
        reader.dropped_text,
        reader.more_lost,
    )


class TraceReader:
    """Reads a file by pieces of any size, holding one window of it and what is not yet taken.

    A window ends at the last start of an object in it, wherever the pieces ended, so the same
    bytes give the same traces and the same lost fragments however they were cut. `take` gives what
    has come together and forgets it; a trace that goes on comes out again with its later part.
    """

    def __init__(self) -> None:
        self.lost: list[Lost] = []
        self.more_lost = 0
        self.complete = False
        self.dropped_text = 0
        self._window = bytearray()
        self._offset = 0  # of the window's first byte in the file
        self._too_long: Lost | None = None  # the object whose end is being looked for
        self._headers: dict[int, Fragment] = {}
        self._events: dict[int, list[tuple[str, int]]] = {}

    def feed(self, data: bytes) -> None:
        view = memoryview(data)
        while len(view):
            room = WINDOW - len(self._window)
            self._window += view[:room]
            view = view[room:]
            if len(self._window) == WINDOW:
                self._read_window()

    def take(self) -> list[Trace]:
        """What is known of each id since the last call; one may have a header and no events yet."""
        headers, events = self._headers, self._events
        self._headers, self._events = {}, {}
        traces = [_trace(key, headers.pop(key, None), found) for key, found in events.items()]
        return traces + [_trace(key, header, ()) for key, header in headers.items()]

    def close(self) -> list[Trace]:
        """The rest, once the file has ended."""
        if self._too_long is not None:
            self._find_end()
        self._keep(bytes(self._window), last=True)
        self._window.clear()
        return self.take()

    def _read_window(self) -> None:
        if self._too_long is not None:
            self._find_end()
            return
        end = _last_start(self._window)
        if end:
            self._keep(bytes(self._window[:end]))
            self._drop(end)
        else:
            self._skip()

    def _keep(self, data: bytes, *, last: bool = False) -> None:
        window = Window(data, self._offset)
        self._join(window.fragments())
        self._tell(window.lost)
        self.dropped_text += window.tensors
        self.complete = last and window.closed

    def _skip(self) -> None:
        """One object fills the window: look for its end without holding it."""
        reason = f"an object of more than {WINDOW} bytes"
        self._too_long = Lost(self._offset, reason)
        if Window.begins_tensor(self._window):
            self.dropped_text += 1
        else:
            self._tell([self._too_long])
        self._drop(WINDOW - _LONGEST_START)

    def _find_end(self) -> None:
        start = OBJECT_START.search(self._window)
        if start is not None:
            self._too_long = None
            self._drop(start.start())
        else:
            self._drop(max(0, len(self._window) - _LONGEST_START))

    def _drop(self, count: int) -> None:
        del self._window[:count]
        self._offset += count

    def _tell(self, lost: Sequence[Lost]) -> None:
        room = KEPT_LOST - len(self.lost)
        self.lost += lost[:room]
        self.more_lost += max(0, len(lost) - room)

    def _join(self, fragments: Sequence[Fragment]) -> None:
        """The loop over every object; names kept local, since it is half of the reader's time."""
        of_id, today = self._events, TODAY.get
        latest, events = -1, [("", 0)]
        for fragment in fragments:
            key, stamps = fragment.id, fragment.timestamps
            if stamps:
                if key != latest:
                    latest, events = key, of_id.setdefault(key, [])
                for stamp in stamps:
                    events.append((today(stamp.name) or own_name(stamp.name), stamp.ns))
            elif fragment.activity is not None:
                self.dropped_text += 1
            if fragment.model_name is not None:
                self._headers[key] = fragment


def _last_start(window: bytearray) -> int:
    """Where the last object of the window begins; 0 when there is only the one at its start."""
    usual = window.rfind(_USUAL_START)
    if usual > 0:
        return usual
    return max((found.start() for found in OBJECT_START.finditer(window)), default=0)


def _trace(key: int, header: Fragment | None, events: Sequence[tuple[str, int]]) -> Trace:
    # A dict keeps the order and drops an event that was written twice.
    once = tuple(dict.fromkeys(events))
    if 0 in map(_NS, once):
        once = tuple(taken(sorted(once, key=by_time)))
    if header is None:
        return Trace(key, once)
    return Trace(
        key,
        once,
        model=header.model_name,
        model_version=header.model_version,
        request_id=header.request_id or None,
        parent_id=header.parent_id or None,
    )
