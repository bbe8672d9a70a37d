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
    SHADOW = "shadow", "Shadow decisions of an edge"


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


class RollupBy(models.TextChoices):
    CELL = "cell", "By segment, route and manifest"
    TENANT = "tenant", "By tenant"


class ShadowMode(models.TextChoices):
    """Which of two decisions held: the incumbent's alone, or under the candidate's limits."""

    SHADOW = "shadow", "The candidate is asked"
    HARD_LIMITS = "hard_limits", "The candidate’s limits hold"


class ShadowCounted(models.TextChoices):
    """How the candidate differs (`orchid.engine.shadow.differences`), or why it was not asked."""

    SAME = "same", "Agrees"
    REFUSES = "refuses", "Refuses what is served"
    DEFERS = "defers", "Puts off what is not"
    SERVES = "serves", "Serves what is not"
    ROUTE = "route", "Serves by another route"
    BOUNDS = "bounds", "Bounds the output otherwise"
    REASON = "reason", "Has another reason"
    OVERLOAD = "overload", "No reserve: the fleet was overloaded"
    BEHIND = "behind", "No time: the edge was behind"
    MEMORY = "memory", "No room: too much was open"
    UNSENT = "unsent", "No room: too many lines waited to be sent"


#: Every way to differ, the worst for who asks first.
DIFFERING = (
    ShadowCounted.REFUSES,
    ShadowCounted.DEFERS,
    ShadowCounted.SERVES,
    ShadowCounted.ROUTE,
    ShadowCounted.BOUNDS,
    ShadowCounted.REASON,
)
#: What an edge left out.
PASSED_OVER = (
    ShadowCounted.OVERLOAD,
    ShadowCounted.BEHIND,
    ShadowCounted.MEMORY,
    ShadowCounted.UNSENT,
)


class CountedBy(models.TextChoices):
    """What an edge sent of a step to have its requests counted."""

    RECORDS = "records", "Its records"
    ROLLUPS = "rollups", "Its rollups"


class Clock(models.TextChoices):
    """What the stamps of an engine attempt count from."""

    STEADY = "steady", "Since the server's host started"
    UNIX = "unix", "Wall time"


class FigureKind(models.TextChoices):
    """What a figure of an engine does over time."""

    COUNTER = "counter", "Counter"
    GAUGE = "gauge", "Gauge"
    HISTOGRAM = "histogram", "Histogram"
    SUMMARY = "summary", "Summary"


class ServerKind(models.TextChoices):
    TRITON = "triton", "Triton"
    VLLM = "vllm", "vLLM"


class ServerProtocol(models.TextChoices):
    HTTP = "http", "HTTP"
    GRPC = "grpc", "gRPC"


class ServerState(models.TextChoices):
    """How a server is, as its last check found it."""

    UNKNOWN = "unknown", "Not checked yet"
    READY = "ready", "Ready"
    NOT_READY = "not_ready", "Not ready"
    UNREACHABLE = "unreachable", "Unreachable"
    SLOW = "slow", "Slow"
    LYING = "lying", "Says ready and fails"

    @property
    def badge(self) -> str:
        """The class of its badge; the word beside it says the same."""
        if self is ServerState.READY:
            return "badge--pass"
        if self is ServerState.UNKNOWN:
            return "badge--no-data"
        uncertain = (ServerState.SLOW, ServerState.NOT_READY)
        return "badge--inconclusive" if self in uncertain else "badge--fail"

    @property
    def sign(self) -> str:
        return {"badge--pass": "✓", "badge--fail": "✕", "badge--no-data": "–"}.get(self.badge, "≈")


class WarmUp(models.TextChoices):
    """Which models get one inference of zeros before their manifest counts as ready."""

    OFF = "off", "None"
    CHEAP = "cheap", "All but language model backends"
    ALL = "all", "All"


class TrialLoop(models.TextChoices):
    """How a trial made its load."""

    UNKNOWN = "", "Not told"
    OPEN = "open", "Open loop (a rate)"
    CLOSED = "closed", "Closed loop (a concurrency)"


class TraceHolds(models.TextChoices):
    """What a trace of traffic has."""

    ARRIVALS = "arrivals", "Arrivals"
    LENGTHS = "lengths", "Lengths without arrivals"
    RATES = "rates", "Rates by window"
    DISTRIBUTIONS = "distributions", "Lengths by window"


#: What edges send: records, or rollups of them.
EDGE_KINDS = (SourceKind.EDGE, SourceKind.ROLLUP)

#: Kinds that arrive as whole files; an edge's records and OTLP have routes of their own.
FILE_KINDS = (
    SourceKind.TRITON_TRACE,
    SourceKind.CLIENT_LOG,
    SourceKind.STATISTICS,
    SourceKind.METRICS,
    SourceKind.TRIAL,
    SourceKind.ARRIVALS,
)
