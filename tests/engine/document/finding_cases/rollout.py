"""Stages and approvals."""

from tests.engine.document.finding_cases.case import Case

CASES: dict[str, Case] = {
    "stage_without_hold": Case(
        "/rollout/stages/3",
        "the canary of 1% has no hold",
        {"rollout.stages.3": {"canary": 0.01}},
        {"rollout.stages.3": {"canary": 0.01, "hold": "1h"}},
    ),
    "stage_hold_short": Case(
        "/rollout/stages/3/hold",
        "325 requests a second x 0.01 x 5m = 975, under the 1,000",
        {"rollout.stages.3.hold": "5m"},
        {"rollout.stages.3.hold": "6m"},
    ),
    "stage_shrinks": Case(
        "/rollout/stages/4",
        "exposure falls from 0.01 to 0.005",
        {"rollout.stages.4": {"canary": 0.005, "hold": "1h"}},
        {"rollout.stages.4": {"canary": 0.01, "hold": "1h"}},
    ),
    "stages_out_of_order": Case(
        "/rollout/stages/1",
        "observe comes after shadow",
        {"rollout.stages.0": {"shadow": "1h"}, "rollout.stages.1": {"observe": "1h"}},
        {"rollout.stages.0": {"observe": "1h"}, "rollout.stages.1": {"shadow": "1h"}},
    ),
    "rollout_incomplete": Case(
        "/rollout/stages",
        "the last stage exposes 0.5",
        {"rollout.stages": [{"canary": 0.5, "hold": "1h"}]},
        {"rollout.stages": [{"canary": 1.0, "hold": "1h"}]},
    ),
    "shadow_without_reserve": Case(
        "/rollout/stages/1",
        "84,030 TEU/s leaves nothing of 84,000 for shadow work",
        {"fleet.devices": 24},
        {"fleet.devices": 25},
    ),
    "approvals_of_zero": Case(
        "/approvals/quality",
        "nobody has to approve a change of quality",
        {"approvals.quality": []},
        {"approvals.quality": ["sre"]},
    ),
}
