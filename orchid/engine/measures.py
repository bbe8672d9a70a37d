"""Named measures of counted traffic: what guardrails, revisit triggers and pages may speak of.

How busy an accelerator is explains a figure and never judges one, so it is no measure: see
`DIAGNOSTIC_ONLY`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from orchid.engine import measured
from orchid.engine.measured import Observed, Reading, observed

__all__ = [
    "DIAGNOSTIC_ONLY",
    "MEASURES",
    "Measure",
    "Observed",
    "Reading",
    "measure",
    "observed",
]

Unit = Literal["share", "ms", "bytes", "count"]
Worse = Literal["above", "below"]

#: Names under which people ask for a gate that must not be one.
DIAGNOSTIC_ONLY = frozenset(
    f"{device}_{word}"
    for device in ("accelerator", "device", "gpu")
    for word in ("utilisation", "utilization")
)


@dataclass(frozen=True, slots=True)
class Measure:
    """What is measured, in which unit, on which side it gets worse, and how it is read."""

    name: str
    label: str
    unit: Unit
    worse: Worse
    words: str
    read: Callable[[Observed], Reading]
    compares: bool = False
    """Whether it needs the traffic of the decision beside the window's own."""


def measure(name: str) -> Measure | None:
    """The measure of that name; None where nothing measures it."""
    return MEASURES.get(name)


_ELIGIBLE = "eligible"
_EVERY = (
    Measure(
        "fallback_share",
        "Fallback share",
        "share",
        "above",
        "eligible requests that another route served",
        measured.share("fallback", _ELIGIBLE),
    ),
    Measure(
        "early_termination_share",
        "Early-terminated share",
        "share",
        "above",
        "eligible requests whose answer a stop condition ended",
        measured.share("early_terminated", _ELIGIBLE),
    ),
    Measure(
        "bounded_share",
        "Bounded share",
        "share",
        "above",
        "eligible requests whose output was bounded",
        measured.share("bounded", _ELIGIBLE),
    ),
    Measure(
        "rejection_share",
        "Rejection share",
        "share",
        "above",
        "eligible requests that admission refused",
        measured.share("rejected", _ELIGIBLE),
    ),
    Measure(
        "deferral_share",
        "Deferral share",
        "share",
        "above",
        "eligible requests that were put off",
        measured.share("deferred", _ELIGIBLE),
    ),
    Measure(
        "validator_stopped_share",
        "Stopped by the validator",
        "share",
        "above",
        "admitted requests whose answer validation refused before anybody saw it",
        measured.share("validator_stopped", "admitted"),
    ),
    Measure(
        "manifest_mismatch_share",
        "Other manifest",
        "share",
        "above",
        "admitted requests that ran under another manifest than the generation's",
        measured.share("manifest_mismatch", "admitted"),
    ),
    Measure(
        "completion_share",
        "Completion share",
        "share",
        "below",
        "admitted requests that were answered as a whole",
        measured.completion,
    ),
    Measure(
        "worst_bucket_completion_share",
        "Completion of the worst length bucket",
        "share",
        "below",
        "the completion share of the output bucket that completes least",
        measured.worst_bucket,
    ),
    Measure(
        "queue_dwell_mean_ms",
        "Mean queue dwell",
        "ms",
        "above",
        "mean wait of a request before a device took it",
        measured.mean("queue_ms"),
    ),
    Measure(
        "queue_dwell_max_ms",
        "Longest queue dwell",
        "ms",
        "above",
        "longest wait of a request before a device took it",
        measured.largest("queue_ms"),
    ),
    Measure(
        "no_progress_max_ms",
        "Longest no-progress interval",
        "ms",
        "above",
        "longest gap between two tokens of one response",
        measured.largest("max_gap_ms"),
    ),
    Measure(
        "cancel_to_release_mean_ms",
        "Mean cancel to release",
        "ms",
        "above",
        "mean time from a cancel to the release of its state",
        measured.mean("cancel_to_release_ms"),
    ),
    Measure(
        "cancel_to_release_max_ms",
        "Longest cancel to release",
        "ms",
        "above",
        "longest time from a cancel to the release of its state",
        measured.largest("cancel_to_release_ms"),
    ),
    Measure(
        "transfer_bytes_mean",
        "Mean transfer",
        "bytes",
        "above",
        "bytes that a request moves between host and device",
        measured.mean("transfer_bytes"),
    ),
    Measure(
        "transfer_bytes_max",
        "Largest transfer",
        "bytes",
        "above",
        "most bytes that one request moved between host and device",
        measured.largest("transfer_bytes"),
    ),
    Measure(
        "live_cache_share",
        "Live cache",
        "share",
        "above",
        "mean live tokens over those that the document lets the fleet hold",
        measured.live_cache,
    ),
    Measure(
        "attained_share",
        "Attained share",
        "share",
        "below",
        "part of all admitted TEU that the selected requests attained",
        measured.attained,
    ),
    Measure(
        "preemptions_mean",
        "Preemptions a request",
        "count",
        "above",
        "how often the work of a request was taken off its device, on average",
        measured.mean("preemptions"),
    ),
    Measure(
        "teu_error",
        "TEU prediction error",
        "share",
        "above",
        "distance of observed from predicted TEU, over the predicted",
        measured.teu_error,
    ),
    Measure(
        "mix_shift",
        "Mix shift",
        "share",
        "above",
        "largest change of a class's share of input or output TEU since the decision",
        measured.mix_shift,
        compares=True,
    ),
    Measure(
        "escalation_share",
        "Escalation share",
        "share",
        "above",
        "requests asked of a cascade's small route that its large one answered",
        measured.escalation,
    ),
    Measure(
        "prefix_read_share",
        "Prefix-cache reads",
        "share",
        "below",
        "part of the input read from a prefix cache, of the route that reads least",
        measured.prefix_reads,
    ),
)
MEASURES: Mapping[str, Measure] = {one.name: one for one in _EVERY}
