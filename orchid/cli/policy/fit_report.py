"""What `orchid policy fit` finds, as plain data: the fit, its verdicts, the section to paste."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from orchid.cli.policy.measured import Measured
from orchid.engine.calibration.fit import DemandFit, NotIdentifiableError, fit_demand
from orchid.engine.calibration.fragment import Origin, cells_fragment, demand_fragment
from orchid.engine.calibration.predictor import predictor_of
from orchid.engine.calibration.samples import AttemptSample, Buckets, buckets_of
from orchid.engine.calibration.verdicts import CellCalibration, calibrate, errors_by_version
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.values import percent

#: Part of the attempts, the newest, on which the verdicts rest and the predictor does not.
FRESH = 0.3
NOT_STATED = "not stated"


@dataclass(frozen=True)
class Asked:
    """The options that say how to fit and what to write beside the factors."""

    reference: str
    name: str
    runtime: str | None
    hardware: str
    nominal: float


def report(found: Measured, policy: PolicyDocument | None, asked: Asked) -> dict[str, Any]:
    """The fit on all attempts, verdicts on the newest by a fit on the older, and the fragment."""
    buckets = buckets_of(policy) if policy else Buckets()
    whole = fit_demand(found.samples, asked.reference, nominal=asked.nominal, buckets=buckets)
    verdicts, why = _verdicts(found, asked, buckets)
    data: dict[str, Any] = {
        "reference": whole.reference,
        "nominal": asked.nominal,
        "attempts": whole.n,
        "stopped_at_limit": found.stopped,
        "left_out": dict(found.left_out),
        "input_weight": asdict(whole.input_weight),
        "ms_per_teu": asdict(whole.ms_per_teu),
        "routes": {route: _route(whole, route) for route in whole.factors},
        "not_fitted": dict(whole.not_fitted),
        "outliers": whole.outliers,
        "relative_error": whole.sigma,
        "spread": asdict(whole.spread),
        "cells": [{**asdict(cell), **asdict(spread)} for cell, spread in whole.cells.items()],
        "verdicts": [_flat(verdict) for verdict in verdicts],
        "no_verdicts": why,
        "fragment": demand_fragment(whole, _origin(found, policy, asked), verdicts),
    }
    if policy is not None:
        data["document"] = _document(found, policy, asked.nominal, buckets)
    return data


def _route(whole: DemandFit, route: str) -> dict[str, Any]:
    return {
        "attempts": whole.attempts[route],
        "versions": list(whole.versions[route]),
        "factor": asdict(whole.factors[route]),
        "fixed_ms": whole.fixed_ms[route],
    }


def _split(samples: Sequence[AttemptSample]) -> tuple[list[AttemptSample], list[AttemptSample]]:
    older = round(len(samples) * (1 - FRESH))
    return list(samples[:older]), list(samples[older:])


def _verdicts(
    found: Measured, asked: Asked, buckets: Buckets
) -> tuple[list[CellCalibration], str | None]:
    """Cells judged on attempts that came after those of the fit; or why none can be."""
    older, newer = _split(found.samples)
    try:
        before = fit_demand(older, asked.reference, nominal=asked.nominal, buckets=buckets)
    except NotIdentifiableError as error:
        return (
            [],
            f"the older {percent(1 - FRESH)} of the attempts don't fit by themselves: {error}",
        )
    refused = found.refused
    return calibrate(
        newer, before.predictor(), buckets, nominal=asked.nominal, refused=refused
    ), None


def _document(
    found: Measured, policy: PolicyDocument, nominal: float, buckets: Buckets
) -> dict[str, Any]:
    """The document's own demand model against the same attempts."""
    older, newer = _split(found.samples)
    try:
        predictor = predictor_of(policy.demand, older, buckets, nominal=nominal)
    except ValueError as error:
        return {"version": policy.demand.version, "why": str(error), "verdicts": [], "errors": []}
    verdicts = calibrate(newer, predictor, buckets, nominal=nominal, refused=found.refused)
    return {
        "version": policy.demand.version,
        "ms_per_teu": predictor.ms_per_teu,
        "verdicts": [_flat(verdict) for verdict in verdicts],
        "errors": [_flat(error) for error in errors_by_version(newer, predictor, buckets)],
        "cells": cells_fragment(verdicts, predictor.pads),
    }


def _flat(found: Any) -> dict[str, Any]:
    data = asdict(found)
    return {**data.pop("cell"), **data}


def _origin(found: Measured, policy: PolicyDocument | None, asked: Asked) -> Origin:
    model = policy.models.get(asked.reference) if policy else None
    runtime = asked.runtime or (model.runtime if model else NOT_STATED)
    days = [at.date().isoformat() for at in (found.first, found.last) if at is not None]
    return Origin(
        asked.name, runtime, asked.hardware, " to ".join(dict.fromkeys(days)) or NOT_STATED
    )
