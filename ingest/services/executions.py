"""One execution of a trace file, in memory between its stamps and its row."""

from collections.abc import Collection, Iterable

from ingest.models import EngineAttempt, Source
from ingest.services.attempts import attempt_of
from ingest.states import Clock
from orchid.formats.triton_epochs import Span, extent
from orchid.formats.triton_phases import Trace

_SAME_ROW = tuple(
    str(field.attname)
    for field in EngineAttempt._meta.concrete_fields
    if field.name not in ("id", "received_at")
)


class Execution:
    """An execution as all its stamps tell it, and the row that holds it so far.

    `attempt` is the row as it shall be, once `settle` has been called.
    """

    def __init__(self, trace: Trace, row: EngineAttempt | None) -> None:
        self.trace, self.row = trace, row
        self.number = trace.id
        self.extent: Span = extent(trace)
        self.key = f"{trace.id}:{self.extent[0]}"
        self.attempt: EngineAttempt

    @classmethod
    def stored(cls, row: EngineAttempt) -> "Execution":
        events = tuple((name, ns) for name, ns in row.stamps)
        trace = Trace(
            row.engine_id or 0,
            events,
            row.model or None,
            row.version,
            row.attempt_id or None,
            row.parent_engine_id,
        )
        return cls(trace, row)

    def settle(
        self,
        source: Source,
        caller: "Execution | None",
        called: Iterable["Execution"],
        composite: bool,
    ) -> None:
        """Compute the row; a caller that is not at hand stays the one that was stored."""
        stored = self.row.parent_key if self.row else ""
        self.attempt = attempt_of(
            source,
            self.trace,
            key=self.key,
            parent_key=caller.key if caller else stored,
            clock=Clock.STEADY,
            its_children=[one.trace for one in called],
            composite=composite,
        )
        self.attempt.engine_id = self.number
        self.attempt.parent_engine_id = self.trace.parent_id

    @property
    def changed(self) -> bool:
        row, attempt = self.row, self.attempt
        return row is None or any(
            getattr(row, name) != getattr(attempt, name) for name in _SAME_ROW
        )


def rows_by(source: Source, column: str, numbers: Collection[int]) -> Iterable[EngineAttempt]:
    """Rows of a run whose own number, or whose caller's, is one of these."""
    if not numbers:
        return []
    return EngineAttempt.objects.raw(
        f"SELECT * FROM ingest_engineattempt WHERE source_id = %s AND {column} = ANY(%s)"  # noqa: S608
        " ORDER BY id",
        [source.pk, list(numbers)],
    )
