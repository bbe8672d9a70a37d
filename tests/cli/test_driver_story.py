"""The demo's recordings and its CI job reach the control plane once, however often they run."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from orchid.cli.client import Api
from orchid.cli.demo import ci, seed

Answers = dict[str, Any]


OPENED, LATER = "2026-11-30T04:00:00.250000Z", "2026-11-30T04:00:11+00:00"


class ControlPlane:
    """Answers by path and remembers what was posted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ORCHID_TOKEN", "orc_ci_test")
        self.proposals: list[Answers] = []
        self.verdicts: list[list[Answers]] = []
        self.judged_from = [LATER] * 10
        self.posts: list[httpx.Request] = []

    def api(self) -> Api:
        return Api(httpx.MockTransport(self.answer))

    def answer(self, request: httpx.Request) -> httpx.Response:
        tail = request.url.path.rpartition("/")[2]
        if request.method == "POST":
            self.posts.append(request)
            return httpx.Response(200, json=self.posted(tail, request))
        if tail == "check":
            evaluation = {
                "verdicts": self.verdicts.pop(0),
                "window": {"opens_at": OPENED},
                "figures": {"cost": {"from": self.judged_from.pop(0)}},
            }
            return httpx.Response(200, json={"evaluation": evaluation})
        return httpx.Response(200, json={"items": self.proposals})

    def posted(self, tail: str, request: httpx.Request) -> Answers:
        if tail in ("files", "traces"):
            return {"status": "done", "kind": request.url.params.get("kind"), "counts": {}}
        if tail == "proposals":
            self.proposals.append({"id": 7, "version": 1, **json.loads(request.content)})
        return {"generation": 2, "id": 7, "version": 1, "state": "in_review"}

    def paths(self) -> list[str]:
        return [request.url.path for request in self.posts]


@pytest.fixture
def plane(monkeypatch: pytest.MonkeyPatch) -> ControlPlane:
    return ControlPlane(monkeypatch)


def cost(verdict: str) -> list[Answers]:
    return [{"metric": "cost_per_success_usd", "verdict": verdict}]


def test_ci_waits_until_cost_is_judged_and_then_proposes(
    plane: ControlPlane, examples: Path
) -> None:
    plane.verdicts = [[], cost("no_data"), cost("inconclusive"), cost("fail")]
    waits: list[float] = []
    made = ci.propose_once(plane.api(), examples / "orchid-demo", lambda line: None, waits.append)
    assert made is not None
    assert len(waits) == 3
    at = "/api/v1/products/orchid-demo"
    assert plane.paths() == [
        f"{at}/evidence",
        f"{at}/generations",
        f"{at}/proposals",
        "/api/v1/proposals/7/submit",
    ]


def test_ci_waits_until_no_idle_second_of_the_start_is_judged(
    plane: ControlPlane, examples: Path
) -> None:
    plane.verdicts = [cost("fail")] * 2
    plane.judged_from = [OPENED, LATER]
    waits: list[float] = []
    assert ci.propose_once(plane.api(), examples / "orchid-demo", lambda line: None, waits.append)
    assert len(waits) == 1


def test_ci_proposes_the_shipped_generation_against_the_live_one(
    plane: ControlPlane, examples: Path
) -> None:
    plane.verdicts = [cost("fail")]
    ci.propose_once(plane.api(), examples / "orchid-demo", lambda line: None)
    drafted = json.loads(plane.posts[1].content)
    assert drafted["base"] == 1
    assert drafted["document"]["fleet"]["pool"] == "four"


def test_ci_that_runs_again_changes_nothing(plane: ControlPlane, examples: Path) -> None:
    plane.verdicts = [cost("fail")]
    ci.propose_once(plane.api(), examples / "orchid-demo", lambda line: None)
    done = len(plane.posts)
    assert ci.propose_once(plane.api(), examples / "orchid-demo", lambda line: None) is None
    assert len(plane.posts) == done


def test_recordings_go_whole_with_their_run_and_its_clocks(
    plane: ControlPlane, examples: Path
) -> None:
    seed.seed(plane.api(), examples / "recordings")
    kinds = [r.url.params.get("kind") for r in plane.posts if r.url.path.endswith("files")]
    assert kinds.count("triton_trace") == 10
    assert kinds.count("client_log") == 2
    assert plane.paths().count("/v1/traces") == 5
    (first, *_) = plane.posts
    assert first.url.params["server_run"] == "recording-run1"
    apart_ns = int(first.url.params["anchor_unix_ns"]) - int(
        first.url.params["anchor_monotonic_ns"]
    )
    assert apart_ns > 10**18  # the server's clock counts from the host's boot


def test_a_recording_has_the_same_batch_id_each_time(plane: ControlPlane, examples: Path) -> None:
    seed.seed(plane.api(), examples / "recordings")
    first = [request.headers["Batch-Id"] for request in plane.posts]
    plane.posts.clear()
    seed.seed(plane.api(), examples / "recordings")
    assert [request.headers["Batch-Id"] for request in plane.posts] == first
    assert len(set(first)) == len(first)
