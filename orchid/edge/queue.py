"""The bounded wait when a pool is at its knee: in order, and never past the deadline."""

import asyncio

from orchid.engine.admission.request import Decision, Offer


class Turns:
    """Wakes those who wait when something was released; each then asks for a decision again."""

    def __init__(self) -> None:
        self._changed = asyncio.Event()

    def wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def next_change(self, within_ms: float) -> None:
        """Return at the next release, or when the time is up."""
        try:
            await asyncio.wait_for(self._changed.wait(), max(within_ms, 0.0) / 1000.0)
        except TimeoutError:
            return


def latest_start_ms(decision: Decision, offer: Offer, reserve_ms: float) -> float:
    """The moment after which the offered work can't be done in time any more."""
    return decision.shape.due_ms - reserve_ms - (offer.prediction.service_ms or 0.0)
