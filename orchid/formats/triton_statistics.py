"""Answers of Triton's statistics endpoint: numbers over HTTP, decimal strings over gRPC.

gRPC leaves out what is zero. All figures are totals since the server, or that model, was loaded.
"""

import msgspec

from orchid.engine.wire.diagnosis import UNDECODED
from orchid.formats.reading import Reading, UnreadableError


class Total(msgspec.Struct, frozen=True):
    """How often, and nanoseconds together."""

    count: int = 0
    ns: int = 0

    @property
    def mean_ms(self) -> float | None:
        return self.ns / self.count / 1e6 if self.count else None


class Durations(msgspec.Struct, frozen=True):
    """`success` and `queue` include cache hits, the compute phases do not."""

    success: Total = Total()
    fail: Total = Total()
    queue: Total = Total()
    compute_input: Total = Total()
    compute_infer: Total = Total()
    compute_output: Total = Total()
    cache_hit: Total = Total()
    cache_miss: Total = Total()


class BatchTotals(msgspec.Struct, frozen=True):
    batch_size: int
    compute_input: Total = Total()
    compute_infer: Total = Total()
    compute_output: Total = Total()


class ModelStatistics(msgspec.Struct, frozen=True):
    """One model version. `last_inference` is Unix milliseconds, 0 for never."""

    name: str
    version: str
    last_inference: int = 0
    inference_count: int = 0
    execution_count: int = 0
    inference_stats: Durations = Durations()
    batch_stats: tuple[BatchTotals, ...] = ()

    @property
    def mean_batch(self) -> float | None:
        """Requests an execution; None when the model never ran."""
        return self.inference_count / self.execution_count if self.execution_count else None


class _Answer(msgspec.Struct):
    model_stats: list[ModelStatistics] = []


_DECODER = msgspec.json.Decoder(_Answer, strict=False)


def read(data: bytes) -> Reading[ModelStatistics]:
    """Every model of the answer; raises UnreadableError when it is not one."""
    try:
        return Reading(_DECODER.decode(data).model_stats)
    except UNDECODED as error:
        raise UnreadableError(f"not a Triton statistics answer: {error}") from error
