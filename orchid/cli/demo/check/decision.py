"""Steps 5 to 7: CI proposes, people decide, the edge follows, gates judge what it then served."""

import json
from pathlib import Path

from orchid.cli.client import Api, Json
from orchid.cli.demo import ci
from orchid.cli.demo.check.browser import Window
from orchid.cli.demo.check.site import StepError
from orchid.cli.demo.check.story import AT, PRODUCT, Story, expect

EXAMPLES = Path("examples/orchid-demo")
SEGMENTS = ("assistant-standard", "assistant-premium", "extraction")
REASON = "Every floor holds and two devices are saved"
PROPOSALS = f"/products/{PRODUCT}/proposals"


def ci_proposes(story: Story) -> str:
    """Evidence and a proposal by token; neither CI nor the token's owner can approve it."""
    made = ci.propose_once(Api(), EXAMPLES, lambda line: None)
    if made is None:
        raise StepError("generation 2 was proposed before")
    story.proposal = int(made["id"])
    expect(made["state"] == "in_review", f"the proposal is {made['state']}")
    expect(made["required"] == {"product_owner": 1, "sre": 1}, f"it asks {made['required']}")
    cells = len(json.loads((EXAMPLES / "evidence.json").read_text())["evidence"])
    stored = story.ci.get(f"{AT}/evidence")["results"]
    expect(len(stored) >= cells, f"{len(stored)} of {cells} pieces of evidence are stored")
    _authors_cannot_approve(story, made)
    return f"proposal {story.proposal} on {cells} pieces of evidence; ana and CI can't approve it"


def _authors_cannot_approve(story: Story, made: Json) -> None:
    """Refused on the page, at the page's own address, and by the API: for ana and for CI."""
    page, vote = f"{PROPOSALS}/{story.proposal}/", f"/api/v1/proposals/{story.proposal}/vote"
    ballot = {"decision": "approve", "reason": "mine", "bound_digest": made["bound_digest"]}
    ana = story.person("ana")
    expect('value="approve"' not in ana.page(page), "ana is offered a vote on her own proposal")
    answers = {
        "ana by page": ana.submit(page, to=f"{page}vote", **ballot),
        "ana by API": ana.post(vote, ballot),
        "CI by API": story.ci.post(vote, ballot),
    }
    for who, answer in answers.items():
        expect(answer.status_code == 403, f"{who}: {answer.status_code}, not 403")
    votes = story.ci.get(f"/api/v1/proposals/{story.proposal}")["votes"]
    expect(votes == [], f"votes were counted: {votes}")


def owner_decides(story: Story) -> str:
    """Ben sees the whole case in a browser and approves with a reason."""
    window = story.windows.of("ben")
    window.shoot(f"{PROPOSALS}/{story.proposal}/", "proposal")
    shown = _sees_the_case(window, f"{PROPOSALS}/{story.proposal}/")
    window.page.get_by_label("Reason", exact=True).fill(REASON)
    window.page.get_by_role("button", name="Approve").click()
    window.page.get_by_text("Your vote counts").wait_for()
    return f"ben saw {shown} and approved"


def _sees_the_case(window: Window, path: str) -> str:
    """Words, trade, frontier, segments against floors, evidence. Says what the trade was."""
    page = window.visit(path)
    changes = page.locator("section[aria-labelledby=changes] li").all_inner_texts()
    expect(any("device" in line for line in changes), f"the words of the change: {changes}")
    rows = page.get_by_role("region", name="The trade").locator("tbody tr").all_inner_texts()
    expect(len(rows) >= 3, f"the trade has {len(rows)} figures")
    expect(all("unknown" not in row for row in rows), f"the trade lacks figures: {rows}")
    floors = page.get_by_role("region", name="Segments against their floors").inner_text()
    expect(all(name in floors for name in SEGMENTS), f"segments against floors: {floors}")
    page.locator("#frontier-head").scroll_into_view_if_needed()
    page.locator(
        "section[aria-labelledby=frontier-head] .plot__canvas svg.main-svg"
    ).first.wait_for()
    evidence = page.get_by_role("region", name="Evidence").locator("tbody tr").count()
    expect(evidence > 0, "no evidence is shown")
    return (
        f"{len(changes)} changes in words, {len(rows)} figures of the trade, the frontier,"
        f" {len(SEGMENTS)} floors, {evidence} pieces of evidence"
    )


def second_approves(story: Story) -> str:
    """Dee approves the capacity by the form, without JavaScript."""
    page, dee = f"{PROPOSALS}/{story.proposal}/", story.person("dee")
    ballot = {"decision": "approve", "reason": "Four devices carry it with a group lost"}
    answer = dee.submit(page, to=f"{page}vote", **ballot)
    expect(answer.status_code == 302, f"dee's vote: {answer.status_code}")
    found = story.ci.get(f"/api/v1/proposals/{story.proposal}")
    expect(found["state"] == "approved", f"the proposal is {found['state']}")
    voters = {(one["user"], one["role"]) for one in found["votes"]}
    expect(voters == {("ben", "product_owner"), ("dee", "sre")}, f"votes are {voters}")
    return "dee approved as SRE; both votes name the same content"


def edge_follows(story: Story) -> str:
    """Publishing makes admission generation 2; the edge decides by it and falls back."""
    page = f"{PROPOSALS}/{story.proposal}/"
    answer = story.person("dee").submit(page, to=f"{page}publish")
    expect(answer.status_code == 302, f"publishing: {answer.status_code}")
    speed = story.followed(2)
    fallbacks = story.site.until("a fallback", 20, lambda: _fallbacks(story))
    return f"{speed}; {fallbacks}"


def _fallbacks(story: Story) -> str | None:
    rows = list(story.ci.pages("/api/v1/ingest/requests", 200))
    second = [one for one in rows if one["publication"] == 2]
    back = [one for one in second if one["action"] == "fallback" and one["route"] == "compact"]
    return f"{len(back)} of its first {len(second)} requests fall back" if back else None


def second_passes(story: Story) -> str:
    """Every gate of generation 2 passes, as a whole and by segment, on its own requests."""
    # Pictures that need no verdict are taken while there is none.
    for name, path in (("dashboard", "/"), ("rollback", f"/products/{PRODUCT}/rollback/")):
        story.windows.of("dee").shoot(path, name)
    answer = story.site.until("a pass of every gate of generation 2", 75, lambda: _passed(story))
    evaluation = answer["evaluation"]
    expect(evaluation["window"]["publication"] == 2, "judged on requests of another publication")
    opened = evaluation["window"]["opens_at"]
    expect(opened >= story.activated[2].strftime("%Y-%m-%dT%H:%M:%S"), f"opened {opened}")
    whole = {one["metric"]: one for one in evaluation["verdicts"] if not one["segment"]}
    count = len(evaluation["verdicts"])
    return (
        f"{count} verdicts pass on {whole['attainment']['n']} requests: p95"
        f" {whole['completion_p95_ms']['value']} ms, ${whole['cost_per_success_usd']['value']} a"
        f" success, utility {whole['utility']['value']}"
    )


def _passed(story: Story) -> Json | None:
    answer = story.ci.get(f"{AT}/check", generation=2)
    if answer["verdict"] == "fail":
        raise StepError(f"generation 2 fails: {'; '.join(answer['reasons'])}")
    return answer if answer["verdict"] == "pass" else None
