"""`orchid propose`: a change of what is live."""

from pathlib import Path

import click

from orchid.cli.client import Api, Json
from orchid.cli.output import json_option, short, show
from orchid.cli.policy import loaded
from orchid.cli.product import named, product_option

file_argument = click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))


@click.command()
@file_argument
@product_option
@click.option("--title", required=True, help="What changes, in a line.")
@click.option("--rationale", default="", help="Why, for those who approve it.")
@click.option("--base", type=int, help="Number of the generation that it changes.")
@click.option("--submit/--draft", default=True, show_default=True, help="Ask for approval now.")
@json_option
def propose(
    file: Path,
    product: str | None,
    title: str,
    rationale: str,
    base: int | None,
    submit: bool,
    as_json: bool,
) -> None:
    """Draft a generation from the document FILE and propose it for publication."""
    document = loaded(file)
    slug, api = named(product, document.document.product), Api()
    proposal = proposed(api, slug, document.given, title, rationale, base)
    if submit:
        proposal = submitted(api, proposal)
    show(proposal, lambda: proposal_text(proposal), as_json=as_json)


def proposed(
    api: Api, slug: str, given: Json, title: str, rationale: str, base: int | None
) -> Json:
    """The proposal to publish a new generation with this document; nobody is asked yet."""
    at = f"/api/v1/products/{slug}"
    body: Json = {"title": title, "document": given}
    drafted = api.post(f"{at}/generations", body | ({"base": base} if base else {}))
    asked = {"generation": drafted["generation"], "title": title, "rationale": rationale}
    return api.post(f"{at}/proposals", asked)


def submitted(api: Api, proposal: Json) -> Json:
    """The proposal after its approvers were asked."""
    version = {"expected_version": proposal["version"]}
    return api.post(f"/api/v1/proposals/{proposal['id']}/submit", version)


def proposal_text(proposal: Json) -> str:
    needed = ", ".join(f"{count} {role}" for role, count in proposal["required"].items())
    return (
        f"Proposal {proposal['id']} for generation {proposal['generation']}"
        f" ({short(proposal['revision_digest'])}): {proposal['state']}\n"
        f"Approvals it needs: {needed or 'not yet known'}"
    )
