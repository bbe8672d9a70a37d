"""Capacity, placement and prices."""

from tests.engine.document.finding_cases.case import Case

CASES: dict[str, Case] = {
    "demand_over_fleet_steady": Case(
        "/fleet",
        "steady demand: 84,030 TEU/s over 80,500 safe, deficit 3,530 TEU/s",
        {"fleet.devices": 23},
        {"fleet.devices": 25},
    ),
    "demand_over_fleet_spike": Case(
        "/fleet",
        "a 1.4x spike: 117,642 TEU/s over 98,000 safe, deficit 19,642",
        {},
        {"fleet.devices": 34},
    ),
    "demand_over_fleet_group_loss": Case(
        "/fleet",
        "84,030 TEU/s over 84,000 safe, deficit 30 TEU/s",
        {},
        {"fleet.devices": 29},
    ),
    "demand_over_fleet_candidate_overlap": Case(
        "/fleet",
        "a candidate on 4 devices beside the incumbent: 84,030 TEU/s over 84,000 safe, deficit 30",
        {},
        {"fleet.devices": 29},
    ),
    "route_cold": Case(
        "/classes/classification/model",
        "no replica of compact",
        {"fleet.replicas.compact": None},
        {},
    ),
    "fallback_not_resident": Case(
        "/overload/3",
        "compact_fallback serves by compact, of which no replica stays resident",
        {"fleet.replicas.compact": None},
        {"fleet.replicas.compact": None, "overload": ["stop_shadow"]},
    ),
    "capacity_not_warm": Case(
        "/fleet/replicas",
        "26 replicas keep at most 26 of 28 devices warm: 2 x 3,500 = 7,000 TEU/s",
        {"fleet.replicas.full": 14},
        {"fleet.replicas.full": 16},
    ),
    "headroom_open": Case(
        "/fleet/headroom",
        "= 0.25, but a safe factor of 0.7 keeps 0.3: 0.05 is unaccounted",
        {"fleet.headroom": {"variance": "0.10", "failure_reserve": "0.15"}},
        {"fleet.headroom": {"variance": "0.15", "failure_reserve": "0.15"}},
    ),
    "placement_unknown_group": Case(
        "/fleet/placement/compact",
        "group 8: 28 devices in groups of 4 are groups 1 to 7",
        {"fleet.placement": {"compact": [1, 8]}},
        {"fleet.placement": {"compact": [1, 7]}},
    ),
    "placement_over_groups": Case(
        "/fleet/placement/full",
        "16 replicas in groups 1, 2, 3, which have 12 devices",
        {"fleet.placement": {"full": [1, 2, 3]}},
        {"fleet.placement": {"full": [1, 2, 3, 4]}},
    ),
    "primary_single_replica": Case(
        "/fleet/replicas/compact",
        "classification ask for compact, whose only replica is a single failure",
        {"fleet.replicas.compact": 1},
        {"fleet.replicas.compact": 2},
    ),
    "fallback_shares_failure_group": Case(
        "/fallback/0",
        "every replica of compact is in group 2, which also holds full",
        {"fleet.placement": {"compact": [2], "full": [1, 2, 3, 4]}},
        {"fleet.placement": {"compact": [5], "full": [1, 2, 3, 4]}},
    ),
    "upstream_unpinned": Case(
        "/models/full/pinned",
        "no revisit condition upstream_unpinned reruns its frozen suite",
        {"models.full.pinned": False},
        {
            "models.full.pinned": False,
            "revisit.+": {
                "trigger": "upstream_unpinned",
                "measure": "utility of the frozen suite",
                "min": 0.895,
                "window": "1d",
            },
        },
    ),
    "model_without_factor": Case(
        "/models/premium",
        "demand teu-3 has no factor for it",
        {"demand.model_factor.premium": None},
        {},
    ),
    "cell_disabled_without_route": Case(
        "/demand/cells/0",
        "compact with input 4097+, output any is disabled, and no conservative route",
        {
            "demand.cells": [{"route": "compact", "input_bucket": "4097+", "disabled": True}],
            "admission.conservative_route": None,
        },
        {"demand.cells": [{"route": "compact", "input_bucket": "4097+", "disabled": True}]},
    ),
    "ambiguous_cells": Case(
        "/demand/cells/1",
        "full with input any, output any is already /demand/cells/0",
        {"demand.cells": [{"route": "full", "pad": 2}, {"route": "full", "pad": 3}]},
        {"demand.cells": [{"route": "full", "pad": 2}, {"route": "compact", "pad": 3}]},
    ),
}
