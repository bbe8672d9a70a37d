"""Two versions on one device: what it would hold, and whether that fits."""

from decimal import Decimal
from typing import Any

from orchid.engine.document.load import load_document
from orchid.engine.document.model import PolicyDocument
from orchid.engine.overlap import overlap
from tests.reference_document import changed

LEDGER = {"weights": "26.08", "kv_pool": "19.92", "free": "0"}


def document(versions: dict[str, str], device_gib: str = "80", **fleet: Any) -> PolicyDocument:
    given = changed(fleet={"device_gib": device_gib, "residency_gib": LEDGER, **fleet})
    for route, weights in versions.items():
        given["models"][route] |= {"weights": weights, "weights_gib": "26.08"}
    return load_document(given).document


def test_another_version_fits_beside_a_ledger_that_leaves_it_room() -> None:
    found = overlap(document({"full": "two"}), [document({"full": "one"})])
    assert found is not None
    assert (found.routes, found.needed_gib, found.fits) == (("full",), Decimal("72.08"), True)


def test_it_does_not_fit_by_one_byte_too_many() -> None:
    for device, fits in (("72.08", True), ("72.07", False)):
        found = overlap(document({"full": "two"}, device), [document({"full": "one"}, device)])
        assert found is not None
        assert found.fits is fits


def test_two_routes_share_a_device_only_where_it_may_hold_two_models() -> None:
    old, new = {"full": "f1", "premium": "p1"}, {"full": "f2", "premium": "p2"}
    apart = overlap(document(new), [document(old)])
    together = overlap(document(new, max_resident_models=2), [document(old)])
    assert apart is not None
    assert together is not None
    assert (dict(apart.others), apart.fits) == ({"f1": Decimal("26.08")}, True)
    assert dict(together.others) == {"f1": Decimal("26.08"), "p1": Decimal("26.08")}
    assert (together.needed_gib, together.fits) == (Decimal("98.16"), False)


def test_a_version_that_several_generations_hold_counts_once() -> None:
    held = [document({"full": "one"}), document({"full": "one"}), document({"full": "two"})]
    found = overlap(document({"full": "two"}), held)
    assert found is not None
    assert dict(found.others) == {"one": Decimal("26.08")}


def test_nothing_is_added_up_where_nobody_declares_a_ledger() -> None:
    bare = changed()
    for key in ("device_gib", "residency_gib"):
        bare["fleet"].pop(key)
    plain = load_document(bare).document
    assert overlap(plain, [plain]) is None


def test_the_same_versions_need_nothing_more() -> None:
    found = overlap(document({"full": "one"}), [document({"full": "one"})])
    assert found is not None
    assert (found.routes, found.needed_gib) == ((), Decimal("46.00"))


def test_a_version_of_unknown_size_is_named_and_not_taken_for_none() -> None:
    old, new = (bare(document({"full": weights})) for weights in ("one", "two"))
    found = overlap(new, [old])
    assert found is not None
    assert (found.routes, found.unknown) == ((), ("full",))


def bare(given: PolicyDocument) -> PolicyDocument:
    """The document without the size of its full model."""
    full = given.models["full"].model_copy(update={"weights_gib": None})
    return given.model_copy(update={"models": {**given.models, "full": full}})
