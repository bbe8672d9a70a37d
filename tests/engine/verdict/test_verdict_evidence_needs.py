"""The cells that evidence has to cover."""

from typing import Any

from orchid.engine.document.canonical import manifest_digest
from orchid.engine.document.load import load_document
from orchid.engine.document.model import PolicyDocument
from orchid.engine.verdict.evidence_needs import Need, Seen, Why, needs
from tests.reference_document import changed

STANDARD = {"task": "short_assistant", "tenant_class": "standard"}


def document(**sections: Any) -> PolicyDocument:
    return load_document(changed(**sections)).document


def found(*seen: Seen, live: bool = True) -> dict[tuple[str, str], Need]:
    given = document(fallback=[{"from": "full", "to": "compact", "where": STANDARD}])
    return {(need.route, need.key): need for need in needs(given, seen, live=live)}


KEY = "task=short_assistant|tenant_class=standard"


def test_traffic_is_needed_under_the_manifest_that_served_it() -> None:
    one = found(Seen(STANDARD, "full", "sha256:" + "9" * 64, 40))["full", KEY]
    assert (one.why, one.responses, one.manifest[-1]) == (Why.TRAFFIC, 40, "9")


def test_traffic_of_another_generation_is_needed_under_its_own_manifest() -> None:
    one = found(Seen(STANDARD, "full", "sha256:" + "9" * 64, 40), live=False)["full", KEY]
    assert one.manifest == manifest_digest(document().models["full"])


def test_a_fallback_needs_evidence_before_it_serves() -> None:
    one = found(Seen(STANDARD, "full", "", 40))["compact", KEY]
    assert (one.why, one.responses) == (Why.FALLBACK, 0)


def test_a_prohibited_fallback_needs_none() -> None:
    premium = STANDARD | {"tenant_class": "premium"}
    routes = {route for route, key in found(Seen(premium, "full", "m", 9)) if "premium" in key}
    assert "compact" not in routes


def test_every_class_needs_its_route_although_nobody_came() -> None:
    routes = {need.route for need in needs(document(), (), live=True)}
    assert {traffic.model for traffic in document().classes.values()} <= routes


def test_a_cell_is_named_once_with_all_its_responses() -> None:
    manifest = manifest_digest(document().models["full"])
    listed = needs(document(), [Seen(STANDARD, "full", manifest, n) for n in (3, 4)], live=True)
    mine = [need for need in listed if (need.route, need.key) == ("full", KEY)]
    assert [need.responses for need in mine] == [7]
