"""What the unit is worth, what a request holds, and whether it fits: in memory and in time."""

from collections.abc import Sequence

from orchid.engine.calibration.observed import Measure
from orchid.engine.calibration.standing import Standing as Row
from orchid.engine.document.values import decimal_text
from orchid.engine.memory import live_tokens_per_device, residency
from orchid.engine.overlap import overlap
from releases.selectors.card.answer import Answer, answered, missing
from releases.selectors.card.case import CardCase


def unit(case: CardCase) -> Answer:
    """The demand model's version, what it was fitted on, and what is observed of it."""
    demand = case.document.demand
    question = "What calibrates the unit?"
    links = [case.page("Calibration", "gates:calibration")]
    seen = _observed(case, Measure.WORK)
    fitted = demand.fitted
    told = f"Demand model {demand.version}"
    if fitted is not None:
        told += f", fitted on {fitted.attempts:,} attempts on {fitted.hardware}"
    if not seen:
        if fitted is None:
            return missing("unit", question, f"{told}: neither fitted nor observed.", links)
        return answered("unit", question, f"{told}. Nothing was observed of late.", links)
    said = f"{told}; {_count(seen):,} requests of the last days were compared in {len(seen)} cells."
    return answered("unit", question, said, links)


def output(case: CardCase) -> Answer:
    """Predicted output against what came."""
    question = "What output is predicted, and what is observed?"
    links = [case.page("Calibration", "gates:calibration")]
    seen = _observed(case, Measure.OUTPUT)
    caps = {c.max_output_tokens for c in case.document.classes.values()}
    said = f"Classes reserve {min(caps):,} to {max(caps):,} output tokens."
    if not seen:
        return missing("output", question, f"{said} No observed output is on record.", links)
    return answered("output", question, f"{said} {_count(seen):,} outputs were observed.", links)


def live_state(case: CardCase) -> Answer:
    """Live tokens: what a device holds, and what is promised at most."""
    document = case.document
    links = [case.generation("Memory", "memory-head")]
    question = "How much live state does it hold?"
    limit = document.admission.live_tokens
    held = {
        name: tokens
        for name, model in document.models.items()
        if (tokens := live_tokens_per_device(document.fleet, model)) is not None
    }
    against = case.told("live_tokens_over_pool", "class_over_live_tokens")
    said = f"At most {limit.per_device:,} live tokens a device, {limit.per_request:,} a request."
    if not held:
        said += " What a token holds isn’t declared: no model has models.*.kv."
        return missing("live_state", question, said, links)
    pools = ", ".join(f"{name} {tokens:,}" for name, tokens in sorted(held.items()))
    said += f" The pool of a device holds: {pools}."
    return answered("live_state", question, said, links, against=against)


def ledger(case: CardCase) -> Answer:
    """The residency ledger of one device."""
    question = "Does the residency ledger close?"
    links = [case.generation("Memory", "memory-head")]
    found = residency(case.document.fleet)
    if found is None:
        said = "Not declared: fleet.device_gib and the lines of fleet.residency_gib."
        return missing("residency", question, said, links)
    said = (
        f"{len(found.lines)} lines come to {found.used_gib} of {found.device_gib} GiB"
        f" ({'closed exactly' if found.closes else f'{found.remainder_gib} GiB are open'})."
    )
    return answered("residency", question, said, links, against=case.told("residency_open"))


def coexist(case: CardCase) -> Answer:
    """Whether both versions fit on one device, or each has a pool."""
    question = "Can both manifests coexist?"
    links = [
        case.generation("Memory", "memory-head"),
        case.page("Pools and sequences", "releases:reconciliation"),
    ]
    mine, other = case.document.fleet.pool, case.base.fleet.pool if case.base else None
    if case.base is None:
        return answered("coexist", question, "Nothing else is live.", links)
    if mine and mine != other:
        said = f"They needn’t share a device: pool {mine} beside {other or 'the live one'}."
        return answered("coexist", question, said, links)
    found = overlap(case.document, [case.base])
    if found is None:
        said = "They share a pool. Not declared: fleet.residency_gib."
        return missing("coexist", question, said, links)
    if found.unknown:
        names = ", ".join(f"models.{route}.weights_gib" for route in found.unknown)
        return missing("coexist", question, f"They share a pool. Not declared: {names}.", links)
    needed, has = decimal_text(found.needed_gib), decimal_text(found.ledger.device_gib)
    said = f"They share a pool, where a device would hold {needed} of {has} GiB."
    against = [] if found.fits else ["a device can’t hold both versions"]
    return answered("coexist", question, said, links, against=against)


def batching(case: CardCase) -> Answer:
    """Waiting for a batch inside the slack of the deadline."""
    routes = case.document.scheduling.routes
    waits = [f"{n} up to {r.max_delay_ms} ms" for n, r in routes.items() if r.max_delay_ms]
    said = f"Batches wait: {', '.join(waits)}." if waits else "No route waits for a batch to fill."
    against = case.told("batch_delay_over_slack", "class_infeasible", "scheduling_mode_misfit")
    links = [case.generation("Latency", "latency-head")]
    return answered("batching", "Does batching fit the deadline?", said, links, against=against)


def quanta(case: CardCase) -> Answer:
    """The turns of the scheduler."""
    quanta = case.document.scheduling
    said = (
        f"Prefill in chunks of {quanta.prefill_chunk_tokens:,} tokens, at most "
        f"{quanta.max_decode_turns} decode turns in a row, cache blocks of "
        f"{quanta.kv_block_tokens} tokens."
    )
    links = [case.generation("Limits", "limits-head")]
    return answered("quanta", "What are the quanta?", said, links)


def _observed(case: CardCase, measure: Measure) -> Sequence[Row]:
    return case.calibrated.of(measure)


def _count(rows: Sequence[Row]) -> int:
    return sum(row.found.n for row in rows)
