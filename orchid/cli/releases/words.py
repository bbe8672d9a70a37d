"""Proposals and rollouts in words: what is asked, by what it stands, what comes next."""

import json
from collections.abc import Iterator
from typing import Any

from orchid.cli.client import Json
from orchid.cli.gate_words import with_names
from orchid.cli.output import short, table

NEXT = {
    "draft": "orchid proposal submit {id}",
    "in_review": "orchid proposal approve {id} --reason ...",
    "approved": "orchid proposal publish {id}",
    "published": "orchid rollout show --product {product}",
}
LONGEST_VALUE = 60


def proposal_words(found: Json) -> str:
    """The proposal, the sentence that an approver signs, its votes and what keeps it."""
    return "\n".join(_proposal(found))


def _proposal(found: Json) -> Iterator[str]:
    state = found["state"].replace("_", " ")
    yield f"Proposal {found['id']}: {found['title']} ({state}, round {found['round']})"
    yield (
        f"Generation {found['generation']} of {found['product']}"
        f" ({short(found['revision_digest'])}), by {found['author']}"
    )
    if found["signed"]:
        yield f"To sign: {found['signed']}"
    if found["required"]:
        yield f"Approvals it needs: {_required(found['required'])}"
    yield from (_vote(one) for one in found["votes"] if not one["void"])
    if found["publish_local"]:
        yield f"Its time: {found['publish_local']} {found['publish_zone']}"
    if found["returned_why"]:
        yield f"Returned: {found['returned_why']}."
    yield from (f"Kept by {one['code']}: {one['detail']}" for one in found["hindrances"])
    yield f"Bound digest: {found['bound_digest']}"
    if found["is_behind"]:
        yield "Something else became live since it was begun, and would be taken back."
        yield f"Next: orchid proposal rebase {found['id']}"
    elif found["state"] in NEXT:
        yield f"Next: {NEXT[found['state']].format(**found)}"


def _required(required: dict[str, int]) -> str:
    return ", ".join(f"{count} {role.replace('_', ' ')}" for role, count in required.items())


def _vote(vote: Json) -> str:
    role = vote["role"].replace("_", " ") or "no role asked"
    return f"  {vote['user']} ({role}): {vote['decision']}, {vote['reason']}"


def rebase_words(number: int, found: Json, left: list[Json]) -> str:
    """What a rebase comes to, or where somebody has to choose."""
    if not found["is_due"]:
        return "Nothing else became live since it was begun: there is nothing to rebase."
    if not left:
        return f"It merges onto {short(found['theirs'])}: orchid proposal rebase {number}"
    head = ("pointer", "before", "mine", "theirs")
    rows = [
        (one["pointer"], *(_value(one[side]) for side in ("base", "mine", "theirs")))
        for one in left
    ]
    said = "Both sides changed these. Choose for each: --mine POINTER or --theirs POINTER."
    return f"{table(head, rows)}\n{said}"


def _value(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"


def rollout_words(found: Json) -> str:
    """The rollout with what keeps each segment; the details are there while it is open."""
    return "\n".join(_rollout(found))


def _rollout(found: Json) -> Iterator[str]:
    state = found["state"].replace("_", " ")
    yield (
        f"Rollout {found['id']} of publication {found['publication']} in {found['product']}:"
        f" {state}, stage {found['stage_index'] + 1}"
    )
    if found["reason"]:
        yield f"Because: {found['reason']}"
    for lane in found.get("segments", []):
        held = ", held back" if lane["held"] else ""
        yield (
            f"\n{lane['segment'] or 'Everything'}: stage {lane['stage'] + 1},"
            f" {100 * lane['fraction']:g} % of requests{held}"
        )
        yield table(("condition", "met", "now", "asked"), _conditions(lane["conditions"]))


def _conditions(conditions: list[Json]) -> list[tuple[object, ...]]:
    return [
        (
            with_names(one["said"]) or one["name"],
            "yes" if one["met"] else "no",
            one["now"],
            one["asked"],
        )
        for one in conditions
    ]
