"""What arrived and what it became.

Facts are stored once and every figure is computed from them: an attempt's outcome follows from its
own ending, the gateway's record and the client's log, so it is a selector and not a column.
"""

from ingest.models.calls import ClientCall
from ingest.models.engine import CounterSample, EngineAttempt, EngineSpan
from ingest.models.inbox import Batch
from ingest.models.requests import RequestRow
from ingest.models.rollups import RollupDelta
from ingest.models.routes import EngineRoute
from ingest.models.sources import Source
from ingest.models.tallies import SourceBoot, SourceTally

__all__ = [
    "Batch",
    "ClientCall",
    "CounterSample",
    "EngineAttempt",
    "EngineRoute",
    "EngineSpan",
    "RequestRow",
    "RollupDelta",
    "Source",
    "SourceBoot",
    "SourceTally",
]
