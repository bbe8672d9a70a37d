"""Reads that gates, releases, pages and API share."""

from ingest.selectors.attempts import AttemptSeen, attempts, joined, model_times
from ingest.selectors.backlog import InboxState, inbox_state
from ingest.selectors.by_hour import CellInTime, Hourly, counted_by_hour, tenants_in_time
from ingest.selectors.clocks import edges_off
from ingest.selectors.completeness import Completeness, completeness
from ingest.selectors.counted import counted, counted_by_tenant, last_request_at, steps
from ingest.selectors.figures import EngineCounts, EngineFigures, engine_counts, engine_figures
from ingest.selectors.late import came_late
from ingest.selectors.recorded import recorded_requests
from ingest.selectors.rollups import RollupRow, rollup_rows
from ingest.selectors.sources import (
    SourceRow,
    batch_of,
    batches,
    earliest,
    engines,
    requests,
    set_aside,
    silent_edges,
    source_of,
    sources,
    watermark,
    watermarks,
)
from ingest.selectors.trials import arrivals, support_of, traffic_windows
from ingest.selectors.units import SplitCounts, split_counts

__all__ = [
    "AttemptSeen",
    "CellInTime",
    "Completeness",
    "EngineCounts",
    "EngineFigures",
    "Hourly",
    "InboxState",
    "RollupRow",
    "SourceRow",
    "SplitCounts",
    "arrivals",
    "attempts",
    "batch_of",
    "batches",
    "came_late",
    "completeness",
    "counted",
    "counted_by_hour",
    "counted_by_tenant",
    "earliest",
    "edges_off",
    "engine_counts",
    "engine_figures",
    "engines",
    "inbox_state",
    "joined",
    "last_request_at",
    "model_times",
    "recorded_requests",
    "requests",
    "rollup_rows",
    "set_aside",
    "silent_edges",
    "source_of",
    "sources",
    "split_counts",
    "steps",
    "support_of",
    "tenants_in_time",
    "traffic_windows",
    "watermark",
    "watermarks",
]
