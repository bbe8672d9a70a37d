"""Stages and approvals."""

from tests.engine.document.finding_cases.case import Case

WEEKEND = {"name": "weekend", "from": "fri 16:00", "until": "mon 08:00"}

CASES: dict[str, Case] = {
    "stage_without_hold": Case(
        "/rollout/stages/3",
        "the canary of 1 % has no hold",
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
    "stage_without_bound": Case(
        "/rollout/stages/1",
        "shadow names no figure that lets it go on",
        {"rollout.stages.1": {"shadow": "24h"}},
        {"rollout.stages.1": {"shadow": "24h", "decisions": 1}},
    ),
    "whole_without_cover": Case(
        "/rollout/before_whole",
        "nothing asks for cold start, drill before everybody is served",
        {"rollout.before_whole": ["peak"]},
        {"rollout.before_whole": ["drill", "peak", "cold_start"]},
    ),
    "approvals_without_evidence": Case(
        "/approvals/evidence_required",
        "without any evidence",
        {"approvals.evidence_required": []},
        {"approvals.evidence_required": ["uncertainty"]},
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
    "cycles_of_unknown_length": Case(
        "/rollout/stages/3/cache_cycles",
        "there is no cache_cycle",
        {
            "rollout.stages.3": {"canary": 0.01, "hold": "1h", "cache_cycles": 3},
            "rollout.cache_cycle": None,
        },
        {
            "rollout.stages.3": {"canary": 0.01, "hold": "1h", "cache_cycles": 3},
            "rollout.cache_cycle": "10m",
        },
    ),
    "minimum_without_strata": Case(
        "/rollout/stages/3/minimum_per_stratum",
        "there are no strata",
        {
            "rollout.stages.3": {"canary": 0.01, "hold": "1h", "minimum_per_stratum": 50},
            "rollout.strata": [],
        },
        {"rollout.stages.3": {"canary": 0.01, "hold": "1h", "minimum_per_stratum": 50}},
    ),
    "apart_without_gates": Case(
        "/rollout/apart/0",
        "regulated is no segment of gates",
        {"rollout.apart": ["regulated"]},
        {
            "rollout.apart": ["regulated"],
            "gates.segments": [{"name": "regulated", "where": {"risk": "regulated"}}],
        },
    ),
    "apart_across_strata": Case(
        "/rollout/apart/0",
        "regulated is told by risk, which strata do not tell apart",
        {
            "rollout.apart": ["regulated"],
            "rollout.strata": ["language"],
            "gates.segments": [{"name": "regulated", "where": {"risk": "regulated"}}],
        },
        {
            "rollout.apart": ["regulated"],
            "rollout.strata": ["language", "risk"],
            "gates.segments": [{"name": "regulated", "where": {"risk": "regulated"}}],
        },
    ),
    "apart_overlaps": Case(
        "/rollout/apart/1",
        "a request can be in regulated and in german",
        {
            "rollout.apart": ["regulated", "german"],
            "gates.segments": [
                {"name": "regulated", "where": {"risk": "regulated"}},
                {"name": "german", "where": {"language": "de"}},
            ],
        },
        {
            "rollout.apart": ["regulated", "low"],
            "gates.segments": [
                {"name": "regulated", "where": {"risk": "regulated"}},
                {"name": "low", "where": {"risk": "low"}},
            ],
        },
    ),
    "freeze_zone_unknown": Case(
        "/rollout/freezes/0/zone",
        "Europe/Atlantis is no time zone",
        {"rollout.freezes": [WEEKEND | {"zone": "Europe/Atlantis"}]},
        {"rollout.freezes": [WEEKEND | {"zone": "Europe/Athens"}]},
    ),
    "freeze_repeated": Case(
        "/rollout/freezes/1/name",
        "freeze 0 is called weekend as well",
        {"rollout.freezes": [WEEKEND, WEEKEND | {"zone": "Asia/Tokyo"}]},
        {"rollout.freezes": [WEEKEND, WEEKEND | {"name": "weekend in Tokyo"}]},
    ),
}
