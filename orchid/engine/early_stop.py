"""Which calibrated stop may end an answer early: one that is declared, accepted and evidenced."""

from collections.abc import Mapping

from orchid.engine.document.model import PolicyDocument
from orchid.engine.segments import matches


def early_stop_of(
    document: PolicyDocument, route: str, dimensions: Mapping[str, str]
) -> str | None:
    """Version of the stop that the contract accepts and whose evidence covers this segment."""
    model = document.models.get(route)
    stop = model.early_stop if model else None
    if stop is None or "early_terminated" not in document.contract.accepts:
        return None
    return stop.version if matches(stop.where, dimensions) else None
