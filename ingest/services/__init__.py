"""Writes of the room, one module for each thing that comes in."""

from ingest.services.inbox import BatchMeta, SourceKey, accept, source_for
from ingest.services.processing import process, retry, waiting_batches

__all__ = [
    "BatchMeta",
    "SourceKey",
    "accept",
    "process",
    "retry",
    "source_for",
    "waiting_batches",
]
