"""`orchid policy outcomes`: what recorded requests count as under a document."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np

from orchid.cli.output import json_option, show, table
from orchid.cli.policy.reading import document_argument, loaded
from orchid.cli.policy.records import records_of
from orchid.engine import columns
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.values import percent
from orchid.engine.histogram import rank_of
from orchid.engine.outcome import COUNTERS
from orchid.engine.segments import matches
from orchid.engine.wire.records import Rejected, RequestRecord

recording = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)


class Reader:
    """The records of a file, and the lines that are none."""

    def __init__(self, file: Path) -> None:
        self.file, self.unreadable = file, 0
        self.first: Rejected | None = None

    def __iter__(self) -> Iterator[RequestRecord]:
        for found in records_of(self.file):
            if isinstance(found, RequestRecord):
                yield found
            else:
                self.unreadable += 1
                self.first = self.first or found


@click.command()
@click.argument("file", type=document_argument)
@click.argument("records", type=recording)
@json_option
def outcomes(file: Path, records: Path, as_json: bool) -> None:
    """Count RECORDS (NDJSON, plain or gzip) into the populations of FILE.

    A record counts by its outcome, clocks, route and manifest, the whole and by gated segment.
    Quality evidence is not looked at: a technical success still needs it to be a success.
    """
    document, reader = loaded(file).document, Reader(records)
    data = counted(columns.from_records(reader), document)
    data["unreadable"] = {"n": reader.unreadable, "first": reader.first and reader.first.message}
    show(data, lambda: outcomes_text(data), as_json=as_json)


def counted(found: columns.Columns, document: PolicyDocument) -> dict[str, Any]:
    """Counts, attainment and completion p95 of all records, then of each gated segment."""
    masks = columns.populations_of(found, document)
    latency_ms = columns.latency_ms(found, document)
    everything = np.ones(len(found), dtype=np.bool_)
    parts = {"": everything}
    for segment in document.gates.segments:
        in_it = [matches(segment.where, dict(facts.segment)) for facts in found.facts]
        parts[segment.name] = np.array(in_it, dtype=np.bool_)[found.codes]
    return {
        "n": len(found),
        "parts": [
            {"segment": name, **_figures(masks, latency_ms, part)} for name, part in parts.items()
        ],
    }


def _figures(
    masks: dict[str, columns.Mask], latency_ms: columns.Floats, part: columns.Mask
) -> dict[str, Any]:
    counts = {name: int(np.count_nonzero(mask & part)) for name, mask in masks.items()}
    ended = np.sort(latency_ms[part & ~np.isnan(latency_ms)])
    p95_ms = float(ended[rank_of(0.95, len(ended)) - 1]) if len(ended) else None
    eligible = counts["eligible"]
    return {
        "counts": counts,
        "technical_attainment": counts["technical_success"] / eligible if eligible else None,
        "completion_p95_ms": p95_ms if p95_ms is None or np.isfinite(p95_ms) else None,
        "unfinished_at_p95": p95_ms is not None and not np.isfinite(p95_ms),
    }


def outcomes_text(data: dict[str, Any]) -> str:
    parts = data["parts"]
    names = [name for name in COUNTERS if any(part["counts"][name] for part in parts)]
    rows: list[list[object]] = [
        [name.replace("_", " "), *(f"{part['counts'][name]:,}" for part in parts)] for name in names
    ]
    rows.append(["technical attainment", *(_percent(p["technical_attainment"]) for p in parts)])
    rows.append(["completion p95 (nearest rank)", *(_p95(part) for part in parts)])
    headings = ["population", *(part["segment"] or "all" for part in parts)]
    lines = [f"{data['n']:,} records", table(headings, rows)]
    if data["unreadable"]["n"]:
        lines.append(
            f"{data['unreadable']['n']:,} lines are no records, the first: "
            f"{data['unreadable']['first']}"
        )
    return "\n".join(lines)


def _percent(value: float | None) -> str | None:
    return None if value is None else percent(value, 2)


def _p95(part: dict[str, Any]) -> str | None:
    if part["unfinished_at_p95"]:
        return "not finished"
    value = part["completion_p95_ms"]
    return None if value is None else f"{value:,.0f} ms"
