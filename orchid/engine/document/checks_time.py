"""Findings about time: work, batches and waits that have to end before a deadline."""

from orchid.engine.arithmetic import fixed_batch_use
from orchid.engine.cascade import Work, both_calls
from orchid.engine.document.findings import Subject, Told, names
from orchid.engine.document.values import duration_text, figure, percent
from orchid.engine.routing import Branch, route_for
from orchid.engine.segments import segment_of
from orchid.engine.timing import deadline_ms

#: The part of requests that a p95 gate lets be slower.
SLOW_PART = 0.05


def class_infeasible(subject: Subject) -> Told:
    for name, route in subject.routes.items():
        alone, deadline = subject.alone_ms(name, route), deadline_ms(subject.document, name)
        if alone is not None and alone > deadline:
            yield (
                f"/classes/{name}",
                f"alone on a warm replica it takes {alone:,.1f} ms with the reserve, over its "
                f"deadline of {deadline:,} ms",
            )


def gate_infeasible(subject: Subject) -> Told:
    """No scheduling meets a p95 that too many requests exceed alone."""
    document = subject.document
    bound = document.gates.completion_p95_ms.max
    arrivals = {name: float(c.arrivals_per_s) for name, c in document.classes.items()}
    slow = [
        name
        for name, route in subject.routes.items()
        if (subject.alone_ms(name, route) or 0.0) > bound
    ]
    whole, late = sum(arrivals.values()), sum(arrivals[name] for name in slow)
    if whole and late / whole > SLOW_PART:
        yield (
            "/gates/completion_p95_ms/max",
            f"{names(slow)} take longer than {bound:,} ms alone: {figure(late)} of "
            f"{figure(whole)} requests a second are {percent(late / whole, 1)}, over "
            f"{percent(SLOW_PART)}",
        )


def batch_delay_over_slack(subject: Subject) -> Told:
    """The oldest member of a batch may have waited for it as long as the delay allows."""
    document = subject.document
    for name, route in subject.routes.items():
        settings, alone = document.scheduling.routes.get(route), subject.alone_ms(name, route)
        if settings is None or settings.max_delay_ms is None or alone is None:
            continue
        slack = deadline_ms(document, name) - alone
        if settings.max_delay_ms > slack:
            yield (
                f"/scheduling/routes/{route}/max_delay",
                f"a batch may wait {settings.max_delay_ms:,} ms, {name} has "
                f"{deadline_ms(document, name):,} - {figure(alone)} = {figure(slack)} ms to spare",
            )


def scheduling_mode_misfit(subject: Subject) -> Told:
    """A fixed batch holds every slot until its longest member ends; one token needs no more."""
    document = subject.document
    for route, settings in document.scheduling.routes.items():
        caps = _caps(subject, route)
        if settings.mode != "continuous" and len(set(caps)) > 1:
            used = fixed_batch_use(caps)
            yield (
                f"/scheduling/routes/{route}/mode",
                f"{settings.mode} batches of outputs of {min(caps)} to {max(caps)} tokens use "
                f"{percent(used, 1)} of their slots: continuous suits generation",
            )
        elif settings.mode == "continuous" and set(caps) == {1}:
            yield (
                f"/scheduling/routes/{route}/mode",
                "every output is one token: there is nothing to continue, dynamic suits it",
            )


def _caps(subject: Subject, route: str) -> list[int]:
    """Output lengths that a route is asked for: caps, and the smallest useful bounds."""
    caps = []
    for name, traffic in subject.document.classes.items():
        fallbacks = (to for _, to in subject.fallbacks(name))
        if route == subject.routes[name] or route in fallbacks:
            caps.append(traffic.max_output_tokens)
            if traffic.min_output_tokens is not None:
                caps.append(traffic.min_output_tokens)
    return caps


def batch_never_fills(subject: Subject) -> Told:
    limit = subject.document.admission.concurrency
    most = max(limit.per_replica, limit.ceiling or 0)
    for route, settings in subject.document.scheduling.routes.items():
        if settings.max_batch is not None and settings.max_batch > most:
            yield (
                f"/scheduling/routes/{route}/max_batch",
                f"a batch of {settings.max_batch} never fills: {most} requests may be in flight "
                "on a replica",
            )


def cascade_without_room(subject: Subject) -> Told:
    """Small first leaves time for the large call, or the small call has a limit that does."""
    document, cascade = subject.document, subject.document.routing.cascade
    if cascade is None:
        return
    for name, traffic in document.classes.items():
        tokens = traffic.input_tokens, traffic.max_output_tokens
        dimensions = segment_of(document, name, *tokens, {})
        choice = route_for(document, name, dimensions, scores_answers=True)
        if choice.branch is not Branch.CASCADE:
            continue
        calls = both_calls(document, cascade, Work(*tokens, deadline_ms(document, name)))
        if calls is not None and not calls.fits:
            yield (
                "/routing/cascade",
                f"{name}: {figure(calls.small_ms)} ms for {cascade.small} and then "
                f"{figure(calls.large_ms)} ms for {cascade.large} are over {calls.deadline_ms:,} "
                "ms: name it in always_large, or limit small_timeout",
            )


def deferral_without_room(subject: Subject) -> Told:
    """A deferred run that begins as late as allowed still has to end in time."""
    for name, traffic in subject.document.classes.items():
        wait = traffic.deferral
        if wait is None:
            continue
        alone = subject.alone_ms(name, subject.routes[name]) or 0.0
        latest = max(wait.max_queue_age_ms, wait.after_ms)
        if latest + alone > wait.deadline_ms:
            yield (
                f"/classes/{name}/deferral",
                f"a run after {duration_text(latest)} takes {figure(alone)} ms more, over its "
                f"deadline of {duration_text(wait.deadline_ms)}",
            )
        elif wait.after_ms > wait.max_queue_age_ms:
            yield (
                f"/classes/{name}/deferral/after",
                f"the first try comes after {duration_text(wait.after_ms)}, when the queue age of "
                f"{duration_text(wait.max_queue_age_ms)} is over",
            )


def async_without_deferral(subject: Subject) -> Told:
    for name, traffic in subject.document.classes.items():
        if not traffic.interactive and traffic.deferral is None:
            yield (
                f"/classes/{name}",
                "it may wait, but has no deferral: what can't be served at once is refused",
            )
