"""Pictures and tables of trials and of recorded traffic: pure functions of stored rows."""

from ingest.trial_charts.latency import latency_plot, points_table
from ingest.trial_charts.metrics import methods_table, metrics_table, side_by_side
from ingest.trial_charts.traffic import lengths_table, traffic_facts, traffic_plot

__all__ = [
    "latency_plot",
    "lengths_table",
    "methods_table",
    "metrics_table",
    "points_table",
    "side_by_side",
    "traffic_facts",
    "traffic_plot",
]
