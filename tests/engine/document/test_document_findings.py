"""Contradictions of a well-formed document, each by its name."""

from collections.abc import Sequence
from typing import Any

import pytest

from orchid.engine.document.consistency import Finding, RouteUtility, find
from orchid.engine.document.load import LoadedDocument, load_document
from tests.reference_document import changed

WARNED = {"demand_over_fleet_spike", "demand_over_fleet_group_loss"}


def found(given: dict[str, Any], evidence: Sequence[RouteUtility] = ()) -> dict[str, Finding]:
    return {
        finding.code: finding for finding in find(load_document(given).document, evidence=evidence)
    }


def put(path: str, value: Any) -> dict[str, Any]:
    """The reference document with one value replaced, or removed where it is None."""
    given = changed()
    *parents, last = path.split(".")
    place: Any = given
    for part in parents:
        place = place[int(part) if part.isdigit() else part]
    if value is None:
        del place[last]
    else:
        place[int(last) if last.isdigit() else last] = value
    return given


def test_the_shipped_documents_contradict_themselves_nowhere(
    loaded_reference: LoadedDocument, demo: tuple[LoadedDocument, LoadedDocument]
) -> None:
    for loaded in (loaded_reference, *demo):
        assert [f for f in find(loaded.document) if f.severity == "error"] == []


def test_the_reference_is_warned_of_spike_and_group_loss_with_the_arithmetic() -> None:
    findings = found(changed())
    assert set(findings) == WARNED
    text = findings["demand_over_fleet_group_loss"].text
    assert "84,030 TEU/s over 84,000 safe, deficit 30 TEU/s" in text
    assert "117,642" in findings["demand_over_fleet_spike"].text


@pytest.mark.parametrize(
    ("path", "value", "code", "pointer"),
    [
        ("fleet.residency_gib.safety", "5.01", "residency_open", "/fleet/residency_gib"),
        ("fleet.kv_usable_factor", "0.8499", "live_tokens_over_pool", "/admission/live_tokens"),
        ("fleet.replicas", {"full": 28}, "route_cold", "/"),
        ("fleet.devices", 24, "demand_over_fleet_steady", "/fleet"),
        ("demand.model_factor.premium", None, "model_without_factor", "/models/premium"),
        ("classes.long_assistant.deadline_ms", 1239, "class_infeasible", "/classes/long_assistant"),
        ("admission.shares.control.guaranteed", 0.03, "shares_over_parent", "/admission/shares"),
        ("admission.shares.control.ceiling", 0.01, "share_over_ceiling", "/admission/shares"),
        (
            "admission.concurrency",
            {"mode": "queue_wait_aimd", "per_replica": 24, "floor": 1},
            "adaptive_floor_low",
            "/admission/concurrency/floor",
        ),
        (
            "segments.floors.0",
            {"where": {"language": "en"}, "min_utility": 0.9},
            "ambiguous_floors",
            "/segments/floors/1",
        ),
        ("gates.utility.min", 1.0, "floor_unreachable", "/gates/utility/min"),
        ("fallback.1", {"deny": True, "where": {}}, "fallback_never", "/fallback/0"),
        (
            "fallback.1",
            {"from": "compact", "to": "full", "where": {}},
            "fallback_ring",
            "/fallback/1",
        ),
        ("gates.alpha_pass", 0.1, "confidence_disagrees", "/gates/completion_p95_ms/confidence"),
        ("budgets.0.window", "1h", "budget_long_window_only", "/budgets"),
        ("rollout.stages.3", {"canary": 0.01}, "stage_without_hold", "/rollout/stages/3"),
        ("rollout.stages.4", {"canary": 0.005, "hold": "1h"}, "stage_shrinks", "/rollout/stages/4"),
        ("rollout.stages", [{"canary": 0.5, "hold": "1h"}], "rollout_incomplete", "/rollout"),
        ("approvals.quality", [], "approvals_of_zero", "/approvals/quality"),
        (
            "examples.0.expect",
            {"action": "reject", "reason": "concurrency"},
            "example_differs",
            "/examples/0",
        ),
    ],
)
def test_a_contradiction_is_named(path: str, value: Any, code: str, pointer: str) -> None:
    findings = found(put(path, value))
    assert code in findings
    assert findings[code].pointer.startswith(pointer)


def test_an_open_ledger_says_what_remains() -> None:
    text = found(put("fleet.residency_gib.safety", "4.5"))["residency_open"].text
    assert "= 79.5 GiB, but the device has 80 GiB: 0.5 GiB remain" in text


def test_a_floor_at_the_work_in_flight_is_no_lock() -> None:
    limit = {"mode": "queue_wait_aimd", "per_replica": 24, "floor": 3}
    assert set(found(put("admission.concurrency", limit))) == WARNED


def test_a_floor_for_both_settles_a_tie() -> None:
    given = put("segments.floors.0", {"where": {"language": "en"}, "min_utility": 0.9})
    both = {"where": {"language": "en", "risk": ["regulated", "high"]}, "min_utility": 0.93}
    given["segments"]["floors"].append(both)
    assert "ambiguous_floors" not in found(given)


def test_another_version_in_the_serving_pool_is_refused() -> None:
    base = load_document(changed()).document
    given = put("models.full.weights", "sha256:other")
    candidate = load_document(given).document
    (finding,) = [f for f in find(candidate, base=base) if f.severity == "error"]
    assert finding.code == "versions_cannot_coexist"
    assert "= 106.08 GiB, over the device's 80 GiB" in finding.text
    given["fleet"]["pool"] = "canary"
    assert all(f.severity == "warning" for f in find(load_document(given).document, base=base))


def test_fallback_into_a_route_under_the_floor_is_refused() -> None:
    where = {"task": "short_assistant", "tenant_class": "standard"}
    below, above = (RouteUtility("compact", where, value) for value in (0.894, 0.895))
    assert found(changed(), [below])["fallback_below_floor"].pointer == "/fallback/0"
    assert set(found(changed(), [above])) == WARNED


def test_evidence_where_fallback_is_denied_does_not_count() -> None:
    regulated = RouteUtility("compact", {"task": "short_assistant", "risk": "regulated"}, 0.5)
    elsewhere = RouteUtility("compact", {"task": "classification"}, 0.5)
    assert set(found(changed(), [regulated, elsewhere])) == WARNED


def test_errors_come_first() -> None:
    severities = [f.severity for f in find(load_document(put("approvals.cost", [])).document)]
    assert severities == ["error", "warning", "warning"]
