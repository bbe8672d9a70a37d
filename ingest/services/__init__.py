"""Writes of the room, one module for each thing that comes in."""

from ingest.services.inbox import accept, source_for
from ingest.services.processing import process, process_waiting, retry, waiting_batches
from ingest.services.storing import BatchMeta, SourceKey

__all__ = [
    "BatchMeta",
    "SourceKey",
    "accept",
    "process",
    "process_waiting",
    "retry",
    "source_for",
    "waiting_batches",
]
