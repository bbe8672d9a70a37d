"""The nominal interval against what is observed, cell by cell and on both sides."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from orchid.engine.calibration.fit import fit_demand
from orchid.engine.calibration.fragment import Origin, cells_fragment, demand_fragment, rounded
from orchid.engine.calibration.predictor import Predictor, predictor_of
from orchid.engine.calibration.samples import (
    AttemptSample,
    Buckets,
    Cell,
    RefusedShape,
    buckets_of,
    refused_shape,
    samples_of,
)
from orchid.engine.calibration.verdicts import (
    Calibration,
    CellCalibration,
    calibrate,
    errors_by_version,
)
from orchid.engine.document.demand import Demand
from orchid.engine.document.load import load_document
from orchid.engine.document.model import PolicyDocument
from orchid.engine.wire.records import parse_record
from tests.engine.calibration.measured_attempts import World
from tests.reference_document import changed

ONE_CELL = Buckets((), ())
CELL = Cell("full", "0+", "0+")
PREDICTOR = Predictor({"full": 1.0}, 0.0, 1.0, 0.8, 1.25)


def taking(ratio: float, n: int, tenant: str = "acme") -> list[AttemptSample]:
    """Attempts whose price is 100 ms and which take `ratio` of it."""
    return [AttemptSample("full", 10, 0, 100, 100 * ratio, tenant=tenant) for _ in range(n)]


def judged(samples: list[AttemptSample], **kwargs: Any) -> CellCalibration:
    (found,) = calibrate(samples, PREDICTOR, ONE_CELL, **kwargs)
    assert found.cell == CELL
    return found


def test_a_nominal_95_percent_that_holds_is_calibrated() -> None:
    found = judged(taking(1.0, 95) + taking(1.3, 5))
    assert found.verdict is Calibration.CALIBRATED
    assert (found.n, found.coverage, found.pad) == (100, 0.95, None)
    assert (round(found.lower, 4), round(found.upper, 4)) == (0.8872, 0.9836)


def test_a_nominal_95_percent_that_holds_in_70_is_padded() -> None:
    samples = taking(1.0, 70) + taking(1.6, 30)
    found = judged(samples)
    assert (found.verdict, found.coverage) == (Calibration.PAD, 0.7)
    assert found.pad == pytest.approx(1.6 / 1.25)
    assert found.text == "covers 70.0 % where 95 % is promised; estimates times 1.280 restore it"


def test_a_pad_that_over_prices_most_of_its_cell_shows_at_the_next_look() -> None:
    samples = taking(1.0, 70) + taking(1.6, 30)
    padded = replace(PREDICTOR, pads={CELL: judged(samples).pad})
    (again,) = calibrate(samples, padded, ONE_CELL)
    assert again.verdict is Calibration.OVER_PREDICTS
    assert again.coverage == 0.3


def test_a_cell_that_no_sensible_pad_restores_is_disabled() -> None:
    found = judged(taking(1.0, 60) + taking(9.0, 40))
    assert (found.verdict, found.pad) == (Calibration.DISABLE, None)
    assert "a pad of 7.20 would restore it" in found.text
    few = judged(taking(1.6, 12))
    assert few.verdict is Calibration.DISABLE
    assert "too few attempts to say what pad" in few.text


def test_too_few_attempts_are_no_verdict() -> None:
    found = judged(taking(1.0, 38))
    assert found.verdict is Calibration.TOO_FEW
    assert found.text == "38 attempts of the 39 that a verdict needs"


def test_steady_over_prediction_names_whom_it_refuses() -> None:
    """All within the interval and yet a fifth too dear: two-sided means that this shows too."""
    refused = [RefusedShape("full", tenant, 10, 100) for tenant in ("zoe", "acme", "zoe")]
    refused.append(RefusedShape("compact", "elsewhere", 10, 100))
    found = judged(taking(0.82, 60), refused=refused)
    assert found.verdict is Calibration.OVER_PREDICTS
    assert found.coverage == 1
    assert found.tenants == {"zoe": 2, "acme": 1}
    assert found.text.endswith("refused meanwhile: zoe (2), acme (1)")
    below = judged(taking(0.5, 60))
    assert below.verdict is Calibration.OVER_PREDICTS
    assert below.text.endswith("refused meanwhile: nobody")


def test_errors_are_kept_by_version() -> None:
    old = [replace(sample, version="m1@a100") for sample in taking(1.0, 10)]
    new = [replace(sample, version="m1@h100") for sample in taking(0.6, 20)]
    first, second = errors_by_version(old + new, PREDICTOR, ONE_CELL)
    assert (first.version, first.n, first.bias) == ("m1@a100", 10, 0)
    assert (second.version, second.n) == ("m1@h100", 20)
    assert second.bias == pytest.approx(-0.4)
    assert second.mean_error == pytest.approx(0.4)


def test_work_that_tokens_do_not_explain_pads_the_short_cells() -> None:
    """40 ms of fixed work that TEU has no term for: only short requests are under-priced."""
    heavy = World(gross=0, fixed_ms={"compact": 40.0, "full": 40.0, "premium": 40.0})
    found = fit_demand(heavy.attempts(4000, seed=1), "full")
    assert found.fixed_ms["compact"] == pytest.approx(40, rel=0.05)
    verdicts = {
        v.cell: v for v in calibrate(heavy.attempts(4000, seed=2), found.predictor(), Buckets())
    }
    short = verdicts[Cell("compact", "0-512", "0-64")]
    assert short.verdict in (Calibration.PAD, Calibration.DISABLE)
    long = verdicts[Cell("full", "513-4096", "65-512")]
    assert long.bias < short.bias


def test_a_padded_cell_covers_fresh_attempts() -> None:
    dice = np.random.default_rng(5)
    drifted = [s for r in dice.normal(1.2, 0.1, 400) for s in taking(float(r), 1)]
    found = judged(drifted)
    assert found.verdict is Calibration.PAD
    assert found.pad is not None
    fresh = dice.normal(1.2, 0.1, 4000)
    assert float((fresh <= 1.25 * found.pad).mean()) >= 0.95


def test_a_documents_own_pads_and_disabled_cells_are_part_of_its_prediction() -> None:
    demand = Demand(
        version="teu-9",
        input_weight=Decimal("0.12"),
        model_factor={"full": Decimal(1)},
        cells=(
            {"route": "full", "input_bucket": "0-512", "pad": "1.5"},
            {"route": "full", "output_bucket": "65+", "disabled": True},
        ),
    )
    buckets = Buckets((512,), (64,))
    long_ones = [AttemptSample("full", 600, 0, 60, 50.0) for _ in range(50)]
    short = [AttemptSample("full", 100, 0, 60, 50.0)]
    shut = [AttemptSample("full", 600, 0, 90, 50.0)]
    predictor = predictor_of(demand, long_ones + short + shut, buckets)
    assert predictor.pads[Cell("full", "0-512", "0-64")] == 1.5
    assert predictor.pads[Cell("full", "513+", "65+")] is None
    cells = [v.cell for v in calibrate(long_ones + short + shut, predictor, buckets)]
    assert cells == [Cell("full", "0-512", "0-64"), Cell("full", "513+", "0-64")]
    with pytest.raises(ValueError, match="teu-9 prices"):
        predictor_of(demand, [AttemptSample("other", 1, 0, 1, 1.0)], buckets)


def test_the_fragment_is_a_demand_section_that_a_document_takes(
    reference: PolicyDocument,
) -> None:
    found = fit_demand(World().attempts(1500, seed=8), "full", buckets=buckets_of(reference))
    padded = CellCalibration(
        Cell("full", "0-512", "0-64"), 90, 0.3, 0.3, 0.7, 0.6, 0.8, Calibration.PAD, pad=1.28
    )
    shut = replace(padded, cell=Cell("compact", "0-512", "0-64"), verdict=Calibration.DISABLE)
    shut = replace(shut, pad=None)
    section = demand_fragment(
        found, Origin("teu-10", "engine-1.9", "H100", "2026-11-01"), [padded, shut]
    )
    document = load_document({**changed(), **section}).document
    assert document.demand.version == "teu-10"
    assert document.demand.fitted is not None
    assert document.demand.fitted.attempts == 1500
    assert [cell.pad for cell in document.demand.cells] == [Decimal("1.28"), None]
    assert document.demand.cells[1].disabled
    assert float(document.demand.model_factor["compact"]) == pytest.approx(0.3, rel=0.03)


def test_a_new_pad_is_on_top_of_the_one_in_force() -> None:
    padded = CellCalibration(CELL, 90, 0.3, 0.3, 0.7, 0.6, 0.8, Calibration.PAD, pad=1.2)
    assert cells_fragment([padded], {CELL: 1.5})[0]["pad"] == "1.8"
    assert rounded(0.000123456) == "0.0001235"
    assert rounded(12345.6) == "12350"


RECORD = (
    b'{"request_id": "r1", "product": "p", "class": "c", "tenant": "acme", "outcome": "%s",'
    b' "arrived_at": "2026-11-30T07:00:00Z", "input_tokens": 900, "cached_input_tokens": 600,'
    b' "max_output_tokens": 120, "output_tokens": 50, %s}'
)


def read(outcome: bytes, rest: bytes) -> Any:
    return parse_record(RECORD % (outcome, rest))


def attempt(extra: bytes) -> bytes:
    return b'"attempts": [{"attempt_id": "a1", "route": "full", "pool": "six", %s}]' % extra


def test_a_record_gives_its_measured_attempts() -> None:
    record = read(b"completed", attempt(b'"status": "completed", "accelerator_ms": 80.5'))
    (sample,) = samples_of(record)
    assert sample == AttemptSample("full", 900, 600, 50, 80.5, "six", "acme", 120)
    parts = b'"status": "completed", "accelerator_prefill_ms": 30, "accelerator_decode_ms": 20'
    (split,) = samples_of(read(b"completed", attempt(parts)))
    assert isinstance(split, AttemptSample)
    assert split.accelerator_ms == 50


def test_input_that_excludes_the_cached_tokens_is_read_so() -> None:
    rest = b'"input_convention": "excludes_cached", '
    record = read(b"completed", rest + attempt(b'"status": "completed", "accelerator_ms": 1'))
    (sample,) = samples_of(record)
    assert isinstance(sample, AttemptSample)
    assert (sample.input_tokens, sample.uncached_tokens) == (1500, 900)


@pytest.mark.parametrize(
    ("extra", "lacks"),
    [
        (b'"status": "completed"', "accelerator_ms"),
        (b'"status": "lost", "accelerator_ms": 5', "a whole answer"),
        (b'"status": "cancelled", "accelerator_ms": 5', "a whole answer"),
    ],
)
def test_an_attempt_that_says_too_little_says_what_it_lacks(extra: bytes, lacks: str) -> None:
    (found,) = samples_of(read(b"completed", attempt(extra)))
    assert getattr(found, "lacks", None) == lacks


def test_times_from_elsewhere_fill_what_the_record_lacks() -> None:
    (found,) = samples_of(read(b"completed", attempt(b'"status": "completed"')), {"a1": 44.0})
    assert isinstance(found, AttemptSample)
    assert found.accelerator_ms == 44
    stated = attempt(b'"status": "completed", "accelerator_ms": 80.5')
    (own,) = samples_of(read(b"completed", stated), {"a1": 44.0})
    assert isinstance(own, AttemptSample)
    assert own.accelerator_ms == 80.5


@pytest.mark.parametrize(("reason", "counts"), [(b"share_exhausted", True), (b"no_bundle", False)])
def test_a_refusal_for_its_price_is_remembered_with_its_tenant(reason: bytes, counts: bool) -> None:
    decided = b'"decision": {"action": "reject", "route": "full", "reason": "%s"}' % reason
    found = refused_shape(read(b"rejected", decided))
    assert found == (RefusedShape("full", "acme", 900, 120) if counts else None)
