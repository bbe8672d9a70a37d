"""Ticks that come late: one of them runs, and those that it has overtaken do nothing.

A message that expires is no way to that. On a machine that is behind, every tick waits longer than
it may and all of them are thrown away, so that nothing is reconciled for as long as it is behind.
"""

import time
from collections.abc import Collection
from typing import Any

from celery import Task

SENT_AT = "sent_at"


def stamp(headers: dict[str, Any], **_: Any) -> None:
    """A receiver of `before_task_publish`: when the message is sent, in seconds of Unix time."""
    headers[SENT_AT] = time.time()


class Overtaken:
    """Which ticks have begun in this process, and when.

    Of a backlog each process of a worker therefore runs one. A worker whose clock is ahead of the
    sender's skips ticks for as long as that, and then runs one again.
    """

    def __init__(self) -> None:
        self._began: dict[str, float] = {}

    def takes(self, name: str, sent_at: float) -> bool:
        """Whether this tick is still to run; it then counts as begun."""
        if sent_at < self._began.get(name, float("-inf")):
            return False
        self._began[name] = time.time()
        return True


class TickingTask(Task):  # type: ignore[misc] # celery has no types
    """A task whose late calls are one when the schedule names it, and any other task as it is."""

    abstract = True
    overtaken = Overtaken()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        sent_at = getattr(self.request, SENT_AT, None)
        if sent_at is not None and self._is_overtaken(sent_at):
            return None
        return self.run(*args, **kwargs)

    def _is_overtaken(self, sent_at: float) -> bool:
        return self.name in self._ticks() and not self.overtaken.takes(self.name, sent_at)

    def _ticks(self) -> Collection[str]:
        return {entry["task"] for entry in self.app.conf.beat_schedule.values()}
