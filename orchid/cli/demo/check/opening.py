"""Steps 1 to 4: a generation is live, real files and real traffic come in, gates judge them."""

from pathlib import Path

from orchid.cli.client import Json
from orchid.cli.demo.check.site import StepError
from orchid.cli.demo.check.story import AT, PRODUCT, Story, expect
from orchid.cli.demo.ci import COST, judged_on_cost
from orchid.engine.document.values import percent

RECORDINGS = Path("examples/recordings")
CALLS = {"recording-run1": 340, "recording-run2": 200}
TRACES = 461  # executions in the ten trace files of run1
UNANCHORED = "check-without-anchor"
ENGINE = "triton-six"
LEAST_JOINED = 0.9


def edge_activates(story: Story) -> str:
    """Edges says wanted = active for publication 1."""
    story.sign_in()
    edge = story.site.until("an edge on publication 1", 60, lambda: story.edge_on(1))
    page = story.person("ben").page(f"/products/{PRODUCT}/edges/")
    expect(edge["name"] in page and "active" in page, "the Edges page doesn't name the edge")
    return f"{edge['name']}: wanted {edge['wanted']}, active {edge['active']}"


def recordings_are_counted(story: Story) -> str:
    """Attempts, times and joined outcomes of what a real Triton wrote on another day."""
    counts = story.site.until("the recordings", 90, lambda: _counted(story))
    expect(counts["triton_trace"] == TRACES, f"{counts['triton_trace']} executions, not {TRACES}")
    run1 = list(story.ci.pages("/api/v1/ingest/attempts", 1000, source="recording-run1"))
    outcomes = {one["outcome"] for one in run1}
    computed = [one for one in run1 if one["queue_ms"] is not None and one["compute_ms"]]
    joined = [one for one in run1 if one["joined"] == "client"]
    expect(len(run1) == TRACES, f"{len(run1)} attempts of run1 are listed, not {TRACES}")
    expect(len(computed) > TRACES // 2, f"only {len(computed)} attempts have times")
    expect(len(joined) > TRACES // 2, f"only {len(joined)} attempts join the client's log")
    expect({"completed", "failed", "cancelled"} <= outcomes, f"outcomes are {sorted(outcomes)}")
    return (
        f"{TRACES} executions, {len(joined)} joined to the client's log,"
        f" outcomes {', '.join(sorted(filter(None, outcomes)))}; {_unanchored(story)}"
    )


def _counted(story: Story) -> dict[str, int] | None:
    """Inserted rows by kind, once both runs are in whole; None until then."""
    sources: list[Json] = story.ci.get("/api/v1/ingest/sources")["results"]
    calls = {one["name"]: one["inserted"] for one in sources if one["kind"] == "client_log"}
    if any(calls.get(name, 0) < count for name, count in CALLS.items()):
        return None
    recorded = [one for one in sources if one["kind"] in ("triton_trace", "otlp")]
    if any(one["waiting"] for one in recorded):
        return None
    return {
        kind: sum(one["inserted"] for one in recorded if one["name"] == "recording-run1")
        for kind in ("triton_trace",)
    }


def _unanchored(story: Story) -> str:
    """A trace that nobody anchored keeps its durations and gets no wall time."""
    query = {"kind": "triton_trace", "source": UNANCHORED, "server_run": UNANCHORED}
    content = (RECORDINGS / "run1/trace/trace.json.7").read_bytes()
    story.ci.deliver("/api/v1/ingest/files", content, UNANCHORED, **query)

    def seen() -> list[Json] | None:
        return list(story.ci.pages("/api/v1/ingest/attempts", 50, source=UNANCHORED)) or None

    found = story.site.until("the trace without an anchor", 30, seen)
    expect(all(one["started_at"] is None for one in found), "an unanchored trace got a wall time")
    expect(any(one["request_ms"] for one in found), "an unanchored trace lost its durations")
    return f"{len(found)} without an anchor kept durations only"


def traffic_is_joined(story: Story) -> str:
    """Records come from the edge, traces from Triton, and both name the same attempts."""
    served = story.site.until("100 completed requests", 90, lambda: _served(story))
    sources = story.ci.get("/api/v1/ingest/sources")["results"]
    engine = next((one for one in sources if one["name"] == ENGINE), None)
    if engine is None and not (Path(".triton") / "orchid-built").exists():
        return f"{served} requests completed; a stand-in serves and writes no traces"
    share, count = story.site.until("traces that join", 45, lambda: _share(story))
    joined = f"{percent(share, 1)} of {count} Triton traces join by attempt id"
    return f"{served} requests completed; {joined}"


def _served(story: Story) -> int | None:
    rows = list(story.ci.pages("/api/v1/ingest/requests", 300))
    completed = [one for one in rows if one["outcome"] == "completed" and one["publication"] == 1]
    return len(completed) if len(completed) >= 100 else None


def _share(story: Story) -> tuple[float, int] | None:
    """The share of the engine's attempts that a gateway record names, once it is high enough."""
    rows = list(story.ci.pages("/api/v1/ingest/attempts", 400, source=ENGINE))
    joined = sum(one["joined"] == "gateway" for one in rows)
    if len(rows) < 100 or joined / len(rows) < LEAST_JOINED:
        return None
    return joined / len(rows), len(rows)


def first_is_judged(story: Story) -> str:
    """Generation 1 misses its cost; the other gates say what they say."""
    verdicts = story.site.until("a verdict on cost", 90, lambda: _judged_on_cost(story))
    whole = {one["metric"]: one for one in verdicts if not one["segment"]}
    cost = whole[COST]
    expect(cost["verdict"] == "fail", f"cost is {cost['verdict']}: {cost['message']}")
    expect(len(whole) == 5, f"{len(whole)} gates are judged, not 5")
    for one in verdicts:
        if one["metric"] != COST and one["verdict"] == "fail":
            raise StepError(f"a gate fails that should not: {one['message']}")
    expect("fail" in story.person("ben").page(f"/products/{PRODUCT}/gates/"), "the page is green")
    others = ", ".join(f"{m} {v['verdict']}" for m, v in whole.items() if m != COST)
    return f"cost fails with ${cost['value']} > ${cost['bound']}; {others}"


def _judged_on_cost(story: Story) -> list[Json] | None:
    answer = story.ci.get(f"{AT}/check")
    return list(answer["evaluation"]["verdicts"]) if judged_on_cost(answer) else None
