"""Work of the classes in token-equivalents, and their part of the whole."""

from orchid.engine.capacity import equal_price_share
from orchid.engine.derivations.worked import Derivation, FigureError, Given, Material, Worked
from orchid.engine.pricing import (
    ClassDemand,
    demand_by_class,
    offered_requests_per_s,
    offered_teu_per_s,
    reserved_output_tokens,
    teu,
)


def _class(material: Material, given: Given) -> tuple[str, ClassDemand]:
    name = given.text("class")
    demand = demand_by_class(material.document).get(name)
    if demand is None:
        raise FigureError(f"the document has no class {name}")
    return name, demand


def _teu_per_request(material: Material, given: Given) -> Worked:
    name, demand = _class(material, given)
    traffic, priced = material.document.classes[name], material.document.demand
    return Worked(
        demand.teu_per_request,
        {
            "route": demand.route,
            "factor": priced.model_factor[demand.route],
            "input_weight": priced.input_weight,
            "input_tokens": traffic.input_tokens,
            "output_tokens": reserved_output_tokens(traffic),
        },
    )


def _teu_per_s(material: Material, given: Given) -> Worked:
    _, demand = _class(material, given)
    inputs = {"teu_per_request": demand.teu_per_request, "arrivals_per_s": demand.requests_per_s}
    return Worked(demand.teu_per_s, inputs)


def _share_of_requests(material: Material, given: Given) -> Worked:
    _, demand = _class(material, given)
    whole = offered_requests_per_s(material.document)
    inputs = {"arrivals_per_s": demand.requests_per_s, "of_all_per_s": whole}
    return Worked(demand.share_of_requests, inputs)


def _share_of_teu(material: Material, given: Given) -> Worked:
    _, demand = _class(material, given)
    whole = offered_teu_per_s(material.document)
    return Worked(demand.share_of_teu, {"teu_per_s": demand.teu_per_s, "of_all_per_s": whole})


def _requests(material: Material, given: Given) -> Worked:
    classes = material.document.classes
    total = offered_requests_per_s(material.document)
    return Worked(total, {name: each.arrivals_per_s for name, each in classes.items()})


def _teu(material: Material, given: Given) -> Worked:
    demands = demand_by_class(material.document)
    total = offered_teu_per_s(material.document)
    return Worked(total, {name: each.teu_per_s for name, each in demands.items()})


def _equal_price(material: Material, given: Given) -> Worked:
    total = offered_requests_per_s(material.document)
    return Worked(equal_price_share(material.document), {"requests_per_s": total})


DERIVATIONS = (
    Derivation(
        "teu_per_request",
        "TEU",
        teu,
        "factor x (input weight x input tokens + output cap)",
        _teu_per_request,
    ),
    Derivation(
        "teu_per_s", "TEU/s", demand_by_class, "TEU a request x arrivals a second", _teu_per_s
    ),
    Derivation(
        "share_of_requests",
        "share",
        demand_by_class,
        "arrivals over all arrivals",
        _share_of_requests,
    ),
    Derivation(
        "share_of_teu", "share", demand_by_class, "TEU a second over all TEU", _share_of_teu
    ),
    Derivation(
        "offered_requests_per_s",
        "requests/s",
        offered_requests_per_s,
        "sum of the classes",
        _requests,
    ),
    Derivation("offered_teu_per_s", "TEU/s", offered_teu_per_s, "sum of the classes", _teu),
    Derivation(
        "equal_price_share", "share", equal_price_share, "1 / requests a second", _equal_price
    ),
)
