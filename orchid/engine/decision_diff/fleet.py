"""The idle fleet that a document declares, and the policy that a diff runs on it."""

from orchid.engine.admission.policy import CompiledPolicy, compile_policy
from orchid.engine.admission.replica import Ready
from orchid.engine.admission.state import AdmissionState
from orchid.engine.document.canonical import digest_of_document
from orchid.engine.document.model import PolicyDocument


def policy_of(document: PolicyDocument) -> CompiledPolicy:
    """The document as admission reads it, with every signal as good as fresh.

    Records don't tell what replicas said of themselves, and the state of a diff is never behind
    what it holds.
    """
    admission = document.admission.model_copy(update={"signals": None})
    trusting = document.model_copy(update={"admission": admission})
    return compile_policy(trusting, digest=digest_of_document(document))


def idle_fleet(policy: CompiledPolicy, slots: int | None = None) -> AdmissionState:
    """One replica a device, each with the routes that the document's fleet puts on it.

    No breaker and no adaptive limit: what they go by is not in the records.
    """
    state = AdmissionState()
    state.replace_pools(declared_replicas(policy, slots), 0.0)
    return state


def declared_replicas(policy: CompiledPolicy, slots: int | None = None) -> list[Ready]:
    """What the replicas of the document's fleet would say of themselves."""
    pool = policy.pool
    return [
        Ready(pool, f"{pool}-{number}", slots or policy.knee, frozenset(routes), devices=1)
        for number, routes in enumerate(routes_by_device(policy.document), start=1)
    ]


def routes_by_device(document: PolicyDocument) -> list[list[str]]:
    """Which routes are warm on each device.

    A route takes as many replicas as it declares, on the devices with the fewest routes, inside the
    groups that it is placed in. Without declared replicas every route is warm everywhere.
    """
    fleet = document.fleet
    if not fleet.replicas:
        return [list(document.models) for _ in range(fleet.devices)]
    devices: list[list[str]] = [[] for _ in range(fleet.devices)]
    for route, count in fleet.replicas.items():
        groups = fleet.placement.get(route)
        inside = [
            routes
            for number, routes in enumerate(devices)
            if not groups or number // fleet.group_size + 1 in groups
        ]
        for routes in sorted(inside, key=len)[:count]:
            routes.append(route)
    return devices
