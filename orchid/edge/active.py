"""The admission generation that this edge decides by, with its policies ready for use."""

from dataclasses import dataclass, replace
from typing import Literal

from msgspec import UNSET

from orchid.engine.admission.policy import CompiledPolicy, compile_policy
from orchid.engine.admission.request import AdmissionRequest, Reason
from orchid.engine.admission.shape import shape_of
from orchid.engine.admission.slices import Slice, slice_of
from orchid.engine.document.load import DocumentErrors, load_document
from orchid.engine.shadow.hard_limits import under_limits
from orchid.engine.wire.bundle import (
    Bundle,
    BundleRefused,
    Exposure,
    Generation,
    etag_of,
    exposed,
    fraction_of,
    stratum_of,
)
from orchid.engine.wire.contents import EarlyStage

Cohort = Literal["incumbent", "candidate"]


@dataclass(frozen=True)
class Active:
    """One activated bundle."""

    bundle: Bundle
    etag: str
    incumbent: CompiledPolicy
    candidate: CompiledPolicy | None
    alone: CompiledPolicy | None = None  # the incumbent without the candidate's limits
    at_floor: bool = False  # its bundle expired, and its policy says what then

    def at_safe_floor(self) -> "Active":
        """What is left of an expired bundle: the incumbent alone, each replica at the floor."""
        incumbent = (self.alone or self.incumbent).at_safe_floor()
        return replace(self, incumbent=incumbent, candidate=None, alone=None, at_floor=True)

    @property
    def mode(self) -> EarlyStage | None:
        """Whether the candidate is asked beside, or its limits hold."""
        exposure = self.bundle.exposure
        if self.candidate is None or exposure is None or exposure.kind is UNSET:
            return None
        return exposure.kind

    @property
    def policies(self) -> tuple[CompiledPolicy, ...]:
        """What it serves: the incumbent, and the candidate where there is one."""
        return (self.incumbent,) if self.candidate is None else (self.incumbent, self.candidate)

    def policy_of(self, digest: str | None) -> CompiledPolicy | None:
        """The generation of a request that began under it; None when it is served no more."""
        return next((policy for policy in self.policies if policy.digest == digest), None)

    def policy_for(
        self, request: AdmissionRequest, session: str | None
    ) -> tuple[CompiledPolicy, Cohort]:
        """The generation a request belongs to; without a shape, the incumbent."""
        exposure = self.bundle.exposure
        if self.candidate is None or exposure is None:
            return self.incumbent, "incumbent"
        shape = shape_of(request, self.incumbent)
        if isinstance(shape, Reason):
            return self.incumbent, "incumbent"
        dimensions = {**shape.dimensions, "route": shape.route}
        stratum = stratum_of(exposure.strata, dimensions)
        unit = _unit(exposure, request, session)
        if exposed(exposure.salt, stratum, unit, fraction_of(exposure, dimensions)):
            return self.candidate, "candidate"
        return self.incumbent, "incumbent"


def _unit(exposure: Exposure, request: AdmissionRequest, session: str | None) -> str:
    if exposure.unit == "tenant":
        return request.tenant
    return (session if exposure.unit == "session" else None) or request.request_id


def activate(token: str, bundle: Bundle, edge: str) -> Active:
    """Prepare a verified bundle for the edge of this name, with its slice of the fleet's limits.

    Raises BundleRefused when one of its documents is unusable.
    """
    given, part = bundle.generations, slice_of(bundle.slices, edge)
    incumbent = _compiled(bundle, given.incumbent, part)
    candidate = _compiled(bundle, given.candidate, part) if given.candidate else None
    active = Active(bundle, etag_of(token), incumbent, candidate)
    if candidate is None or active.mode != "hard_limits":
        return active
    return replace(active, incumbent=under_limits(incumbent, candidate, part), alone=incumbent)


def _compiled(bundle: Bundle, generation: Generation, part: Slice) -> CompiledPolicy:
    try:
        loaded = load_document(generation.document)
    except DocumentErrors as errors:
        first = errors.errors[0]
        raise BundleRefused(
            "schema_error", f"schema error at {first.pointer}: found {first.found}"
        ) from errors
    if loaded.digest != generation.digest:
        raise BundleRefused(
            "digest_mismatch", f"the document is {loaded.digest}, not {generation.digest}"
        )
    pool = bundle.pools.get(generation.digest)
    return compile_policy(loaded.document, digest=loaded.digest, pool=pool, part=part)
