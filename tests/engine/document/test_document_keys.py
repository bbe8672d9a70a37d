"""What single keys allow beside each other, and what holds where they are absent."""

from pathlib import Path
from typing import Any

import pytest

from orchid.engine.document.errors import DocumentErrors
from orchid.engine.document.every_key import every_key
from orchid.engine.document.load import LoadedDocument, load_document
from orchid.engine.document.model import PolicyDocument
from tests.reference_document import changed

#: Documents from before the schema had these keys.
APPROVED = Path(__file__).parent / "approved"


def with_value(pointer: str, value: Any) -> dict[str, Any]:
    """The reference document with a value put at a place that may not exist yet."""
    given: dict[str, Any] = changed()
    *parents, last = pointer.strip("/").split("/")
    place: Any = given
    for part in parents:
        place = place[int(part)] if isinstance(place, list) else place.setdefault(part, {})
    place[last] = value
    return given


def document(pointer: str, value: Any) -> PolicyDocument:
    return load_document(with_value(pointer, value)).document


def refused(pointer: str, value: Any) -> set[str]:
    with pytest.raises(DocumentErrors) as caught:
        load_document(with_value(pointer, value))
    return {error.pointer for error in caught.value.errors}


def test_an_absent_rung_setting_is_its_default(loaded_reference: LoadedDocument) -> None:
    steps = loaded_reference.document.overload_steps
    assert [step.rung for step in steps] == [
        "stop_shadow",
        "defer_async",
        "cap_optional_output",
        "compact_fallback",
        "reject_infeasible",
    ]
    enters = [step.enter.queue_wait_ms for step in steps if step.enter and step.enter.queue_wait_ms]
    assert enters == sorted(enters)
    assert len(enters) == 5


def test_a_rung_keeps_the_defaults_that_it_does_not_name() -> None:
    rung = {"rung": "compact_fallback", "enter": {"queue_wait": "1s"}, "dwell": "9s"}
    named = document("/overload", ["stop_shadow", rung]).overload_steps[1]
    usual = document("/overload", ["compact_fallback"]).overload_steps[0]
    assert named.enter is not None
    assert usual.enter is not None
    assert (named.enter.queue_wait_ms, named.dwell_ms) == (1_000, 9_000)
    assert named.enter.queued == usual.enter.queued
    assert (named.leave, named.steady_for_ms) == (usual.leave, usual.steady_for_ms)


def test_a_threshold_of_null_is_an_absent_one() -> None:
    rung = {"rung": "compact_fallback", "leave": {"queue_wait": None, "queued": 0.2}}
    named = document("/overload", [rung]).overload_steps[0].leave
    usual = document("/overload", ["compact_fallback"]).overload_steps[0].leave
    assert named is not None
    assert usual is not None
    assert (named.queue_wait_ms, named.queued) == (usual.queue_wait_ms, 0.2)


def test_absent_protection_is_what_was_decided_before() -> None:
    before = load_document((APPROVED / "orchid-serve-generation-1.yaml").read_text()).document
    admission = before.admission
    assert (admission.signals, admission.affinity) == (None, None)
    assert admission.retry.count == ("attempts", "teu", "live_tokens")
    full = before.models["full"]
    assert (full.streaming, full.pinned, full.over_budget_input) == (
        "after_validation",
        True,
        "refuse",
    )


def test_routes_without_a_model_may_be_fallen_back_to() -> None:
    for route in ("retrieval_only", "cached"):
        rule: dict[str, Any] = {"from": "full", "to": route, "where": {}}
        assert document("/fallback", [rule]).fallback[0].to == route


@pytest.mark.parametrize(
    "pointer",
    ["/classes/classification/model", "/admission/conservative_route", "/fallback/0/from"],
)
def test_a_route_without_a_model_serves_nothing_else(pointer: str) -> None:
    assert refused(pointer, "retrieval_only") == {pointer}


def test_a_model_may_not_take_the_name_of_a_route_without_one() -> None:
    given = every_key()
    models = given["models"] | {"cached": given["models"]["full"]}
    with pytest.raises(DocumentErrors) as caught:
        load_document(given | {"models": models})
    assert {error.pointer for error in caught.value.errors} == {"/models"}


@pytest.mark.parametrize(
    ("cell", "place"),
    [
        ({"route": "full", "input_bucket": "0-511", "pad": 1.1}, "/input_bucket"),
        ({"route": "full", "output_bucket": "65-513", "pad": 1.1}, "/output_bucket"),
        ({"route": "fulll", "pad": 1.1}, "/route"),
        ({"route": "full", "pad": 0.9}, "/pad"),
        ({"route": "full", "pad": 1.1, "disabled": True}, ""),
        ({"route": "full"}, ""),
    ],
)
def test_a_cell_that_corrects_nothing_is_refused(cell: dict[str, Any], place: str) -> None:
    assert refused("/demand/cells", [cell]) == {f"/demand/cells/0{place}"}


def test_a_bucket_of_a_dimension_without_edges_is_refused() -> None:
    given = with_value("/demand/cells", [{"route": "full", "input_bucket": "0-512", "pad": 2}])
    del given["segments"]["buckets"]["input_bucket"]
    with pytest.raises(DocumentErrors) as caught:
        load_document(given)
    (error,) = caught.value.errors
    assert (error.pointer, error.allowed) == ("/demand/cells/0/input_bucket", "nothing here")


DEFERRAL = {"deadline": "6h", "max_queue_age": "4h", "after": "30s"}
CLASSIFIER = {
    "version": "intent-3",
    "threshold": 0.7,
    "evidence": "suite 2",
    "large": "full",
    "small": "compact",
}


@pytest.mark.parametrize(
    ("pointer", "value", "place"),
    [
        ("/classes/classification/deferral", DEFERRAL, "/classes/classification"),
        ("/routing/classifier", CLASSIFIER, "/routing"),
        ("/routing", {"always_large": [{"risk": "high"}]}, "/routing"),
        ("/admission/signals", {"fresh": "2s", "hold": "1s"}, "/admission/signals"),
        ("/admission/retry/after_ms", [2, 1], "/admission/retry"),
        ("/admission/retry/count", [], "/admission/retry/count"),
        ("/budgets", [{"tenant": "acme", "window": "1d"}], "/budgets/0"),
        ("/budgets", [{"tenant": "a*", "window": "1d", "max_teu": 1}], "/budgets/0/tenant"),
        ("/revisit", [{"trigger": "t", "measure": "m", "window": "1d"}], "/revisit/0"),
        ("/routing/cascade/small_manifest", "sha256:12", "/routing/cascade/small_manifest"),
        ("/models/full/early_stop", {"version": "1", "evidence": "e", "where": {"colour": "x"}},
         "/models/full/early_stop/where/colour"),
        ("/scheduling/routes", {"huge": {}}, "/scheduling/routes/huge"),
        ("/admission/live_tokens/per_route", {"huge": 1}, "/admission/live_tokens/per_route/huge"),
        ("/fleet/placement", {"full": [0]}, "/fleet/placement/full/0"),
        ("/fleet/headroom", {"variance": "1.1"}, "/fleet/headroom/variance"),
    ],
)  # fmt: skip
def test_what_contradicts_itself_is_refused(pointer: str, value: Any, place: str) -> None:
    assert place in refused(pointer, value)


def test_every_tenant_may_have_a_budget_of_its_own() -> None:
    budget = {"tenant": "*", "window": "10s", "max_live_token_ms": 5, "max_external_calls": 0}
    assert document("/budgets", [budget]).budgets[0].tenant == "*"
