"""What the fleet carries, in the trials that every proposal is read against and in scenarios."""

from collections.abc import Callable

from orchid.engine.capacity import ClassChange, Load, examine, safe_teu_per_s, trials
from orchid.engine.derivations.worked import (
    Derivation,
    FigureError,
    Given,
    Material,
    Value,
    Worked,
)
from orchid.engine.headroom import device_teu_per_s
from orchid.engine.scenario import ScenarioError, parse_scenario


def _device(material: Material, given: Given) -> Worked:
    fleet = material.document.fleet
    inputs = {"raw_teu_per_s": fleet.raw_teu_per_s, "safe_factor": fleet.safe_factor}
    return Worked(device_teu_per_s(fleet), inputs)


def _fleet(material: Material, given: Given) -> Worked:
    fleet = material.document.fleet
    inputs: dict[str, Value] = {
        "devices": fleet.devices,
        "teu_per_s_a_device": device_teu_per_s(fleet),
    }
    return Worked(safe_teu_per_s(fleet), inputs)


Reading = Callable[[Load], Value | None]


def _load(material: Material, given: Given) -> tuple[str, Load]:
    """A named trial, or a scenario in its own words."""
    if given.has("scenario"):
        words = given.text("scenario")
        try:
            return words, examine(material.document, parse_scenario(words, material.document)).load
        except ScenarioError as error:
            raise FigureError(str(error)) from error
    name, known = given.text("trial"), trials(material.document)
    if name not in known:
        raise FigureError(f"the trials are {', '.join(known)}, not {name}")
    return name, known[name]


def _of_load(read: Reading) -> Callable[[Material, Given], Worked]:
    def compute(material: Material, given: Given) -> Worked:
        words, load = _load(material, given)
        return Worked(
            read(load),
            {
                "under": words,
                "demand_teu_per_s": load.demand_teu_per_s,
                "capacity_teu_per_s": load.capacity_teu_per_s,
            },
        )

    return compute


def _of_class(
    read: Callable[[ClassChange], Value],
) -> Callable[[Material, Given], Worked]:
    def compute(material: Material, given: Given) -> Worked:
        words, name = given.text("scenario"), given.text("class")
        try:
            found = examine(material.document, parse_scenario(words, material.document))
        except ScenarioError as error:
            raise FigureError(str(error)) from error
        if name not in found.classes:
            raise FigureError(f"the document has no class {name}")
        change = found.classes[name]
        return Worked(read(change), {"under": words, "before": change.teu_per_s_before})

    return compute


DERIVATIONS = (
    Derivation("device_teu_per_s", "TEU/s", device_teu_per_s, "raw rate x safe factor", _device),
    Derivation(
        "safe_teu_per_s", "TEU/s", safe_teu_per_s, "devices x safe rate of a device", _fleet
    ),
    Derivation(
        "demand_under",
        "TEU/s",
        examine,
        "sum of the classes, each by its own rise",
        _of_load(lambda load: load.demand_teu_per_s),
    ),
    Derivation(
        "capacity_under",
        "TEU/s",
        examine,
        "devices that are left x safe rate",
        _of_load(lambda load: load.capacity_teu_per_s),
    ),
    Derivation(
        "load_under",
        "share",
        trials,
        "demand over capacity",
        _of_load(lambda load: load.load_share),
    ),
    Derivation(
        "headroom_under",
        "share",
        trials,
        "1 - demand over capacity",
        _of_load(lambda load: load.headroom),
    ),
    Derivation(
        "deficit_under",
        "TEU/s",
        trials,
        "demand - capacity, not below 0",
        _of_load(lambda load: load.deficit_teu_per_s),
    ),
    Derivation(
        "fits_under", "", trials, "demand within capacity", _of_load(lambda load: load.fits)
    ),
    Derivation(
        "class_under",
        "TEU/s",
        examine,
        "TEU a request x arrivals in the scenario",
        _of_class(lambda change: change.teu_per_s),
    ),
    Derivation(
        "class_added_under",
        "TEU/s",
        examine,
        "after - before",
        _of_class(lambda change: change.added_teu_per_s),
    ),
)
