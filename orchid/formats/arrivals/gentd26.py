"""Alibaba's GenTD26 image requests: a time, a status, characters in and seconds of execution out.

They have no tokens: a length in is characters of the prompt (blank is 0, a request without one), a
length out is whole seconds of execution. Times are to the second, without a zone, taken as UTC.
"""

from collections.abc import Callable

from orchid.formats.arrivals.azure import unix_ns
from orchid.formats.arrivals.shape import Arrival, ClockOf, Holds, Trace, bounded, in_order
from orchid.formats.numbers import count, figure
from orchid.formats.tables import Table

_COLUMNS = ("gmt_create", "predict_status", "exec_time_seconds", "prompt_length")
_BESIDE = (
    *("predict_type", "groupId", "negative_prompt_length", "num_images_per_prompt"),
    *("num_inference_steps", "checkpoint_model_version_id", "num_lora"),
)
_UNANSWERED = ("FAILED", "PENDING", "PROCESSING")
_STATUSES = ("SUCCEED", *_UNANSWERED)


def read(data: bytes, name: str = "") -> Trace:
    """All arrivals in order; raises UnreadableError without the known columns or any row."""
    table = Table(data, _COLUMNS, _BESIDE)
    notes = ["Lengths are characters of the prompt and seconds of execution, not tokens."]
    ordered = in_order(table.read(_arrival), notes)
    return bounded(
        Trace(
            "GenTD26 image requests",
            Holds.ARRIVALS,
            ClockOf.UNIX,
            ordered,
            lost=table.lost,
            notes=notes,
            unused=table.unused,
            units=("prompt characters", "seconds of execution"),
        )
    )


def _arrival(cell: Callable[[str], str]) -> Arrival:
    status = cell("predict_status")
    if status not in _STATUSES:
        raise ValueError(f"predict_status is none of {', '.join(_STATUSES)}")
    return Arrival(
        unix_ns(cell("gmt_create")),
        count(cell("prompt_length") or 0, "prompt_length"),
        round(figure(cell("exec_time_seconds") or 0, "exec_time_seconds", high=1e7)),
        failed=status in _UNANSWERED,
        group=cell("predict_type")[:64],
    )
