"""`orchid proposal`: from the draft to the publication, and what is said on the way."""

import sys
from typing import Any

import click

from orchid.cli.client import Api, Json
from orchid.cli.output import cursor_option, json_option, show
from orchid.cli.product import product_option
from orchid.cli.releases.moving import listing, moved, number_argument, reason_option
from orchid.cli.releases.words import proposal_words, rebase_words

PASS, OPEN_CHOICES = 0, 1


@click.group()
def proposal() -> None:
    """Review and publish a proposal. `orchid propose FILE` makes one."""


@proposal.command("list")
@product_option
@click.option("--state", help="Of this state only: draft, in_review, approved, ...")
@cursor_option
@json_option
def listed(product: str | None, state: str | None, cursor: str | None, as_json: bool) -> None:
    """Proposals, newest first."""
    answer = Api().get("/api/v1/proposals", product=product, state=state, cursor=cursor)
    names = ("id", "product", "generation", "state", "round", "author", "title")
    words = listing(answer, names, *names, none="No proposal like that: orchid propose FILE.")
    show(answer, lambda: words, as_json=as_json)


@proposal.command("show")
@number_argument
@json_option
def shown(number: int, as_json: bool) -> None:
    """Show proposal NUMBER: the figures to sign, its votes, and what keeps it."""
    found = Api().get(_at(number))
    show(found, lambda: proposal_words(found), as_json=as_json)


@proposal.command()
@number_argument
@json_option
def submit(number: int, as_json: bool) -> None:
    """Begin a round of review for proposal NUMBER."""
    _moved(number, "submit", as_json)


@proposal.command()
@number_argument
@reason_option
@json_option
def withdraw(number: int, reason: str, as_json: bool) -> None:
    """Take proposal NUMBER back."""
    _moved(number, "withdraw", as_json, reason=reason)


@proposal.command()
@number_argument
@click.option("--at", "local", help="As a clock on the wall shows it: 2027-03-01T09:00.")
@click.option("--zone", help="Of that clock: Europe/Berlin.")
@click.option("--which", type=click.Choice(["first", "second"]), help="Of an hour that comes twice")
@click.option("--lift", is_flag=True, help="Take the time away again.")
@json_option
def schedule(
    number: int,
    local: str | None,
    zone: str | None,
    which: str | None,
    lift: bool,
    as_json: bool,
) -> None:
    """Give proposal NUMBER a time in a named zone. Another time is another round of review."""
    if lift == bool(local) or bool(local) != bool(zone):
        raise click.UsageError("Give --at with its --zone, or --lift.")
    asked = {"local": local or "", "zone": zone or "", "which": which or ""}
    _moved(number, "schedule", as_json, **asked)


@proposal.command()
@number_argument
@click.option("--mine", multiple=True, metavar="POINTER", help="Keep the proposal's; repeatable.")
@click.option("--theirs", multiple=True, metavar="POINTER", help="Take what is live; repeatable.")
@click.option("--look", is_flag=True, help="Only show what it comes to.")
@json_option
def rebase(
    number: int, mine: tuple[str, ...], theirs: tuple[str, ...], look: bool, as_json: bool
) -> int:
    """Bring proposal NUMBER onto what became live since.

    Exit code 1: both sides changed the same places, which are listed; choose for each.
    """
    api, at = Api(), _at(number)
    found = api.get(f"{at}/rebase")
    choices = dict.fromkeys(mine, "mine") | dict.fromkeys(theirs, "theirs")
    left = [one for one in found["collisions"] if one["pointer"] not in choices]
    if look or left or not found["is_due"]:
        show(found, lambda: rebase_words(number, found, left), as_json=as_json)
        return OPEN_CHOICES if left else PASS
    done = moved(api, at, "rebase", choices=choices)
    show(done, lambda: proposal_words(done), as_json=as_json)
    return PASS


@proposal.command()
@number_argument
@reason_option
@click.option("--bound", help="Digest of what was read (`proposal show`); else it is asked.")
@json_option
def approve(number: int, reason: str, bound: str | None, as_json: bool) -> None:
    """Sign the figures of proposal NUMBER, after they are shown. Only a person can."""
    _voted(number, "approve", reason, bound, as_json)


@proposal.command()
@number_argument
@reason_option
@click.option("--bound", help="Digest of what was read (`proposal show`); else it is asked.")
@json_option
def reject(number: int, reason: str, bound: str | None, as_json: bool) -> None:
    """Reject proposal NUMBER with a reason; one rejection ends its round. Only a person can."""
    _voted(number, "reject", reason, bound, as_json)


@proposal.command()
@number_argument
@click.argument("text", required=False)
@cursor_option
@json_option
def comment(number: int, text: str | None, cursor: str | None, as_json: bool) -> None:
    """Say TEXT about proposal NUMBER; without it, read what was said."""
    api, at = Api(), f"{_at(number)}/comments"
    answer = api.post(at, {"text": text}) if text else api.get(at, cursor=cursor)
    shown = {"items": [answer], "next_cursor": ""} if text else answer
    words = listing(
        shown, ("round", "who", "at", "said"), "round", "author", "at", "text", none="Nothing yet."
    )
    show(answer, lambda: words, as_json=as_json)


@proposal.command()
@number_argument
@json_option
def publish(number: int, as_json: bool) -> None:
    """Publish the approved proposal NUMBER: a new admission generation."""
    _moved(number, "publish", as_json)


@proposal.command()
@number_argument
@json_option
def card(number: int, as_json: bool) -> int:
    """Show the review card of NUMBER: each question with its computed answer, and the proofs.

    Exit code 1: required evidence is missing, so that nobody can approve it.
    """
    found = Api().get(f"{_at(number)}/card")
    lines = [f"{one['question']}\n  {one['said']}" for one in found["answers"]]
    if found["blockers"]:
        lines.append(f"Missing, and no approval without it: {', '.join(found['blockers'])}.")
    show(found, lambda: "\n".join(lines), as_json=as_json)
    return OPEN_CHOICES if found["blockers"] else PASS


@proposal.command()
@number_argument
@json_option
def record(number: int, as_json: bool) -> None:
    """Print the decision record of NUMBER as Markdown, or as JSON."""
    found = Api().get(f"{_at(number)}/record")
    show(found, lambda: str(found["markdown"]).rstrip(), as_json=as_json)


def _at(number: int) -> str:
    return f"/api/v1/proposals/{number}"


def _moved(number: int, move: str, as_json: bool, **body: Any) -> None:
    done = moved(Api(), _at(number), move, **body)
    show(done, lambda: proposal_words(done), as_json=as_json)


def _voted(number: int, decision: str, reason: str, bound: str | None, as_json: bool) -> None:
    """The vote on what was read: by its digest, or shown now and agreed to at the terminal."""
    api, at = Api(), _at(number)
    found = api.get(at)
    body = {
        "decision": decision,
        "reason": reason,
        "bound_digest": bound or _agreed(found, decision),
        "expected_version": found["version"],
    }
    done = api.post(f"{at}/vote", body)
    show(done, lambda: proposal_words(done), as_json=as_json)


def _agreed(found: Json, decision: str) -> str:
    click.echo(proposal_words(found), err=True)
    if not sys.stdin.isatty():
        raise click.UsageError(
            f"Nobody is there to read it: say --bound {found['bound_digest']} once it was read."
        )
    click.confirm(f"\n{decision.capitalize()} these figures?", abort=True, err=True)
    return str(found["bound_digest"])
