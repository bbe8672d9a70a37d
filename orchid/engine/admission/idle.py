"""A fleet that does nothing yet, from a few numbers: for examples, benchmarks and tests."""

from collections.abc import Mapping
from itertools import chain

from orchid.engine.admission.policy import CompiledPolicy
from orchid.engine.admission.replica import Ready
from orchid.engine.admission.state import AdmissionState


def idle_state(
    policy: CompiledPolicy,
    *,
    slots: int = 1,
    replicas: int | Mapping[str, int] = 1,
    warm: bool = True,
) -> AdmissionState:
    """A fleet that does nothing yet: so many replicas of so many slots, or so many of each route.

    With a plain count every route is warm on every replica; without `warm` none is.
    """
    everything = frozenset(policy.routes) if warm else frozenset()
    if isinstance(replicas, int):
        routes = [everything] * replicas
    else:
        counted = ([route] * count for route, count in replicas.items())
        routes = [frozenset({route}) & everything for route in chain.from_iterable(counted)]
    name = policy.pool
    devices = max(1, policy.devices // len(routes)) if len(routes) > 1 else None
    state = AdmissionState()
    state.replace_pools(
        [
            Ready(name, name if len(routes) == 1 else f"{name}-{n}", slots, served, devices=devices)
            for n, served in enumerate(routes)
        ],
        0.0,
    )
    state.equip(policy)
    return state
