"""Adds up decisions in bounded memory: what differs, where, for whom, with a few examples."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import Decimal
from itertools import chain, islice

from orchid.engine.admission.request import Decision
from orchid.engine.decision_diff.arrivals import Arrival
from orchid.engine.decision_diff.recorded import moment_text
from orchid.engine.decision_diff.result import Answer, Example, Pair, Part, Side, Unread
from orchid.engine.histogram import bucket_of, percentile_ms
from orchid.engine.wire.records import Rejected

OTHER = "other"
EXAMPLES_OF_A_PAIR = 3
EXAMPLES = 60
PAIRS_WITH_EXAMPLES = 200
NAMES_COUNTED = 4096
PARTS_SHOWN = 50
REJECTED_SHOWN = 5
_QUANTILE = 0.95

Change = tuple[Answer, Answer]


class Met:
    """An answer of one document, and how often it came."""

    __slots__ = ("answer", "n")

    def __init__(self, answer: Answer) -> None:
        self.answer, self.n = answer, 0


class Sums:
    """One document's decisions so far."""

    def __init__(self, digest: str) -> None:
        self.digest = digest
        self._met: dict[tuple[str | None, str], Met] = {}
        self._teu = Decimal(0)
        self._completion: Counter[int] = Counter()

    def add(self, decision: Decision) -> Answer:
        """Count the decision, and say what it comes to.

        A route and a reason name an answer: no reason both serves and puts off. Enumerations hash
        in Python, their values don't, which is felt here.
        """
        offer = decision.offer
        if offer is None:
            key: tuple[str | None, str] = (None, decision.reason._value_)
        else:
            key = (offer.route, offer.reason._value_)
            self._teu += offer.teu
            self._completion[bucket_of(offer.completion_ms)] += 1
        met = self._met.get(key)
        if met is None:
            met = self._met[key] = Met(Answer(str(decision.action), key[0] or "", key[1]))
        met.n += 1
        return met.answer

    def side(self) -> Side:
        actions: Counter[str] = Counter()
        reasons: Counter[str] = Counter()
        for met in self._met.values():
            actions[met.answer.action] += met.n
            if met.answer.action == "reject":
                reasons[met.answer.reason] += met.n
        p95 = percentile_ms(self._completion, _QUANTILE)
        if p95 is not None and not math.isfinite(p95):
            p95 = None
        return Side(self.digest, _sorted(actions), _sorted(reasons), self._teu, p95)


class Parts:
    """Counts by name. Names beyond the bound are counted together, under `other`."""

    def __init__(self) -> None:
        self._counts: dict[str, list[int]] = {}

    def of(self, name: str) -> list[int]:
        """The name's requests, changes and changes of action, to be counted up."""
        return self._counts.get(name) or self._new(name)

    def shown(self) -> tuple[Part, ...]:
        """Those with the most changes, and the rest as one; `other` comes last."""
        known = [(name, c) for name, c in self._counts.items() if name != OTHER]
        known.sort(key=lambda item: (-item[1][1], -item[1][0], item[0]))
        rest = [counts for _, counts in known[PARTS_SHOWN:]]
        if OTHER in self._counts:
            rest.append(self._counts[OTHER])
        parts = [Part(name, *counts) for name, counts in known[:PARTS_SHOWN]]
        if rest:
            parts.append(Part(OTHER, *(sum(column) for column in zip(*rest, strict=True))))
        return tuple(parts)

    def _new(self, name: str) -> list[int]:
        name = name if len(self._counts) < NAMES_COUNTED else OTHER
        return self._counts.setdefault(name, [0, 0, 0])


class Tally:
    """What differs, of requests that both documents have decided."""

    def __init__(self) -> None:
        self.n = self.changed = self.changed_action = 0
        self.segments, self.tenants = Parts(), Parts()
        self._pairs: Counter[Change] = Counter()
        self._examples: dict[Change, list[Example]] = {}

    def add(self, arrival: Arrival, one: Answer, other: Answer) -> None:
        segment, tenant = self.segments.of(arrival.segment), self.tenants.of(arrival.request.tenant)
        self.n += 1
        segment[0] += 1
        tenant[0] += 1
        if one == other:
            return
        acted = one.action != other.action
        self.changed += 1
        self.changed_action += acted
        for part in (segment, tenant):
            part[1] += 1
            part[2] += acted
        self._pairs[one, other] += 1
        self._show(arrival, (one, other))

    def pairs(self) -> tuple[Pair, ...]:
        """The most frequent first; equal counts in the order of their names."""
        ordered = sorted(self._pairs.items(), key=lambda item: (-item[1], item[0]))
        return tuple(Pair(before, after, n) for (before, after), n in ordered)

    def examples(self) -> tuple[Example, ...]:
        """Those of the most frequent pairs first."""
        shown = (self._examples.get((pair.before, pair.after), ()) for pair in self.pairs())
        return tuple(islice(chain.from_iterable(shown), EXAMPLES))

    def _show(self, arrival: Arrival, change: Change) -> None:
        examples = self._examples.get(change)
        if examples is None:
            if len(self._examples) >= PAIRS_WITH_EXAMPLES:
                return
            examples = self._examples[change] = []
        if len(examples) < EXAMPLES_OF_A_PAIR:
            examples.append(_example(arrival, change))


def _example(arrival: Arrival, change: Change) -> Example:
    request = arrival.request
    return Example(
        request.request_id,
        moment_text(request.arrived_ms),
        request.class_,
        request.tenant,
        arrival.segment,
        *change,
    )


class Unreadable:
    """Lines that were no records: counted by code, the first of them kept."""

    def __init__(self) -> None:
        self._codes: Counter[str] = Counter()
        self._first: list[Rejected] = []

    def add(self, rejected: Rejected) -> None:
        self._codes[rejected.code] += 1
        if len(self._first) < REJECTED_SHOWN:
            self._first.append(rejected)

    def result(self) -> Unread:
        return Unread(sum(self._codes.values()), _sorted(self._codes), tuple(self._first))


def _sorted(counts: Mapping[str, int]) -> dict[str, int]:
    items: Iterable[tuple[str, int]] = counts.items()
    return dict(sorted(items, key=lambda item: (-item[1], item[0])))
