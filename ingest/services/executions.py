"""One execution of a trace file, in memory between its stamps and its row."""

from collections.abc import Collection, Iterable
from typing import Any

from django.utils import timezone

from ingest.models import EngineAttempt, Source
from ingest.services.attempts import Facts, facts_of
from ingest.states import Clock, EngineSystem
from orchid.formats.triton_epochs import Span, extent
from orchid.formats.triton_phases import Trace

#: What a trace file says nothing of.
_UNSAID: Facts = {
    "clock": Clock.STEADY.value,
    "system": EngineSystem.TRITON.value,
    "first_token_ms": None,
    "input_tokens": None,
    "cached_input_tokens": None,
    "cache_write_tokens": None,
    "output_tokens": None,
    "input_convention": "",
}


class Execution:
    """An execution as all its stamps tell it, and the row that holds it so far.

    `facts` are the row as it shall be, by column, once `settle` has been called.
    """

    def __init__(self, trace: Trace, row: EngineAttempt | None) -> None:
        self.trace, self.row = trace, row
        self.number = trace.id
        self.extent: Span = extent(trace)
        self.key = f"{trace.id}:{self.extent[0]}"
        self.facts: Facts = {}

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
        self.facts = {
            **_UNSAID,
            **facts_of(self.trace, [one.trace for one in called], composite=composite),
            "product_id": source.product_id,
            "source_id": source.pk,
            "key": self.key,
            "parent_key": caller.key if caller else self.row.parent_key if self.row else "",
            "engine_id": self.number,
            "parent_engine_id": self.trace.parent_id,
            "received_at": self.row.received_at if self.row else timezone.now(),
        }
        if self.row is not None:
            self.facts["id"] = self.row.pk

    def call_caller(self, key: str) -> None:
        """Only name who called it; its own family is not at hand."""
        self.facts = {**_facts_of_row(self.row), "parent_key": key}

    @property
    def changed(self) -> bool:
        row = self.row
        return row is None or any(
            # Lists by now, where they have been stored as JSON.
            [*map(tuple, row.stamps)] != [*map(tuple, value)]
            if name == "stamps"
            else getattr(row, name) != value
            for name, value in self.facts.items()
        )


def _facts_of_row(row: EngineAttempt | None) -> dict[str, Any]:
    return {field.attname: getattr(row, field.attname) for field in EngineAttempt._meta.fields}


def rows_by(source: Source, column: str, numbers: Collection[int]) -> Iterable[EngineAttempt]:
    """Rows of a run whose own number, or whose caller's, is one of these."""
    if not numbers:
        return []
    return EngineAttempt.objects.raw(
        f"SELECT * FROM ingest_engineattempt WHERE source_id = %s AND {column} = ANY(%s)"  # noqa: S608
        " ORDER BY id",
        [source.pk, list(numbers)],
    )
