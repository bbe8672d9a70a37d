"""The figures that any document gives, where nobody asked for others."""

from collections.abc import Iterator
from typing import Any

from orchid.engine.capacity import trials
from orchid.engine.derivations.asked import Asked
from orchid.engine.derivations.worked import Material
from orchid.engine.memory import live_tokens_per_device


def standard_figures(material: Material) -> list[Asked]:
    """Demand by class, the fleet in every trial, the ledger, memory, and the declared points.

    Classes and models come by name: the order of their keys is no content of a document.
    """
    return [*_demand(material), *_fleet(material), *_memory(material), *_points(material)]


def _demand(material: Material) -> Iterator[Asked]:
    for name in sorted(material.document.classes):
        of: dict[str, Any] = {"class": name}
        yield Asked(f"{name}: TEU a request", "teu_per_request", of, "Demand")
        yield Asked(f"{name}: TEU a second", "teu_per_s", of, "Demand")
        yield Asked(f"{name}: share of requests", "share_of_requests", of, "Demand", 1, True)
        yield Asked(f"{name}: share of TEU", "share_of_teu", of, "Demand", 1, True)
    yield Asked("all requests", "offered_requests_per_s", {}, "Demand")
    yield Asked("all TEU", "offered_teu_per_s", {}, "Demand")


def _fleet(material: Material) -> Iterator[Asked]:
    yield Asked("one device", "device_teu_per_s", {}, "Fleet")
    yield Asked("the fleet", "safe_teu_per_s", {}, "Fleet")
    for trial in trials(material.document):
        of, words = {"trial": trial}, trial.replace("_", " ")
        yield Asked(f"{words}: load", "load_under", of, "Fleet", 1, True)
        yield Asked(f"{words}: deficit", "deficit_under", of, "Fleet")
    yield Asked("devices an hour", "device_usd_per_h", {}, "Money")
    yield Asked("ledger an hour", "hourly_ledger_usd", {}, "Money")


def _memory(material: Material) -> Iterator[Asked]:
    document = material.document
    if document.fleet.residency_gib and document.fleet.device_gib is not None:
        yield Asked("memory ledger closes", "residency_closes", {}, "Memory")
    for name, model in sorted(document.models.items()):
        if live_tokens_per_device(document.fleet, model) is not None:
            of = {"model": name}
            yield Asked(f"{name}: cache a token", "kv_bytes_per_token", of, "Memory")
            yield Asked(f"{name}: live tokens", "live_tokens_per_device", of, "Memory")


def _points(material: Material) -> Iterator[Asked]:
    for name in material.declared.points:
        yield Asked(f"{name}: failed gates", "failed_gates", {"point": name}, "Declared points")
