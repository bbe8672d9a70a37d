"""`orchid emergency` and `orchid second-look`: acting alone, and what is owed for it."""

import sys
from typing import Any

import click

from orchid.cli.client import Api, Json
from orchid.cli.output import cursor_option, json_option, show
from orchid.cli.product import named, product_option
from orchid.cli.releases.moving import listing, moved, number_argument, reason_option
from orchid.cli.releases.words import proposal_words

LOOK_OWED = "Somebody else owes it a second look: orchid second-look list"


@click.group()
def emergency() -> None:
    """Act alone as an SRE; somebody else takes a second look. Only a person can."""


@emergency.command()
@number_argument
@reason_option
@click.option("--digest", help="The text that was read, by its digest; else it is asked here.")
@json_option
def publish(number: int, reason: str, digest: str | None, as_json: bool) -> None:
    """Serve proposal NUMBER to everyone at once."""
    api, at = Api(), f"/api/v1/proposals/{number}"
    found = api.get(at)
    asked = {"reason": reason, "digest": digest or _read(found)}
    done = api.post(f"{at}/emergency", asked | {"expected_version": found["version"]})
    show(done, lambda: f"{proposal_words(done)}\n{LOOK_OWED}", as_json=as_json)


def _read(found: Json) -> str:
    """The newest text, once somebody at the terminal says that it is the one."""
    digest = str(found["newest_digest"])
    click.echo(f"{proposal_words(found)}\nIts text is {digest}.", err=True)
    if not sys.stdin.isatty():
        raise click.UsageError(f"Nobody is there to read it: say --digest {digest} once it was.")
    click.confirm("\nServe this text to everyone?", abort=True, err=True)
    return digest


@emergency.command()
@click.argument("tenant")
@product_option
@click.option("--window", required=True, help="What the limit counts over: 1h, 1d, ...")
@click.option("--max-usd", help="Dollars in a window, such as 12.50.")
@click.option("--max-teu", type=int)
@click.option("--max-live-token-ms", type=int)
@click.option("--max-output-tokens", type=int)
@click.option("--max-external-calls", type=int)
@reason_option
@json_option
def cap(
    tenant: str, product: str | None, window: str, reason: str, as_json: bool, **limits: Any
) -> None:
    """Cap TENANT at once, by a generation that is what is live and this budget."""
    given = {name: value for name, value in limits.items() if value is not None}
    if not given:
        raise click.UsageError("Give at least one limit, such as --max-usd 12.50.")
    asked = {"tenant": tenant, "window": window, "reason": reason, **given}
    done = Api().post(f"/api/v1/products/{named(product)}/emergency-caps", asked)
    show(done, lambda: f"{proposal_words(done)}\n{LOOK_OWED}", as_json=as_json)


@click.group("second-look")
def second_look() -> None:
    """Look at what somebody did alone: confirm it, or take it back."""


@second_look.command("list")
@product_option
@cursor_option
@json_option
def listed(product: str | None, cursor: str | None, as_json: bool) -> None:
    """Second looks, newest first."""
    answer = Api().get("/api/v1/second-looks", product=product, cursor=cursor)
    names = ("id", "product", "kind", "publication", "state", "due_at", "actor", "reason")
    words = listing(answer, names, *names, none="Nobody acted alone.")
    show(answer, lambda: words, as_json=as_json)


@second_look.command()
@number_argument
@reason_option
@json_option
def confirm(number: int, reason: str, as_json: bool) -> None:
    """Let what was done stand. Only a person can, and not who did it."""
    _taken(number, "confirm", reason, as_json)


@second_look.command()
@number_argument
@reason_option
@json_option
def revert(number: int, reason: str, as_json: bool) -> None:
    """Take it back: what was live before is published again. Only a person can."""
    _taken(number, "revert", reason, as_json)


def _taken(number: int, move: str, reason: str, as_json: bool) -> None:
    done = moved(Api(), f"/api/v1/second-looks/{number}", move, reason=reason)
    said = f"Second look {number} at publication {done['publication']}: {done['state']}."
    show(done, lambda: said, as_json=as_json)
