"""`orchid webhook`: who is told of what waits, of breaches, rollbacks and alarms of edges."""

import click

from orchid.cli.client import Api, Json
from orchid.cli.output import cursor_option, json_option, show
from orchid.cli.product import named, product_option
from orchid.cli.releases.moving import listing, number_argument

KINDS = ("waits", "breach", "rollback", "alarm")


@click.group()
def webhook() -> None:
    """Tell an address what waits, breaches, rolls back and alarms. For product owners."""


@webhook.command("list")
@product_option
@cursor_option
@json_option
def listed(product: str | None, cursor: str | None, as_json: bool) -> None:
    """The addresses in force."""
    answer = Api().get(_at(product), cursor=cursor)
    names = ("id", "url", "kinds", "created_by", "created_at")
    words = listing(answer, names, *names, none="Nobody is told: orchid webhook add URL.")
    show(answer, lambda: words, as_json=as_json)


@webhook.command()
@click.argument("url")
@product_option
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice(KINDS),
    default=KINDS,
    help="Of this only; repeatable. Default: of all.",
)
@json_option
def add(url: str, product: str | None, kinds: tuple[str, ...], as_json: bool) -> None:
    """Tell URL from now on; the secret that signs is printed this once."""
    made = Api().post(_at(product), {"url": url, "kinds": list(kinds)})
    show(made, lambda: made_words(made), as_json=as_json)


@webhook.command()
@number_argument
@product_option
@json_option
def end(number: int, product: str | None, as_json: bool) -> None:
    """Tell webhook NUMBER nothing more."""
    answer = Api().post(f"{_at(product)}/{number}/end", {})
    show(answer, lambda: f"Webhook {number} is told nothing more.", as_json=as_json)


def made_words(made: Json) -> str:
    said = f"Webhook {made['id']} tells {made['url']} of {', '.join(made['kinds'])}."
    return f"{said}\nThe secret that signs, shown this once:\n{made['secret']}"


def _at(product: str | None) -> str:
    return f"/api/v1/products/{named(product)}/webhooks"
