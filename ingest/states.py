"""The words of this room: kinds of sources and batches, and how far a batch has come."""

from django.db import models


class SourceKind(models.TextChoices):
    EDGE = "edge", "Edge"
    TRITON_TRACE = "triton_trace", "Triton trace files"
    OTLP = "otlp", "OpenTelemetry spans"
    CLIENT_LOG = "client_log", "Client log"
    STATISTICS = "statistics", "Triton statistics"
    METRICS = "metrics", "Prometheus metrics"
    ROLLUP = "rollup", "Rollups of an edge"
    TRIAL = "trial", "Trial of a load generator"
    ARRIVALS = "arrivals", "Recorded arrivals"
    POLLED = "polled", "Polled server"


class EngineKind(models.TextChoices):
    UNKNOWN = "", "Not declared"
    TRITON = "triton", "Triton"
    STAND_IN = "stand-in", "Built-in stand-in"


class EngineSystem(models.TextChoices):
    """Who tells of an execution: an engine, or a caller's library by OpenTelemetry's convention."""

    TRITON = "triton", "Triton"
    VLLM = "vllm", "vLLM"
    GEN_AI = "gen_ai", "GenAI convention"


class BatchStatus(models.TextChoices):
    RECEIVED = "received", "Stored, not yet counted"
    DONE = "done", "Counted"
    SET_ASIDE = "set_aside", "Set aside"


class Clock(models.TextChoices):
    """What the stamps of an engine attempt count from."""

    STEADY = "steady", "Since the server's host started"
    UNIX = "unix", "Wall time"


#: Kinds that arrive as whole files; an edge's records and OTLP have routes of their own.
FILE_KINDS = (
    SourceKind.TRITON_TRACE,
    SourceKind.CLIENT_LOG,
    SourceKind.STATISTICS,
    SourceKind.METRICS,
)
