"""`orchid evidence push` and `list`: what makes an answer count as good."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from orchid.cli.change import file_argument
from orchid.cli.client import Api, Json
from orchid.cli.output import cursor_option, json_option, more, show, table
from orchid.cli.product import named, product_option


@click.group()
def evidence() -> None:
    """Quality evidence: what makes an answer count as good."""


@evidence.command()
@file_argument
@product_option
@click.option(
    "--measured-at",
    "measured_at",
    help="When the suites ran, as RFC 3339 with an offset, or `now`; its age counts from there.",
)
@json_option
def push(file: Path, product: str | None, measured_at: str | None, as_json: bool) -> None:
    """Push the evidence in FILE (orchid.evidence/v1), all of it or nothing.

    The same again changes nothing.
    """
    content = json_object(file)
    slug = named(product, content.get("product"))
    if measured_at:
        content["measured_at"] = _moment(measured_at)
    answer = pushed(Api(), slug, content)
    show(answer, lambda: pushed_text(answer), as_json=as_json)


@evidence.command("list")
@product_option
@click.option("--route", help="Of this route only.")
@click.option("--suite", help="Of this suite only.")
@click.option("--kind", help="Of this kind only, such as frozen_suite.")
@cursor_option
@json_option
def listed(
    product: str | None,
    route: str | None,
    suite: str | None,
    kind: str | None,
    cursor: str | None,
    as_json: bool,
) -> None:
    """Evidence, newest first, with what superseded it."""
    path = f"/api/v1/products/{named(product)}/evidence"
    answer = Api().get(path, route=route, suite=suite, kind=kind, cursor=cursor)
    show(answer, lambda: listed_text(answer), as_json=as_json)


def pushed(api: Api, slug: str, content: Json) -> Json:
    """Which evidence is stored now, of one piece or a set in one file."""
    if "items" in content or "evidence" in content:
        return api.post(f"/api/v1/products/{slug}/evidence", content)
    around = {name: content[name] for name in ("measured_at",) if name in content}
    piece = {name: value for name, value in content.items() if name != "product"}
    return api.post(f"/api/v1/products/{slug}/evidence", {"items": [piece], **around})


def json_object(file: Path) -> dict[str, Any]:
    """The JSON object in a file; raises click.ClickException where it holds none."""
    try:
        content = json.loads(file.read_text())
    except (ValueError, RecursionError) as error:
        raise click.ClickException(f"{file} is not JSON: {error}") from error
    if not isinstance(content, dict):
        raise click.ClickException(f"{file} holds a {type(content).__name__}; an object is needed.")
    return content


def pushed_text(answer: Json) -> str:
    """What is stored, and how much of it is new."""
    new = f"{answer['created']} of {len(answer['results'])} are new"
    return f"{_table(answer['results'])}\n{new}"


def listed_text(answer: Json) -> str:
    """A page of evidence, and how to go on."""
    if not answer["results"]:
        return "No evidence like that."
    return _table(answer["results"]) + more(answer)


def _table(rows: list[Json]) -> str:
    shown = [
        (
            f"{row['suite']} {row['suite_version']}",
            row["kind"],
            row["route"],
            json.dumps(row["where"]),
            row["n"],
            row["mean"],
            row["violations"],
            row["superseded"] or "in force",
        )
        for row in rows
    ]
    head = ("suite", "kind", "route", "where", "n", "mean", "violations", "stands")
    return table(head, shown)


def _moment(text: str) -> str:
    if text == "now":
        return datetime.now(UTC).isoformat()
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise click.UsageError(f"--measured-at: {error}") from error
    if at.tzinfo is None:
        raise click.UsageError("--measured-at needs an offset, such as 2026-01-05T10:00:00Z.")
    return at.isoformat()
