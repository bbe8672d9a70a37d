"""What a server's counters hide, shown by what its clients saw of the same models.

Triton counts an error that a model returned as an answer, and a request that it refused at a full
queue nowhere. A client's log tells both, so the two stand side by side with the difference named.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count

from ingest.models import ClientCall
from ingest.selectors.figures import EngineFigures
from orchid.formats.client_log import Failure
from policies.models import Product

WHY = {
    Failure.MODEL_ERROR: "Counted as answered: the server counts an error that the model returned "
    "as a success.",
    Failure.QUEUE_FULL: "Counted nowhere: a request refused at a full queue moves no counter.",
    Failure.QUEUE_TIMEOUT: "Counted as failed (REJECTED).",
    Failure.DEADLINE: "Counted as failed (CANCELED) when it still waited, as answered when it was "
    "already computed.",
    Failure.CANCELLED: "Counted as failed (CANCELED) when it still waited, as answered when it was "
    "already computed.",
}
#: What no counter, trace or span of Triton tells at all.
NEVER_TOLD = (
    ("An error that a model returns", "counted as a success, and traced like one"),
    ("A request refused at a full queue", "counted nowhere; its trace ends after QUEUE_START"),
    ("A priority outside the declared levels", "accepted without a word"),
    ("Priority, timeout and tenant of a request", "in no trace and no span"),
    ("A trace setting that it does not know", "answered with 200 and ignored"),
    ("A request cancelled while it computes", "counted as a success"),
    ("A backend whose process has died", "the model stays READY while every inference fails"),
)


@dataclass(frozen=True)
class Hidden:
    """How many calls of a model its clients saw end so, and what the server made of them."""

    model: str
    failure: str
    calls: int
    why: str

    @property
    def label(self) -> str:
        return self.failure.replace("_", " ")


@dataclass(frozen=True)
class SideBySide:
    """One model: what its clients saw, and what the server counted."""

    model: str
    calls: int
    client_answered: int
    answered: int
    failed: int
    hidden: Sequence[Hidden]

    @property
    def difference(self) -> int:
        """Calls that the server counts as answered and their clients do not, or the other way."""
        return self.answered - self.client_answered


def side_by_side(
    product: Product, figures: Sequence[EngineFigures], since: datetime | None = None
) -> list[SideBySide]:
    """By model, for those that both a client's log and the server's counters tell of.

    A model that the server has never counted for is left out: those calls went to another one.
    """
    calls = ClientCall.objects.filter(product=product)
    if since is not None:
        calls = calls.filter(sent_at__gte=since)
    rows = calls.values_list("model", "failure").annotate(Count("pk"))
    by_model: dict[str, dict[str, int]] = {}
    for model, failure, count in rows:
        by_model.setdefault(model, {})[failure] = count
    counted: dict[str, list[EngineFigures]] = {}
    for one in figures:
        if one.silent:
            continue
        counted.setdefault(one.name, []).append(one)
    return [
        _compared(model, by_model[model], counted[model])
        for model in sorted(by_model.keys() & counted.keys())
    ]


def _compared(model: str, seen: dict[str, int], counted: Sequence[EngineFigures]) -> SideBySide:
    hidden = [
        Hidden(model, Failure(failure).value, count, WHY[Failure(failure)])
        for failure, count in sorted(seen.items())
        if failure != Failure.NONE
    ]
    return SideBySide(
        model=model,
        calls=sum(seen.values()),
        client_answered=seen.get(Failure.NONE, 0),
        answered=sum(one.answered for one in counted),
        failed=sum(one.failed for one in counted),
        hidden=hidden,
    )
