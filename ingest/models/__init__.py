"""What arrived and what it became.

Facts are stored once and every figure is computed from them: an attempt's outcome follows from its
own ending, the gateway's record and the client's log, so it is a selector and not a column.
"""

from ingest.models.calls import ClientCall
from ingest.models.counters import CounterSample, CounterSeries
from ingest.models.engine import EngineAttempt, EngineHeader, EngineModel
from ingest.models.inbox import Batch
from ingest.models.requests import RequestRow
from ingest.models.rollups import (
    DimensionValue,
    EdgeRollup,
    EdgeStep,
    RollupCell,
    RollupDelta,
    RollupHour,
    RollupStep,
    RollupStream,
    TenantNote,
    TenantRanking,
)
from ingest.models.routes import EngineRoute
from ingest.models.servers import ServerChange, TritonServer
from ingest.models.shadow import ShadowCount, ShadowRow
from ingest.models.sources import Source
from ingest.models.spans import EngineSpan, TouchedTraces
from ingest.models.tallies import SourceBoot, SourceTally
from ingest.models.trials import ArrivalTrace, Trial
from ingest.models.units import ExposedUnit, FollowedSplit

__all__ = [
    "ArrivalTrace",
    "Batch",
    "ClientCall",
    "CounterSample",
    "CounterSeries",
    "DimensionValue",
    "EdgeRollup",
    "EdgeStep",
    "EngineAttempt",
    "EngineHeader",
    "EngineModel",
    "EngineRoute",
    "EngineSpan",
    "ExposedUnit",
    "FollowedSplit",
    "RequestRow",
    "RollupCell",
    "RollupDelta",
    "RollupHour",
    "RollupStep",
    "RollupStream",
    "ServerChange",
    "ShadowCount",
    "ShadowRow",
    "Source",
    "SourceBoot",
    "SourceTally",
    "TenantNote",
    "TenantRanking",
    "TouchedTraces",
    "Trial",
    "TritonServer",
]
