"""Work that somebody types for, a few at a time, so that it never takes every thread."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore

from controlplane.errors import TooMany

#: At once in one process; one more is refused, and the next key or click asks again.
PLACES = BoundedSemaphore(2)


@contextmanager
def one_of_few() -> Iterator[None]:
    """Take a place for the length of the work, or raise TooMany at once."""
    if not PLACES.acquire(blocking=False):
        raise TooMany("checks_busy", "Others are being computed; ask again in a moment.")
    try:
        yield
    finally:
        PLACES.release()
