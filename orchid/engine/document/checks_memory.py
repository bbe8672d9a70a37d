"""Findings about memory: sums that have to close, and work that does not fit."""

from collections import Counter
from decimal import Decimal

from orchid.engine import memory
from orchid.engine.document.findings import Subject, Told, names
from orchid.engine.document.values import decimal_text, figure


def residency_open(subject: Subject) -> Told:
    ledger = memory.residency(subject.document.fleet)
    if ledger is None or ledger.closes:
        return
    lines = " + ".join(f"{name} {decimal_text(gib)}" for name, gib in ledger.lines.items())
    yield (
        "/fleet/residency_gib",
        f"{lines} = {decimal_text(ledger.used_gib)} GiB, but the device has "
        f"{decimal_text(ledger.device_gib)} GiB: {decimal_text(ledger.remainder_gib)} GiB remain",
    )


def versions_cannot_coexist(subject: Subject) -> Told:
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
            yield (
                f"/models/{name}/weights",
                f"{decimal_text(ledger.used_gib)} GiB in use + {decimal_text(weights)} GiB for a "
                f"second version = {decimal_text(ledger.with_second(weights))} GiB, over the "
                f"device's {decimal_text(ledger.device_gib)} GiB: name a pool of its own",
            )


def live_tokens_over_pool(subject: Subject) -> Told:
    document = subject.document
    declared = document.admission.live_tokens.per_device
    limits = (memory.live_tokens_per_device(document.fleet, m) for m in document.models.values())
    least = min((limit for limit in limits if limit is not None), default=None)
    if least is not None and declared > least:
        yield (
            "/admission/live_tokens/per_device",
            f"{declared:,} live tokens are declared, the KV pool holds {least:,} usable ones",
        )


def weights_over_ledger(subject: Subject) -> Told:
    """The ledger's line has to hold the largest model that a device may serve."""
    line = subject.document.fleet.residency_gib.get(memory.WEIGHTS_LINE)
    if line is None:
        return
    for name, model in subject.document.models.items():
        if model.weights_gib is not None and model.weights_gib > line:
            yield (
                f"/models/{name}/weights_gib",
                f"{decimal_text(model.weights_gib)} GiB of weights, the residency ledger keeps "
                f"{decimal_text(line)} GiB for them",
            )


def residents_over_device(subject: Subject) -> Told:
    """More replicas than devices share a device, as many models as it may hold and as fit."""
    fleet = subject.document.fleet
    replicas = sum(fleet.replicas.values())
    if fleet.max_resident_models and replicas > fleet.devices * fleet.max_resident_models:
        yield (
            "/fleet/replicas",
            f"{replicas} replicas on {fleet.devices} devices of at most "
            f"{fleet.max_resident_models} models each",
        )
        return
    line = fleet.residency_gib.get(memory.WEIGHTS_LINE)
    least = sorted(_weights(subject))[:2]
    if line is not None and replicas > fleet.devices and len(least) > 1 and sum(least) > line:
        yield (
            "/fleet/replicas",
            f"{replicas} replicas on {fleet.devices} devices put two models on one, and the two "
            f"smallest are {' + '.join(map(decimal_text, least))} GiB, over its "
            f"{decimal_text(line)} GiB for weights",
        )


def _weights(subject: Subject) -> list[Decimal]:
    models = subject.document.models
    sizes = (models[route].weights_gib for route in subject.document.fleet.replicas)
    return [size for size in sizes if size is not None]


def adapters_over_device(subject: Subject) -> Told:
    """Adapters of one base model are served by the same devices."""
    most = subject.document.fleet.max_adapters
    if most is None:
        return
    of_base = Counter(model.weights for model in subject.document.models.values() if model.adapter)
    for weights, count in of_base.items():
        if count > most:
            adapted = [n for n, m in subject.document.models.items() if m.weights == weights]
            yield (
                "/fleet/max_adapters",
                f"{names(adapted)} are {count} adapters of one base model, a device may hold "
                f"{most}: they would be swapped",
            )


def class_over_context(subject: Subject) -> Told:
    for name, route in subject.routes.items():
        window, tokens = subject.document.models[route].context_tokens, subject.live_tokens(name)
        if window is not None and tokens > window:
            yield f"/classes/{name}", _over_window(subject, name, route, window)


def fallback_over_context(subject: Subject) -> Told:
    """A class keeps its fallback only as far as the other window reaches."""
    for name in subject.document.classes:
        for i, route in subject.fallbacks(name):
            window = subject.document.models[route].context_tokens
            if window is not None and subject.live_tokens(name) > window:
                yield f"/fallback/{i}", _over_window(subject, name, route, window)


def _over_window(subject: Subject, cls: str, route: str, window: int) -> str:
    traffic = subject.document.classes[cls]
    return (
        f"{cls} needs {traffic.input_tokens:,} + {traffic.max_output_tokens:,} = "
        f"{subject.live_tokens(cls):,} tokens, the context window of {route} is {window:,}"
    )


def class_over_live_tokens(subject: Subject) -> Told:
    """A prompt whose price fits the queue but whose cache never fits is refused for memory."""
    document = subject.document
    ceiling = document.admission.live_tokens.per_request
    for name in document.classes:
        tokens = subject.live_tokens(name)
        if tokens > ceiling:
            yield (
                f"/classes/{name}",
                f"its {figure(subject.teu(name))} TEU fit the queue, its {tokens:,} live tokens "
                f"are over the {ceiling:,} of one request: every one would be refused for memory",
            )


def live_tokens_out_of_order(subject: Subject) -> Told:
    ceilings = subject.document.admission.live_tokens
    for key in ("per_tenant", "per_device"):
        if ceilings.per_request > getattr(ceilings, key):
            yield (
                "/admission/live_tokens/per_request",
                f"one request may hold {ceilings.per_request:,} live tokens, {key} only "
                f"{getattr(ceilings, key):,}",
            )


def route_ceiling_under_request(subject: Subject) -> Told:
    for name, route in subject.routes.items():
        ceiling = subject.document.admission.live_tokens.per_route.get(route)
        if ceiling is not None and subject.live_tokens(name) > ceiling:
            yield (
                f"/admission/live_tokens/per_route/{route}",
                f"{ceiling:,} live tokens for the route, one {name} holds "
                f"{subject.live_tokens(name):,}",
            )


def route_ceiling_over_pool(subject: Subject) -> Told:
    document = subject.document
    per_device = document.admission.live_tokens.per_device
    for route, ceiling in document.admission.live_tokens.per_route.items():
        replicas = document.fleet.replicas.get(route)
        if replicas is not None and ceiling > replicas * per_device:
            yield (
                f"/admission/live_tokens/per_route/{route}",
                f"{ceiling:,} live tokens, its {replicas} replicas hold {replicas} x "
                f"{per_device:,} = {replicas * per_device:,}: the ceiling never acts",
            )


def route_ceiling_under_baseline(subject: Subject) -> Told:
    """Tokens held by the declared demand alone: requests in service times tokens of each."""
    for route, ceiling in subject.document.admission.live_tokens.per_route.items():
        held = sum(
            (subject.in_flight(name) or 0.0) * subject.live_tokens(name)
            for name, asked in subject.routes.items()
            if asked == route
        )
        if held > ceiling:
            yield (
                f"/admission/live_tokens/per_route/{route}",
                f"{ceiling:,} live tokens, the declared demand alone holds {held:,.0f}",
            )


def sequences_under_baseline(subject: Subject) -> Told:
    for route, model in subject.document.models.items():
        running = sum(
            subject.in_flight(name) or 0.0
            for name, asked in subject.routes.items()
            if asked == route
        )
        if model.max_sequences is not None and running > model.max_sequences:
            yield (
                f"/models/{route}/max_sequences",
                f"{model.max_sequences:,} sequences at once, the declared demand alone keeps "
                f"{figure(running)} in service",
            )
