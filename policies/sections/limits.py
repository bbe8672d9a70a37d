"""What holds the fleet together under load: the share tree and the overload ladder."""

from collections.abc import Iterator, Mapping
from decimal import Decimal

from controlplane import figures
from controlplane.web import Column, Table
from orchid.engine.capacity import safe_teu_per_s
from orchid.engine.document.limits import ShareNode
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.overload import OverloadStep, Thresholds

#: Spaces at which no line breaks.
INDENT = "\u00a0" * 4
DOES = {
    "stop_shadow": "stops shadow, profiling and optional evaluation",
    "defer_async": "defers work that need not be answered at once",
    "cap_optional_output": "caps outputs that may be shorter",
    "compact_fallback": "serves eligible segments by the warm compact route first",
    "reject_infeasible": "refuses whoever would have to wait",
}


def shares_table(document: PolicyDocument) -> Table | None:
    """The tree from the root, each level in its parent's fractions and in TEU a second."""
    if not document.admission.shares:
        return None
    rate = safe_teu_per_s(document.fleet)
    numbers = ("Guaranteed", "Up to", "Guaranteed TEU/s", "Up to TEU/s")
    return Table(
        "Shares of the safe rate",
        [Column("Level"), *(Column(label, numeric=True) for label in numbers)],
        list(_levels(document.admission.shares, rate, rate, "")),
    )


def _levels(
    nodes: Mapping[str, ShareNode], guaranteed: Decimal, ceiling: Decimal, indent: str
) -> Iterator[tuple[str, ...]]:
    for name, node in nodes.items():
        own = guaranteed * Decimal(str(node.guaranteed)), ceiling * Decimal(str(node.ceiling))
        yield (
            f"{indent}{name}",
            figures.percent(Decimal(str(node.guaranteed)), 0, Decimal()),
            figures.percent(Decimal(str(node.ceiling)), 0, Decimal()),
            *(figures.shortest(teu_per_s) for teu_per_s in own),
        )
        yield from _levels(node.children, *own, f"{indent}{INDENT}")


def ladder_table(document: PolicyDocument) -> Table | None:
    """The rungs in order, with what begins and what ends each."""
    if not document.overload:
        return None
    columns = ("Rung", "What it does", "Begins at any of", "Ends below all of", "Lasts at least")
    return Table(
        "Overload ladder",
        [Column(label) for label in columns],
        [_rung(number, step) for number, step in enumerate(document.overload_steps, 1)],
    )


def _rung(number: int, step: OverloadStep) -> tuple[str, ...]:
    return (
        f"{number} {step.rung.replace('_', ' ')}",
        DOES[step.rung],
        _thresholds(step.enter),
        _thresholds(step.leave),
        f"{step.dwell_ms:,} ms, steady for {step.steady_for_ms:,} ms",
    )


def _thresholds(found: Thresholds | None) -> str:
    if found is None:
        return "its default"
    parts = []
    if found.queue_wait_ms is not None:
        parts.append(f"{found.queue_wait_ms:,} ms queue wait")
    for part, of in ((found.queued, "the queue"), (found.live_tokens, "live tokens")):
        if part is not None:
            parts.append(f"{figures.share(part, 0)} of {of}")
    return ", ".join(parts)
