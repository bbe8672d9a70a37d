"""`orchid edge list|register|rotate|revoke|retire|share`: the edges of a product, over REST."""

from pathlib import Path
from typing import Any
from urllib.parse import quote

import click

from orchid.cli.client import Api, Json
from orchid.cli.output import cursor_option, json_option, more, show, table
from orchid.cli.product import named, product_option
from orchid.cli.releases.moving import reason_option

name_argument = click.argument("name")
PEM = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("list")
@product_option
@cursor_option
@json_option
def listed(product: str | None, cursor: str | None, as_json: bool) -> None:
    """What each edge is wanted on, what it runs, and its share of the traffic."""
    answer = Api().get("/api/v1/edges", product=product, cursor=cursor)
    show(answer, lambda: edges_table(answer["items"]) + more(answer), as_json=as_json)


@click.command()
@name_argument
@product_option
@click.option(
    "--certificate",
    type=PEM,
    help="PEM file of a client certificate; without one the edge gets a token.",
)
@json_option
def register(name: str, product: str | None, certificate: Path | None, as_json: bool) -> None:
    """Register the edge NAME; its token is printed this once."""
    wanted = {"name": name, **_pem(certificate)}
    made = Api().post(f"/api/v1/products/{named(product)}/edges", wanted)
    show(made, lambda: issued_words(made), as_json=as_json)


@click.command()
@name_argument
@product_option
@click.option(
    "--overlap",
    "overlap_s",
    type=click.IntRange(min=0),
    default=86_400,
    show_default=True,
    help="Seconds for which what it shows now still counts.",
)
@click.option("--certificate", type=PEM, help="PEM file of the certificate that it shows next.")
@reason_option
@json_option
def rotate(
    name: str,
    product: str | None,
    overlap_s: int,
    certificate: Path | None,
    reason: str,
    as_json: bool,
) -> None:
    """Give the edge NAME a new token, printed this once, or its next certificate."""
    api, at = Api(), f"/api/v1/products/{named(product)}/edges/{quote(name)}"
    newest = api.get(at)["credentials"][0]["id"]
    asked = {"credential": newest, "overlap_s": overlap_s, "reason": reason}
    made = api.post(f"{at}/rotate", {**asked, **_pem(certificate)})
    show(made, lambda: issued_words(made), as_json=as_json)


@click.command()
@name_argument
@product_option
@reason_option
@json_option
def revoke(name: str, product: str | None, reason: str, as_json: bool) -> None:
    """End all that the edge NAME shows, at once; it is still waited for."""
    said = f"{name} is let in no longer. Once it is stopped: orchid edge retire {name}"
    _told(name, product, "revoke", said, as_json, reason=reason)


@click.command()
@name_argument
@product_option
@click.option("--abandon", is_flag=True, help="Though it holds sequences, or may: they are noted.")
@reason_option
@json_option
def retire(name: str, product: str | None, abandon: bool, reason: str, as_json: bool) -> None:
    """Take the edge NAME out of service: nothing waits for it any more."""
    said = f"{name} is out of service."
    _told(name, product, "retire", said, as_json, reason=reason, abandon=abandon)


@click.command()
@name_argument
@click.argument("weight", type=click.FloatRange(min=0))
@product_option
@reason_option
@json_option
def share(name: str, weight: float, product: str | None, reason: str, as_json: bool) -> None:
    """Declare WEIGHT for the edge NAME, which counts where no traffic was measured."""
    said = f"{name} weighs {weight:g}."
    _told(name, product, "share", said, as_json, share=weight, reason=reason)


def edges_table(rows: list[Json]) -> str:
    if not rows:
        return "No edge is registered: orchid edge register NAME."
    head = ("edge", "product", "wanted", "active", "standing", "share", "last seen", "reason")
    shown = [
        (
            one["name"],
            one["product"],
            one["wanted"],
            one["active"],
            one["standing"],
            f"{100 * one['share']:.1f} %",
            one["last_seen"],
            one["reason"],
        )
        for one in rows
    ]
    return table(head, shown)


def issued_words(made: Json) -> str:
    until = f", good until {made['expires_at']}" if made["expires_at"] else ""
    said = f"Credential {made['credential']} of {made['name']}{until}."
    if not made["token"]:
        return f"{said} It is known by its certificate."
    return (
        f"{said}\nIts token, shown this once; the edge takes it as ORCHID_TOKEN:\n{made['token']}"
    )


def _pem(certificate: Path | None) -> Json:
    return {"certificate": certificate.read_text()} if certificate else {}


def _told(name: str, product: str | None, act: str, said: str, as_json: bool, **body: Any) -> None:
    at = f"/api/v1/products/{named(product)}/edges/{quote(name)}/{act}"
    answer = Api().post(at, body)
    show(answer, lambda: said, as_json=as_json)
