"""Prometheus text exposition (Triton `/metrics`, vLLM), and increases of counters that reset."""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

from orchid.formats.reading import Lost, Reading

_TYPE = re.compile(r"^#\s*TYPE\s+(\S+)\s+(\S+)")


@dataclass(frozen=True, slots=True)
class Sample:
    """One line. `value` is None where the text says NaN (a quantile of nothing)."""

    name: str
    labels: dict[str, str]
    value: float | None
    kind: str


@dataclass(frozen=True, slots=True)
class Increase:
    value: float
    resets: int


def read(data: bytes) -> Reading[Sample]:
    """Every sample under its name as written; a line that is no exposition is lost by itself."""
    text = data.decode("utf-8-sig", errors="replace")
    declared = filter(None, map(_TYPE.match, text.splitlines()))
    kinds = {str(match[1]): str(match[2]) for match in declared}
    try:
        families = list(text_string_to_metric_families(text))
    except ValueError:
        return _line_by_line(text, kinds)
    return Reading([sample for family in families for sample in _samples(family, kinds)])


def _samples(family: Metric, kinds: dict[str, str]) -> Iterator[Sample]:
    # The parser gives counters the suffix _total when the text has none; take it off again.
    added = family.type == "counter" and kinds.get(family.name) == "counter"
    for sample in family.samples:
        name = sample.name.removesuffix("_total") if added else sample.name
        yield Sample(name, dict(sample.labels), _number(sample.value), family.type)


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _line_by_line(text: str, kinds: dict[str, str]) -> Reading[Sample]:
    kept: list[Sample] = []
    lost: list[Lost] = []
    offset = 0
    for number, line in enumerate(text.splitlines(keepends=True), start=1):
        if line.strip() and not line.startswith("#"):
            try:
                kept.extend(_one_line(line, kinds))
            except ValueError:
                lost.append(Lost(offset, "not a sample of the text exposition", number))
        offset += len(line.encode())
    return Reading(kept, lost)


def _one_line(line: str, kinds: dict[str, str]) -> Iterator[Sample]:
    for family in text_string_to_metric_families(line + "\n"):
        for sample in family.samples:
            kind = _kind_of(sample.name, kinds)
            yield Sample(sample.name, dict(sample.labels), _number(sample.value), kind)


def _kind_of(name: str, kinds: dict[str, str]) -> str:
    for suffix in ("", "_bucket", "_sum", "_count"):
        kind = kinds.get(name.removesuffix(suffix))
        if kind is not None:
            return kind
    return "unknown"


def increase(values: Iterable[float | None]) -> Increase:
    """What a counter grew by over samples in time order.

    A value below the one before it is a restart from zero: all of the new value is growth.
    100, 160, 5, 25 grew by 60 + 5 + 20 with one reset.
    """
    return increase_over_runs([values])


def increase_over_runs(runs: Iterable[Iterable[float | None]]) -> Increase:
    """The same over the samples of each run of a server, of which each but the first began at 0."""
    total, resets = 0.0, 0
    previous: float | None = None
    for values in runs:
        new_run = previous is not None
        for value in values:
            if value is None:
                continue
            fell = previous is not None and (new_run or value < previous)
            resets += fell
            total += value if fell else value - (value if previous is None else previous)
            previous, new_run = value, False
    return Increase(total, resets)
