"""`orchid rollout`: where a published candidate stands, and the moves on it."""

import time
from collections.abc import Callable
from typing import Any

import click

from orchid.cli.client import Api, Json
from orchid.cli.output import cursor_option, json_option, show
from orchid.cli.product import named, product_option
from orchid.cli.releases.moving import listing, moved, reason_option
from orchid.cli.releases.words import rollout_words

PASS, FAIL, NOT_YET = 0, 1, 2
EXIT = {"completed": PASS, "rolled_back": FAIL}
OPEN = ("running", "paused")
ASK_EVERY_S = 2.0
which_argument = click.argument("number", type=click.IntRange(min=1), required=False)
segment_option = click.option("--segment", required=True, help="As task=chat.")


@click.group()
def rollout() -> None:
    """Look at a rollout and move it. Without a NUMBER the open one of the product is meant."""


@rollout.command("list")
@product_option
@cursor_option
@json_option
def listed(product: str | None, cursor: str | None, as_json: bool) -> None:
    """Rollouts, newest first."""
    answer = Api().get("/api/v1/rollouts", product=product, cursor=cursor)
    names = ("id", "product", "publication", "state", "stage_index", "created_at", "reason")
    words = listing(answer, names, *names, none="Nothing was rolled out yet.")
    show(answer, lambda: words, as_json=as_json)


@rollout.command("show")
@which_argument
@product_option
@json_option
def shown(number: int | None, product: str | None, as_json: bool) -> None:
    """Show each segment's stage, and every condition with its number."""
    api = Api()
    found = api.get(_at(api, number, product))
    show(found, lambda: rollout_words(found), as_json=as_json)


@rollout.command()
@which_argument
@product_option
@click.option("--timeout", type=click.FloatRange(min=0), default=600.0, show_default=True)
@json_option
def wait(number: int | None, product: str | None, timeout: float, as_json: bool) -> int:
    """Wait for the end of a rollout, so many seconds at most.

    Exit code 0: completed, 1: rolled back, 2: still on its way or paused.
    """
    api = Api()
    found = waited(api, _at(api, number, product), timeout)
    show(found, lambda: rollout_words(found), as_json=as_json)
    return EXIT.get(found["state"], NOT_YET)


@rollout.command()
@which_argument
@product_option
@json_option
def advance(number: int | None, product: str | None, as_json: bool) -> None:
    """Enter the next stage now; refused unless everything that it waits for holds."""
    _moved(number, product, "advance", as_json)


@rollout.command()
@which_argument
@product_option
@reason_option
@json_option
def pause(number: int | None, product: str | None, reason: str, as_json: bool) -> None:
    """Stop where it stands; the exposure stays."""
    _moved(number, product, "pause", as_json, reason=reason)


@rollout.command()
@which_argument
@product_option
@reason_option
@json_option
def resume(number: int | None, product: str | None, reason: str, as_json: bool) -> None:
    """Go on; the stage begins its hold and its evidence anew."""
    _moved(number, product, "resume", as_json, reason=reason)


@rollout.command()
@which_argument
@product_option
@reason_option
@json_option
def approve(number: int | None, product: str | None, reason: str, as_json: bool) -> None:
    """Say yes to the next stage, where the document asks a person. Only a person can."""
    _moved(number, product, "approve", as_json, reason=reason)


@rollout.command("hold-back")
@which_argument
@product_option
@segment_option
@reason_option
@json_option
def hold_back(
    number: int | None, product: str | None, segment: str, reason: str, as_json: bool
) -> None:
    """Keep one gated segment where it stands while the rest goes on."""
    _moved(number, product, "hold-back", as_json, segment=segment, reason=reason)


@rollout.command("let-go")
@which_argument
@product_option
@segment_option
@reason_option
@json_option
def let_go(
    number: int | None, product: str | None, segment: str, reason: str, as_json: bool
) -> None:
    """Let one gated segment go on by its own verdicts."""
    _moved(number, product, "let-go", as_json, segment=segment, reason=reason)


@rollout.command()
@which_argument
@product_option
@click.option("--evaluation", type=click.IntRange(min=1), required=True, help="The judgement read.")
@reason_option
@json_option
def override(
    number: int | None, product: str | None, evaluation: int, reason: str, as_json: bool
) -> None:
    """Ask that an inconclusive judgement hold nothing up; a second person confirms it."""
    api = Api()
    asked = {"evaluation": evaluation, "reason": reason}
    made = api.post(f"{_at(api, number, product)}/overrides", asked)
    show(made, lambda: override_words(made), as_json=as_json)


@rollout.command("confirm-override")
@click.argument("override", type=click.IntRange(min=1))
@json_option
def confirm_override(override: int, as_json: bool) -> None:
    """Confirm OVERRIDE, which somebody else asked for. Only a person can."""
    done = moved(Api(), f"/api/v1/overrides/{override}", "confirm")
    show(done, lambda: override_words(done), as_json=as_json)


@rollout.command()
@product_option
@json_option
def shadow(product: str | None, as_json: bool) -> None:
    """Tell how often the candidate decides as the incumbent does."""
    found = Api().get(f"/api/v1/products/{named(product)}/shadow")
    show(found, lambda: shadow_words(found), as_json=as_json)


def waited(
    api: Api, at: str, timeout_s: float, clock: Callable[[], float] = time.monotonic
) -> Json:
    """The rollout once it is over, or as it stands when the time is."""
    until = clock() + timeout_s
    while True:
        found = api.get(at)
        left = until - clock()
        if found["state"] not in OPEN or left <= 0:
            return found
        api.pause(min(ASK_EVERY_S, left))


def override_words(found: Json) -> str:
    by = f", confirmed by {found['confirmed_by']}" if found["confirmed_by"] else ""
    after = "" if by else f"\nNext, somebody else: orchid rollout confirm-override {found['id']}"
    said = f"Override {found['id']} of judgement {found['evaluation']}: {found['standing']}"
    return f"{said}; asked by {found['asked_by']}{by}.{after}"


def shadow_words(found: Json) -> str:
    """Agreement in numbers: a share alone says nothing of how many it is of."""
    if found["share"] is None:
        return f"Publication {found['publication']}: no decision was made twice yet."
    lines = [
        f"Publication {found['publication']} ({found['mode']}): {100 * found['share']:.2f} % of"
        f" {found['decisions']:,} decisions agree, {found['disagreements']:,} differ."
    ]
    lines += [f"  {name}: {count:,}" for name, count in found["by_kind"].items()]
    return "\n".join(lines)


def _moved(number: int | None, product: str | None, move: str, as_json: bool, **body: Any) -> None:
    api = Api()
    at = _at(api, number, product)
    moved(api, at, move, **body)
    found = api.get(at)
    show(found, lambda: rollout_words(found), as_json=as_json)


def _at(api: Api, number: int | None, product: str | None) -> str:
    """The rollout by its number, else the one of the product that is open, else its newest."""
    if number:
        return f"/api/v1/rollouts/{number}"
    slug = named(product)
    rows = api.get("/api/v1/rollouts", product=slug)["items"]
    if not rows:
        raise click.ClickException(
            f"Nothing of {slug} was rolled out yet. What was published to everybody at once is "
            f"listed by: orchid publications --product {slug}"
        )
    still_open = [row for row in rows if row["state"] in OPEN]
    return f"/api/v1/rollouts/{(still_open or rows)[0]['id']}"
