"""Findings about memory, capacity and time: sums that have to close."""

from collections.abc import Iterator
from decimal import Decimal

from orchid.engine import memory
from orchid.engine.capacity import Load, group_loss, spike, steady
from orchid.engine.document.findings import Finding, Findings, Subject
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.values import decimal_text
from orchid.engine.pricing import teu
from orchid.engine.segments import implies, may_overlap
from orchid.engine.timing import alone_ms, deadline_ms

#: The trial that every proposal is read against.
SPIKE_FACTOR = Decimal("1.4")


def residency_closes(subject: Subject) -> Findings:
    ledger = memory.residency(subject.document.fleet)
    if ledger is None or ledger.closes:
        return
    lines = " + ".join(f"{name} {decimal_text(gib)}" for name, gib in ledger.lines.items())
    yield Finding(
        "residency_open",
        "error",
        "/fleet/residency_gib",
        f"{lines} = {decimal_text(ledger.used_gib)} GiB, but the device has "
        f"{decimal_text(ledger.device_gib)} GiB: {decimal_text(ledger.remainder_gib)} GiB remain",
    )


def versions_coexist(subject: Subject) -> Findings:
    """Another version in the pool that serves now has to fit beside the one that serves."""
    document, base = subject.document, subject.base
    ledger = memory.residency(document.fleet)
    if base is None or ledger is None or document.fleet.pool != base.fleet.pool:
        return
    for name, model in document.models.items():
        current = base.models.get(name)
        changed = current is not None and current.weights != model.weights
        weights = model.weights_gib
        if changed and weights is not None and not memory.can_coexist(ledger, weights):
            yield Finding(
                "versions_cannot_coexist",
                "error",
                f"/models/{name}/weights",
                f"{decimal_text(ledger.used_gib)} GiB in use + {decimal_text(weights)} GiB for a "
                f"second version = {decimal_text(ledger.with_second(weights))} GiB, over the "
                f"device's {decimal_text(ledger.device_gib)} GiB: name a pool of its own",
            )


def live_tokens_fit(subject: Subject) -> Findings:
    document = subject.document
    declared = document.admission.live_tokens.per_device
    limits = (memory.live_tokens_per_device(document.fleet, m) for m in document.models.values())
    least = min((limit for limit in limits if limit is not None), default=None)
    if least is not None and declared > least:
        yield Finding(
            "live_tokens_over_pool",
            "error",
            "/admission/live_tokens/per_device",
            f"{declared:,} live tokens are declared, the KV pool holds {least:,} usable ones",
        )


def demand_fits(subject: Subject) -> Findings:
    document = subject.document
    scenarios = (
        ("steady", "steady demand", steady(document)),
        ("spike", f"a {SPIKE_FACTOR}x spike", spike(document, SPIKE_FACTOR)),
        ("group_loss", "loss of one device group", group_loss(document)),
    )
    for code, words, load in scenarios:
        if not load.fits:
            text = _over(words, load) + _relief(document, load)
            yield Finding(f"demand_over_fleet_{code}", "warning", "/fleet", text)


def _over(words: str, load: Load) -> str:
    return (
        f"{words}: {_figure(load.demand_teu_per_s)} TEU/s over {_figure(load.capacity_teu_per_s)} "
        f"safe, deficit {_figure(load.deficit_teu_per_s)} TEU/s"
    )


def _relief(document: PolicyDocument, load: Load) -> str:
    least = sum((_least_teu_per_s(document, name) for name in document.classes), Decimal())
    full = steady(document).demand_teu_per_s
    if least == full or not full:
        return "; no class may fall back"
    lowest = load.demand_teu_per_s * least / full
    return f"; {_figure(lowest)} TEU/s if all that may fall back does"


def _least_teu_per_s(document: PolicyDocument, cls: str) -> Decimal:
    """The class's demand on the cheapest route that some of its requests may be served by."""
    c = document.classes[cls]
    dimensions = dict(c.dimensions)
    routes = {c.model}
    if not any(rule.deny and implies(dimensions, rule.where) for rule in document.fallback):
        routes |= {
            rule.to
            for rule in document.fallback
            if rule.to and rule.from_ == c.model and may_overlap(rule.where, dimensions)
        }
    priced = [
        teu(document.demand, route, c.input_tokens, c.max_output_tokens)
        for route in routes
        if route in document.demand.model_factor
    ]
    return min(priced, default=Decimal()) * c.arrivals_per_s


def _figure(value: Decimal) -> str:
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def classes_feasible(subject: Subject) -> Findings:
    document = subject.document
    for name in document.classes:
        alone, deadline = alone_ms(document, name), deadline_ms(document, name)
        if alone is not None and alone > deadline:
            yield Finding(
                "class_infeasible",
                "error",
                f"/classes/{name}",
                f"alone on a warm replica it takes {alone:,.1f} ms with the reserve, over its "
                f"deadline of {deadline:,} ms",
            )


def models_priced(subject: Subject) -> Findings:
    document = subject.document
    for name in document.models:
        if name not in document.demand.model_factor:
            yield Finding(
                "model_without_factor",
                "error",
                f"/models/{name}",
                f"demand {document.demand.version} has no factor for it, so its work has no price",
            )


def routes_warm(subject: Subject) -> Findings:
    """A route that may be taken has to be resident: nothing is loaded in an emergency."""
    replicas = subject.document.fleet.replicas
    if not replicas:
        return
    for pointer, route in _served_routes(subject.document):
        if route not in replicas:
            yield Finding(
                "route_cold", "error", pointer, f"the fleet declares no replica of {route}"
            )


def _served_routes(document: PolicyDocument) -> Iterator[tuple[str, str]]:
    for name, traffic in document.classes.items():
        yield f"/classes/{name}/model", traffic.model
    for i, rule in enumerate(document.fallback):
        if rule.to is not None:
            yield f"/fallback/{i}/to", rule.to
    if document.admission.conservative_route is not None:
        yield "/admission/conservative_route", document.admission.conservative_route


def adaptive_floor(subject: Subject) -> Findings:
    """An adaptive limit that may sink under the work in flight locks itself there."""
    document = subject.document
    limit = document.admission.concurrency
    if limit.mode != "queue_wait_aimd":
        return
    replicas = sum(document.fleet.replicas.values()) or document.fleet.devices
    baseline = sum(_in_flight(document, name) for name in document.classes)
    reach = (limit.floor or 0) * replicas
    if reach < baseline:
        yield Finding(
            "adaptive_floor_low",
            "error",
            "/admission/concurrency/floor",
            f"a floor of {limit.floor or 0} on {replicas} replicas allows {reach} in flight; the "
            f"declared demand alone keeps {baseline:.1f}",
        )


def _in_flight(document: PolicyDocument, cls: str) -> float:
    """Little's law: arrivals times time in service."""
    alone = alone_ms(document, cls) or 0.0
    return float(document.classes[cls].arrivals_per_s) * alone / 1000.0
