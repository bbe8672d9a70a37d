"""An event that a signal may set.

The handler of a signal runs in the main thread, between two steps of whatever that thread does.
`threading.Event.wait` holds a lock for a moment, which a handler that sets the same event then
waits for without end. A byte in a pipe needs no lock.
"""

import os
import select
import signal


class Stop:
    """Set once, by a handler or any thread; whoever waits is woken at once."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        self._is_set = False

    def set(self) -> None:
        if not self._is_set:  # a pipe holds so many bytes, and one is enough
            self._is_set = True
            os.write(self._write, b".")

    def is_set(self) -> bool:
        return self._is_set

    def wait(self, seconds: float | None = None) -> bool:
        """Whether it was set within so many seconds."""
        select.select([self._read], [], [], seconds)
        return self._is_set

    def at(self, *signals: signal.Signals) -> None:
        """Be set by these signals from now on."""
        for number in signals:
            signal.signal(number, lambda *_: self.set())

    def __del__(self) -> None:
        os.close(self._read)
        os.close(self._write)
