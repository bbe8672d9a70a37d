"""The stretches of time that a view of engines may be asked for."""

from dataclasses import dataclass
from datetime import timedelta

from controlplane.errors import BadInput


@dataclass(frozen=True)
class Window:
    """A stretch up to now, and the steps of its picture."""

    name: str
    label: str
    length: timedelta
    step_s: int


WINDOWS = {
    one.name: one
    for one in (
        Window("5m", "5 minutes", timedelta(minutes=5), 10),
        Window("1h", "1 hour", timedelta(hours=1), 120),
        Window("24h", "24 hours", timedelta(hours=24), 3600),
    )
}


def window_of(name: str) -> Window:
    """The hour where none is named; BadInput for one that there is not."""
    if name and name not in WINDOWS:
        raise BadInput("unknown_window", f"A window is one of {', '.join(WINDOWS)}.")
    return WINDOWS[name or "1h"]
