"""What counts as a success, which clocks judge it, and in which segments."""

from orchid.engine.clocks import latency_gates
from releases.selectors.card.answer import Answer, answered, missing
from releases.selectors.card.case import CardCase

_CLOCKS = {
    "completion": "complete valid response",
    "first_token": "first token",
    "inter_token": "gap between tokens",
}


def success(case: CardCase) -> Answer:
    """Of the contract: denominator, deadline, what below a full answer is accepted."""
    contract = case.document.contract
    accepts = ", ".join(rung.replace("_", " ") for rung in contract.accepts)
    said = (
        f"An eligible offered request with a complete, policy- and schema-valid answer within "
        f"{contract.deadline_ms:,} ms, in a segment that evidence covers."
        + (f" Beside a full answer it accepts {accepts}." if accepts else "")
    )
    links = [case.generation("Contract and gates", "gates-head")]
    return answered("success", "What is a success?", said, links)


def clocks(case: CardCase) -> Answer:
    """Each latency gate has a clock of its own, from authenticated arrival."""
    gates = latency_gates(case.document)
    bounds = ", ".join(
        f"{name.removesuffix('_p95_ms').replace('_', ' ')} p95 ≤ {gate.max:,} ms"
        for name, gate in gates.items()
    )
    clock = _CLOCKS[case.document.contract.clock]
    said = f"The deadline runs to the {clock}. Gated: {bounds}. Clocks are never merged."
    links = [case.page("Gates now", "gates:now")]
    return answered("clocks", "Which clocks judge it?", said, links)


def segments(case: CardCase) -> Answer:
    """Gated segments, and those among them without a figure."""
    gated = case.document.gates.segments
    question = "Which segments are judged by themselves?"
    links = [case.page("Evidence by segment", "gates:evidence")]
    if not gated:
        said = "Only the whole is judged. Not declared: gates.segments."
        return missing("segments", question, said, links)
    names = ", ".join(segment.name for segment in gated)
    unknown = [row["name"] for row in case.trade.get("segments", []) if row["after"] is None]
    against = [f"nothing is known of {name}" for name in unknown]
    said = f"{len(gated)}: {names}; {len(case.document.segments.floors)} floors are set."
    return answered("segments", question, said, links, against=against)
