"""What a request asks, once it is known which generation it belongs to and what it carries on."""

from dataclasses import dataclass

from msgspec.structs import replace

from orchid.edge.active import Active, Cohort
from orchid.edge.ask import Admit, to_ms
from orchid.edge.problems import request_differs
from orchid.edge.standing import Resting
from orchid.engine.admission.policy import CompiledPolicy
from orchid.engine.admission.request import AdmissionRequest
from orchid.engine.wire.records import RequestRecord


@dataclass(frozen=True, slots=True)
class Question:
    """A request on its way to a decision. `resting` is what it was when it is a next attempt."""

    ask: Admit
    request: AdmissionRequest
    policy: CompiledPolicy
    cohort: Cohort
    publication: int
    resting: Resting | None
    explain: bool


def first_question(
    ask: Admit,
    active: Active,
    arrived_ms: float,
    first_arrived_ms: float | None,
    *,
    explain: bool,
) -> Question:
    """Of a request that was never decided; one that runs deferred work counts from its first."""
    request = _request(ask, arrived_ms)
    if first_arrived_ms is not None:
        request = replace(request, first_arrived_ms=first_arrived_ms)
    policy, cohort = active.policy_for(request, ask.session)
    return Question(ask, request, policy, cohort, active.bundle.publication, None, explain)


def next_question(
    ask: Admit,
    active: Active,
    resting: Resting,
    first_arrived_ms: float | None,
    *,
    explain: bool,
) -> Question | None:
    """Of the next attempt, under the arrival, deadline and generation that the request has.

    The deferred work that it runs is what its first attempt took up, whatever the client says.
    None when that generation is served no more. Raises EdgeError for another request's id.
    """
    record = resting.record
    refuse_difference(ask, record)
    policy = active.policy_of(record.digest)
    if policy is None:
        return None
    ask = replace(ask, continues=record.continues)
    request = replace(
        _request(ask, to_ms(record.arrived_at)),
        deadline_ms=record.deadline_ms,
        attempt=len(record.attempts) + 1,
        first_arrived_ms=first_arrived_ms,
    )
    publication = record.publication or active.bundle.publication
    cohort: Cohort = "incumbent" if policy is active.incumbent else "candidate"
    return Question(ask, request, policy, cohort, publication, resting, explain)


def refuse_difference(ask: Admit, other: Admit | RequestRecord) -> None:
    """Raise EdgeError for another request under an id that is in use."""
    for field, before, now in (
        ("class", other.class_, ask.class_),
        ("tenant", other.tenant, ask.tenant),
    ):
        if before != now:
            raise request_differs(ask.request_id, field)


def _request(ask: Admit, arrived_ms: float) -> AdmissionRequest:
    return AdmissionRequest(
        request_id=ask.request_id,
        class_=ask.class_,
        arrived_ms=arrived_ms,
        tenant=ask.tenant,
        tenant_class=ask.tenant_class,
        region=ask.region,
        privacy_cell=ask.privacy_cell,
        segment=ask.segment,
        input_tokens=ask.input_tokens,
        max_output_tokens=ask.max_output_tokens,
        cached_input_tokens=ask.cached_input_tokens,
        deadline_ms=ask.deadline_ms,
        prefix=ask.prefix,
        modality=ask.modality,
        continues=ask.continues,
        external_calls=ask.external_calls,
    )
