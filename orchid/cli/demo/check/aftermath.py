"""Step 8: the SRE rolls back, what had begun ends as it began, and the trail shows every act."""

from datetime import UTC, datetime, timedelta
from itertools import takewhile

import httpx

from orchid.cli.client import Json
from orchid.cli.demo.check.doors import succeeded, words
from orchid.cli.demo.check.story import AT, PRODUCT, Story, expect

REASON = "A drill: back to the full model"
# Who must be found to have done what, with a digest.
ACTS = {
    "evidence.pushed": "ci",
    "proposal.created": "ci",
    "proposal.submit": "ci",
    "proposal.vote": "dee",
    "proposal.publish": "dee",
}


def sre_rolls_back(story: Story) -> str:
    """Two clicks and a reason, in the browser, while a request is under way."""
    window = story.windows.of("dee")
    window.shoot(f"/products/{PRODUCT}/gates/", "gates")
    page = window.visit(f"/products/{PRODUCT}/")
    page.get_by_role("link", name="Roll back").click()
    page.get_by_label("Reason").fill(REASON)
    story.held = story.site.until("a request of our own", 15, lambda: _begun(story))
    page.get_by_role("button", name="Roll back now").click()
    page.wait_for_url("**/products/orchid-demo/**")
    speed = story.followed(3)
    first, last = _publication(story, 1), _publication(story, 3)
    expect(last["kind"] == "rollback", f"publication 3 is a {last['kind']}")
    expect(last["incumbent_digest"] == first["incumbent_digest"], "3 doesn't serve what 1 did")
    return speed


def _publication(story: Story, number: int) -> Json:
    found = story.ci.get(f"{AT}/publications")["items"]
    return next(one for one in found if one["number"] == number)


def begun_ends_as_it_began(story: Story) -> str:
    """What was under way at the rollback ended under generation 2 and is counted there."""
    moment = story.activated[3]
    _end(story, story.held)
    rows = story.site.until("records after the rollback", 30, lambda: _settled(story, moment))
    second = _digest_of_second(story)
    across = [one for one in rows if one["publication"] == 2 and _ends(one) > moment]
    held = [one for one in across if story.held["attempt_id"] in one["attempt_ids"]]
    expect(len(held) == 1, "the request that was held over the rollback is not told of")
    expect(all(one["digest"] == second for one in across), "a request changed its generation")
    ended = {one["outcome"] for one in across}
    expect(ended == {"completed"}, f"requests under way ended as {sorted(ended)}")
    late = [one for one in rows if one["publication"] == 2 and _begins(one) > moment + SLACK]
    expect(not late, f"{len(late)} requests began under 2 after the edge had left it")
    story.windows.of("dee").shoot(f"/products/{PRODUCT}/edges/", "edges")
    counted = story.site.until("2's requests to be counted", 30, lambda: _counted(story))
    return f"{len(across)} under way at the rollback ended under 2; {counted}"


def _begun(story: Story) -> Json | None:
    """A request of our own, admitted and not yet ended; None while the edge has no room."""
    now = datetime.now(UTC)
    asked = {
        "request_id": f"held-{now.timestamp()}",
        "tenant": "check",
        "tenant_class": "premium",
        "class": "long_assistant",
        "input_tokens": 200,
        "max_output_tokens": 50,
        "deadline_ms": HELD_MS,
        "arrived_at": now.isoformat(),
    }
    answer = httpx.post(f"{story.site.edge_url}/v1/admit", json=asked)
    if answer.status_code == 503 or answer.status_code == 429:
        return None
    admitted: Json = succeeded(answer).json()
    expect(admitted["publication"] == 2, f"admitted under {admitted['publication']}, not 2")
    return {**admitted, "began": now}


def _end(story: Story, held: Json) -> None:
    took_ms = (datetime.now(UTC) - held["began"]).total_seconds() * 1e3
    ended = {
        "attempt_id": held["attempt_id"],
        "status": "completed",
        "output_tokens": 40,
        "completion_ms": took_ms,
        "policy_valid": True,
        "schema_valid": True,
    }
    answer = succeeded(httpx.post(f"{story.site.edge_url}/v1/settle", json=ended)).json()
    expect(answer["settled"] is True, f"the held request can't be settled: {answer}")


HELD_MS = 60_000
SLACK = timedelta(milliseconds=500)  # arrival is the intended moment, admission comes after it


def _settled(story: Story, moment: datetime) -> list[Json] | None:
    """The requests around the moment, once the edge has told all up to 3 s after it."""
    sources = story.ci.get("/api/v1/ingest/sources")["results"]
    told = [one["watermark"] for one in sources if one["kind"] == "edge" and one["watermark"]]
    if not told or datetime.fromisoformat(min(told)) < moment + timedelta(seconds=3):
        return None
    newest = story.ci.pages("/api/v1/ingest/requests", 10_000)
    return list(takewhile(lambda row: _begins(row) > moment - timedelta(seconds=5), newest))


def _begins(row: Json) -> datetime:
    return datetime.fromisoformat(row["arrived_at"])


def _ends(row: Json) -> datetime:
    return _begins(row) + timedelta(milliseconds=row["completion_ms"] or 0)


def _digest_of_second(story: Story) -> str:
    return str(story.ci.get(f"/api/v1/proposals/{story.proposal}")["revision_digest"])


def _counted(story: Story) -> str | None:
    """The closed window of publication 2 holds exactly the requests that name it."""
    rows = story.ci.pages("/api/v1/ingest/requests", 10_000)
    listed = sum(one["publication"] == 2 for one in rows)
    evaluation = story.ci.get(f"{AT}/verdicts", publication=2)
    offered = evaluation["figures"]["whole"]["populations"]["offered"]
    return f"its gates count all {offered} of its requests" if offered == listed else None


def trail_shows_every_act(story: Story) -> str:
    """Eve reads who did what, on which content, and why."""
    eve = story.person("eve")
    answer = eve.client.get("/api/v1/audit", params={"product": PRODUCT}).json()
    acts: list[Json] = answer["results"]
    for action, actor in ACTS.items():
        mine = [one for one in acts if one["action"] == action and actor in one["actor"]]
        expect(bool(mine), f"the trail lacks {action} by {actor}")
        expect(all(one["digest_after"] for one in mine), f"{action} names no digest")
    votes = {one["actor"] for one in acts if one["action"] == "proposal.vote"}
    expect(votes == {"ben", "dee"}, f"votes in the trail are by {votes}")
    back = [one for one in acts if one["action"].endswith(".rollback") and one["reason"] == REASON]
    expect(len(back) == 1 and back[0]["actor"] == "dee", f"the rollback in the trail: {back}")
    page = words(eve.page("/audit/"))
    for one in acts[:20]:
        expect(one["action"] in page, f"the Audit page doesn't show {one['action']}")
    return f"{len(acts)} acts, each with actor and digest; eve reads them"
