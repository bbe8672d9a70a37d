"""Records by the million as compact codes and floats instead of objects.

Facts are judged once for each distinct combination, by the same `standing_of` as a single record,
and the clocks by the same expressions over whole columns.
"""

from array import array
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from orchid.engine.clocks import Clocks, LatencyBound, clocks_of, has_gaps, in_time, keeps
from orchid.engine.document.model import PolicyDocument
from orchid.engine.outcome import COUNTERS, facts_of
from orchid.engine.priced_by_table import untold_places
from orchid.engine.standing import Facts, Standing, standing_of
from orchid.engine.wire.records import RequestRecord

Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Columns:
    """Records as columns of equal length; `codes` says which of the distinct facts each has.

    `untold` are the distinct sets of places without a price or tokens to work one out by, and
    `untold_codes` say which of them each record has.
    """

    facts: tuple[Facts, ...]
    codes: NDArray[np.int32]
    at: Clocks
    untold: tuple[frozenset[str], ...]
    untold_codes: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.codes)


def from_records(records: Iterable[RequestRecord]) -> Columns:
    """The columns of any number of records, in their order; 48 bytes a record stay."""
    known: dict[Facts, int] = {}
    untold: dict[frozenset[str], int] = {}
    codes, untold_codes = array("i"), array("i")
    columns = [array("d") for _ in Clocks._fields]
    for record in records:
        codes.append(known.setdefault(facts_of(record), len(known)))
        untold_codes.append(untold.setdefault(untold_places(record), len(untold)))
        for column, value in zip(columns, clocks_of(record), strict=True):
            column.append(value)  # type: ignore[arg-type]  # of one record each is a float
    at = Clocks(*(np.array(column, dtype=np.float64) for column in columns))
    whose = np.array(codes, dtype=np.int32), np.array(untold_codes, dtype=np.int32)
    return Columns(tuple(known), whose[0], at, tuple(untold), whose[1])


def populations_of(columns: Columns, document: PolicyDocument) -> dict[str, Mask]:
    """For every counter of `outcome.COUNTERS` which of the records it holds."""
    standings = [standing_of(facts, document) for facts in columns.facts]
    punctual = in_time(columns.at, _deadlines(columns, standings))
    gaps = has_gaps(columns.at)
    found = {name: _spread(columns, [name in one.always for one in standings]) for name in COUNTERS}
    for name in COUNTERS:
        if any(name in one.if_in_time for one in standings):
            found[name] |= punctual & _spread(columns, [name in s.if_in_time for s in standings])
        if any(name in one.if_gaps for one in standings):
            found[name] |= gaps & _spread(columns, [name in one.if_gaps for one in standings])
    priced = document.prices.keys()
    untold = np.array([not priced.isdisjoint(places) for places in columns.untold], dtype=np.bool_)
    if untold.any():
        found["unpriced"] |= untold[columns.untold_codes]
    return found


def counts(
    columns: Columns, document: PolicyDocument, chosen: Mask | None = None
) -> dict[str, int]:
    """How many records each counter holds; of the chosen ones alone where a mask is given."""
    found = populations_of(columns, document)
    masks = found if chosen is None else {name: mask & chosen for name, mask in found.items()}
    return {name: int(np.count_nonzero(mask)) for name, mask in masks.items()}


def latency_ms(columns: Columns, document: PolicyDocument) -> Floats:
    """What `outcome.latency_ms` says of each record, with NaN where latency doesn't count it."""
    standings = [standing_of(facts, document) for facts in columns.facts]
    counted = _spread(columns, [one.latency_counted for one in standings])
    delivered = _spread(columns, [one.delivered for one in standings])
    completion = np.asarray(columns.at.completion_ms)
    read = np.where(delivered & ~np.isnan(completion), completion, np.inf)
    return np.where(counted, read, np.nan)


def within(
    columns: Columns, document: PolicyDocument, bounds: Iterable[LatencyBound]
) -> dict[str, Mask]:
    """For every bound's key which of the records kept it."""
    standings = [standing_of(facts, document) for facts in columns.facts]
    judged = _spread(columns, [one.latency_counted and one.delivered for one in standings])
    return {bound.key: judged & keeps(columns.at, bound) for bound in bounds}


def _deadlines(columns: Columns, standings: list[Standing]) -> Floats:
    of_facts = np.array([one.deadline_ms for one in standings], dtype=np.float64)
    return of_facts[columns.codes]


def _spread(columns: Columns, of_facts: list[bool]) -> Mask:
    """A truth about each distinct combination of facts, for every record that has it."""
    return np.array(of_facts, dtype=np.bool_)[columns.codes]
