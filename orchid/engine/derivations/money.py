"""The hourly ledger, and what a success costs at a steady rate."""

from collections.abc import Callable
from decimal import Decimal

from orchid.engine.derivations.points import point_of
from orchid.engine.derivations.worked import (
    Derivation,
    FigureError,
    Given,
    Material,
    Value,
    Worked,
)
from orchid.engine.economics import (
    Card,
    attainment,
    card,
    card_usd,
    device_usd_per_h,
    hourly_ledger_usd,
    reserve_usd,
    steady_cost_per_success_usd,
    successes_per_h,
)


def over_bound_usd(bound_usd: Decimal, over: Decimal) -> Decimal:
    """What a success costs on a bill that is so much over the approved price."""
    return bound_usd * (1 + over)


def successes_per_s(material: Material, given: Given) -> Decimal:
    """A rate as given, or the one that a declared point states."""
    if not given.has("point"):
        return given.number("successes_per_s")
    point = point_of(material, given)
    if "success_per_s" not in point.figures:
        raise FigureError(f"{point.name} states no success_per_s")
    return point.figures["success_per_s"]


def _devices(material: Material, given: Given) -> Worked:
    fleet = material.document.fleet
    inputs: dict[str, Value] = {
        "devices": fleet.devices,
        "device_usd_per_h": fleet.device_usd_per_h,
    }
    return Worked(device_usd_per_h(material.document), inputs)


def _ledger(material: Material, given: Given) -> Worked:
    document = material.document
    inputs = {
        "devices_usd_per_h": device_usd_per_h(document),
        "overhead_usd_per_h": document.fleet.overhead_usd_per_h,
    }
    return Worked(hourly_ledger_usd(document), inputs)


def _successes_per_h(material: Material, given: Given) -> Worked:
    rate = successes_per_s(material, given)
    return Worked(successes_per_h(rate), {"successes_per_s": rate})


def _of_card(read: Callable[[Card], Value | None]) -> Callable[[Material, Given], Worked]:
    def compute(material: Material, given: Given) -> Worked:
        rate = successes_per_s(material, given)
        found = card(material.document, rate)
        inputs: dict[str, Value] = {
            "ledger_usd_per_h": hourly_ledger_usd(material.document),
            "successes_per_s": rate,
            "bound_usd": material.document.gates.cost_per_success_usd.max,
        }
        return Worked(None if found is None else read(found), inputs)

    return compute


def _over_bound(material: Material, given: Given) -> Worked:
    bound, over = material.document.gates.cost_per_success_usd.max, given.number("over")
    return Worked(over_bound_usd(bound, over), {"bound_usd": bound, "over": over})


DERIVATIONS = (
    Derivation("device_usd_per_h", "$/h", device_usd_per_h, "devices x price of one", _devices),
    Derivation("hourly_ledger_usd", "$/h", hourly_ledger_usd, "devices + overhead", _ledger),
    Derivation(
        "successes_per_h", "successes/h", successes_per_h, "rate x 3,600 s", _successes_per_h
    ),
    Derivation(
        "cost_per_success_usd",
        "$",
        steady_cost_per_success_usd,
        "hourly ledger / successes an hour",
        _of_card(lambda found: found.cost_usd),
    ),
    Derivation(
        "card_usd",
        "$",
        card_usd,
        "cost per success, cut after eight decimals",
        _of_card(lambda found: found.card_usd),
    ),
    Derivation(
        "reserve_usd",
        "$",
        reserve_usd,
        "bound - cost per success",
        _of_card(lambda found: found.reserve_usd),
    ),
    Derivation(
        "card_reserve_usd",
        "$",
        reserve_usd,
        "bound - the card's cost per success",
        _of_card(lambda found: found.card_reserve_usd),
    ),
    Derivation(
        "attainment",
        "share",
        attainment,
        "successes / eligible offered",
        _of_card(lambda found: found.attainment),
    ),
    Derivation(
        "over_bound_usd", "$", over_bound_usd, "approved cost per success x (1 + over)", _over_bound
    ),
)
