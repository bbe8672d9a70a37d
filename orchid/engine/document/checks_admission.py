"""Findings about limits: concurrency, signals, queue and retries."""

from orchid.engine.capacity import safe_teu_per_s
from orchid.engine.document.findings import Subject, Told, names
from orchid.engine.document.limits import RETRY_MEASURES, Concurrency
from orchid.engine.document.values import duration_text, figure, percent
from orchid.engine.timing import deadline_ms

#: Retries over first tries above which they feed the overload that they answer.
MOST_RETRIES = 0.10


def _adaptive(subject: Subject) -> Concurrency | None:
    limit = subject.document.admission.concurrency
    return limit if limit.mode == "queue_wait_aimd" else None


def adaptive_wrong_signal(subject: Subject) -> Told:
    """Total latency grows with the work itself, so a limit that follows it locks itself."""
    signal = subject.document.admission.concurrency.signal
    if signal != "queue_wait":
        yield (
            "/admission/concurrency/signal",
            f"a limit that follows {signal} sinks under load that waits for nothing: only "
            "queue_wait tells that work waits",
        )


def adaptive_floor_low(subject: Subject) -> Told:
    """An adaptive limit that may sink under the work in flight locks itself there."""
    document, limit = subject.document, _adaptive(subject)
    if limit is None:
        return
    replicas = sum(document.fleet.replicas.values()) or document.fleet.devices
    baseline = sum(subject.in_flight(name) or 0.0 for name in document.classes)
    reach = (limit.floor or 0) * replicas
    if reach < baseline:
        yield (
            "/admission/concurrency/floor",
            f"a floor of {limit.floor or 0} on {replicas} replicas allows {reach} in flight; the "
            f"declared demand alone keeps {baseline:.1f}",
        )


def adaptive_ceiling_low(subject: Subject) -> Told:
    limit = _adaptive(subject)
    if limit is None or limit.floor is None:
        return
    ceiling = limit.ceiling or limit.per_replica
    if ceiling < limit.floor:
        yield (
            "/admission/concurrency/ceiling",
            f"the cap may rise to {ceiling} and fall to {limit.floor}",
        )


def adaptive_ceiling_over_knee(subject: Subject) -> Told:
    limit = _adaptive(subject)
    if limit is not None and limit.ceiling is not None and limit.ceiling > limit.per_replica:
        yield (
            "/admission/concurrency/ceiling",
            f"the cap may rise to {limit.ceiling}, over the measured knee of {limit.per_replica}",
        )


def adaptive_target_over_slack(subject: Subject) -> Told:
    limit = _adaptive(subject)
    if limit is None:
        return
    for name, route in subject.routes.items():
        alone, deadline = subject.alone_ms(name, route), deadline_ms(subject.document, name)
        if alone is not None and limit.target_wait_ms > deadline - alone:
            yield (
                "/admission/concurrency/target_wait",
                f"{limit.target_wait_ms:,} ms of wait is the target, {name} has {deadline:,} - "
                f"{figure(alone)} = {figure(deadline - alone)} ms to spare",
            )


def signals_floor_over_knee(subject: Subject) -> Told:
    signals, limit = subject.document.admission.signals, subject.document.admission.concurrency
    if signals is not None and signals.floor_per_replica > limit.per_replica:
        yield (
            "/admission/signals/floor_per_replica",
            f"a replica without signals may have {signals.floor_per_replica} in flight, one with "
            f"signals {limit.per_replica}",
        )


def queue_under_request(subject: Subject) -> Told:
    document = subject.document
    most = document.admission.max_queued_teu
    for name in document.classes:
        price = subject.teu(name)
        if price > most:
            yield (
                "/admission/max_queued_teu",
                f"{figure(most)} TEU may wait, one {name} is {figure(price)}",
            )


def queue_outlasts_deadline(subject: Subject) -> Told:
    """A full queue has to drain before the last of it is late."""
    document = subject.document
    most, rate = document.admission.max_queued_teu, safe_teu_per_s(document.fleet)
    longest = max(deadline_ms(document, name) for name in document.classes)
    drains_ms = most / rate * 1000
    if drains_ms > longest:
        yield (
            "/admission/max_queued_teu",
            f"{figure(most)} TEU at {figure(rate)} TEU/s take {figure(drains_ms)} ms, longer than "
            f"every deadline (at most {longest:,} ms)",
        )


def age_bound_over_deadline(subject: Subject) -> Told:
    bound, deadline = (
        subject.document.admission.queue.age_bound_ms,
        subject.document.contract.deadline_ms,
    )
    if bound is not None and bound > deadline:
        yield (
            "/admission/queue/age_bound",
            f"an entry goes first after {duration_text(bound)}, when its deadline of {deadline:,} "
            "ms is over",
        )


def retry_budget_high(subject: Subject) -> Told:
    budget = subject.document.admission.retry.budget
    if budget > MOST_RETRIES:
        yield (
            "/admission/retry/budget",
            f"{percent(budget)} of retries on top of an overload, over {percent(MOST_RETRIES)}",
        )


def retry_counted_in_part(subject: Subject) -> Told:
    """One long retry can hold what a hundred short ones do."""
    counted = subject.document.admission.retry.count
    missing = [measure for measure in RETRY_MEASURES if measure not in counted]
    if missing:
        yield (
            "/admission/retry/count",
            f"the budget counts {names(counted)}, so retries are unbounded in {names(missing)}",
        )


def retry_without_jitter(subject: Subject) -> Told:
    first, last = subject.document.admission.retry.after_ms
    if first == last:
        yield (
            "/admission/retry/after_ms",
            f"every client comes back after {first:,} ms, all at once",
        )
