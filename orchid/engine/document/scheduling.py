"""Quanta of the servers' schedulers, for all routes and by route."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from orchid.engine.document.values import DurationMs, Name, PositiveCount, Section


class RouteScheduling(Section):
    """How the servers of one route batch and preempt; absent keys keep the document's quanta."""

    mode: Literal["static", "dynamic", "continuous"] = "continuous"
    """Dynamic suits outputs of a fixed length, continuous suits generation."""
    max_batch: PositiveCount | None = None
    """Sequences in one batch."""
    max_delay_ms: DurationMs | None = Field(default=None, alias="max_delay")
    """Longest wait for a batch to fill."""
    prefill_chunk_tokens: PositiveCount | None = None
    """Prompt tokens of one prefill step."""
    max_decode_turns: PositiveCount | None = None
    """Decode steps in a row before a prefill may go."""
    preemption: Literal["swap", "recompute", "drop"] | None = None
    """What happens to a sequence that must give up its cache; each is charged."""


class Scheduling(Section):
    """Quanta of the engine's scheduler."""

    prefill_chunk_tokens: PositiveCount
    """Prompt tokens of one prefill step."""
    max_decode_turns: PositiveCount
    """Decode steps in a row before a prefill may go."""
    kv_block_tokens: PositiveCount
    """Tokens of one cache block."""
    routes: Mapping[Name, RouteScheduling] = Field(default_factory=dict)
    """Settings of single routes."""
