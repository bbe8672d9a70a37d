"""What becomes of requests: short answers told apart, floors kept, all work paid, cancels."""

from decimal import Decimal

from orchid.engine.segments import where_key
from releases.selectors.card.answer import Answer, answered, missing
from releases.selectors.card.case import CardCase


def truncation(case: CardCase) -> Answer:
    """Fallback, bounded and truncated are three populations."""
    question = "Is a fallback told from a truncation?"
    links = [*case.judgement(), case.page("Requests", "ingest:requests")]
    seen = case.populations
    if not seen.get("eligible"):
        said = f"{case.unmeasured}, so no population has been seen apart."
        return missing("truncation", question, said, links)
    counts = ", ".join(
        f"{seen.get(name, 0):,} {name.replace('_', ' ')}"
        for name in ("fallback", "bounded", "early_terminated", "truncated")
    )
    said = f"Of {seen['eligible']:,} eligible requests of what is live: {counts}, counted apart."
    return answered("truncation", question, said, links)


def fallbacks(case: CardCase) -> Answer:
    """Every segment that may fall back clears its floor by evidence."""
    question = "Does every fallback segment clear its floor?"
    links = [case.page("Evidence", "gates:evidence"), case.generation("Quality", "quality-head")]
    allowed = [rule for rule in case.document.fallback if not rule.deny]
    if not allowed:
        return answered("fallbacks", question, "Nothing may fall back.", links)
    against = case.told("fallback_below_floor", "fallback_unproven")
    places = ", ".join(where_key(rule.where) or "everything" for rule in allowed)
    return answered("fallbacks", question, f"Allowed in: {places}.", links, against=against)


def cost(case: CardCase) -> Answer:
    """Failed, late, cancelled and retried work stays in the numerator."""
    question = "Are all attempts in the cost?"
    links = [case.page("Economics", "gates:economics"), *case.judgement()]
    if case.measured is None:
        said = f"The whole ledger is divided by successes. {case.unmeasured}."
        return missing("cost", question, said, links)
    spent = case.measured.figures["cost"]
    unpriced = case.populations.get("unpriced", 0)
    against = [f"{unpriced:,} requests have an attempt of unknown price"] if unpriced else []
    usd, outside = (Decimal(spent[name]) for name in ("usd", "attempts_usd"))
    said = (
        f"${usd:,.4f} in {float(spent['seconds']):,.0f} s, idle and failed work included, "
        f"of which ${outside:,.4f} were external attempts; {spent['successes']:,} "
        f"successes of {spent['requests']:,} eligible requests."
    )
    return answered("cost", question, said, links, against=against)


def cancellation(case: CardCase) -> Answer:
    """Whether a cancelled request lets go of what it held."""
    question = "Does cancelling release the work?"
    rails = case.document.gates.guardrails
    bounded = next((rail for rail in rails if "cancel_to_release" in rail.measure), None)
    cancelled = case.populations.get("cancelled", 0)
    declared = {name: model.cancel for name, model in case.document.models.items() if model.cancel}
    links = [case.page("Requests", "ingest:requests"), case.page("Gates now", "gates:now")]
    said = f"{cancelled:,} requests of what is live were cancelled."
    if bounded is not None:
        said += f" A guardrail holds a stage to {bounded.measure.replace('_', ' ')}"
        said += f" ≤ {bounded.max:g}." if bounded.max is not None else "."
    elif not declared:
        said += (
            " Not declared: models.*.cancel, or a bound on cancel_to_release in gates.guardrails."
        )
        return missing("cancellation", question, said, links)
    if declared:
        said += f" Declared for {', '.join(sorted(declared))}."
    return answered("cancellation", question, said, links)


def stops(case: CardCase) -> Answer:
    """What stops the rollout although the devices look well used."""
    document = case.document
    bounds = sum(len(scopes) for scopes in case.trade.get("accepted", {}).values())
    rails = len(document.gates.guardrails)
    said = (
        f"Every gate in the whole and in {len(document.gates.segments)} segments, {rails} "
        f"guardrails and {bounds} signed figures; on a breach it does: {document.rollout.on_breach}"
        ". Utilisation is diagnostic and stops or passes nothing."
    )
    links = [
        case.page("Rollout", "releases:rollout"),
        case.generation("Rollout policy", "rollout-head"),
    ]
    question = "What stops the rollout while utilisation looks good?"
    return answered("stops", question, said, links)
