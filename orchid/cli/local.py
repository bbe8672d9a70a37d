"""`orchid up` and `orchid status`: the product on this machine."""

import json
import os
from pathlib import Path
from typing import Any

import click

from orchid.cli.client import Api
from orchid.cli.output import json_option, short, show, table


@click.command()
@click.option("--demo", is_flag=True, help="With example products, people, traffic and Triton.")
@click.option("--port", envvar="ORCHID_PORT", default=8470, show_default=True, help="Web pages.")
@click.option("--edge-port", envvar="ORCHID_EDGE_PORT", default=8471, show_default=True)
@click.option(
    "--var",
    envvar="ORCHID_VAR",
    default="var",
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Where data, secrets and logs are kept.",
)
@click.option("-v", "--verbose", is_flag=True, help="Show the logs of all processes here too.")
def up(demo: bool, port: int, edge_port: int, var: Path, verbose: bool) -> None:
    """Start the whole product on this machine; Ctrl-C stops all of it.

    An embedded PostgreSQL, the web pages, a worker and an edge, each in a process of its own.
    DATABASE_URL (with DATABASE_OWNER_URL) and BROKER_URL replace the embedded parts.
    """
    from orchid.cli.embedded import up as embedded
    from orchid.cli.embedded.binaries import PostgresError
    from orchid.cli.embedded.lock import AlreadyRunningError
    from orchid.cli.embedded.machine import Machine
    from orchid.cli.embedded.supervisor import StartError

    machine = Machine(var.resolve(), port, edge_port, demo)
    try:
        embedded.run(machine, click.echo, verbose=verbose)
    except (embedded.SetupError, PostgresError, AlreadyRunningError, StartError) as reason:
        raise click.ClickException(str(reason)) from reason


@click.command()
@click.option("--var", envvar="ORCHID_VAR", default="var", type=click.Path(path_type=Path))
@json_option
def status(var: Path, as_json: bool) -> None:
    """What runs on this machine; with ORCHID_TOKEN also what is live and on which edge."""
    here = processes(var / "run" / "up.json")
    products = live() if os.environ.get("ORCHID_TOKEN") else None
    data = {"machine": here, "products": products}
    show(data, lambda: told(here, products), as_json=as_json)


def processes(path: Path) -> dict[str, Any] | None:
    """The status file of a running `orchid up`; one that a killed run left behind is none."""
    try:
        found: dict[str, Any] = json.loads(path.read_text())
        os.kill(found["pid"], 0)
    except (FileNotFoundError, ProcessLookupError):
        return None
    return found


def live() -> list[dict[str, Any]]:
    """Each product that the token sees, with its newest publication and its edges."""
    api = Api()
    found = []
    for product in api.get("/api/v1/products")["results"]:
        at = f"/api/v1/products/{product['slug']}"
        newest = api.get(f"{at}/publications")["items"][:1]
        edges = api.get(f"{at}/edges")["items"]
        found.append({**product, "publication": newest[0] if newest else None, "edges": edges})
    return found


def told(here: dict[str, Any] | None, products: list[dict[str, Any]] | None) -> str:
    parts = [machine_text(here)]
    parts += [product_text(product) for product in products or []]
    return "\n\n".join(parts)


def machine_text(here: dict[str, Any] | None) -> str:
    if here is None:
        return "Nothing runs on this machine (`orchid up` starts it)."
    rows = [
        (one["name"], one["pid"], one["port"], one["restarts"], "yes" if one["alive"] else "no")
        for one in here["children"]
    ]
    headings = ("process", "pid", "port", "restarts", "alive")
    return f"Orchid runs at {here['url']} (process {here['pid']})\n{table(headings, rows)}"


def product_text(product: dict[str, Any]) -> str:
    live = product["publication"]
    if live is None:
        return f"{product['slug']}: nothing is published"
    what = f"{product['slug']}: publication {live['number']} ({live['kind']}),"
    headings = ("edge", "wanted", "active", "standing", "last seen")
    rows = [
        (one["name"], one["wanted"], one["active"], one["standing"], one["last_seen"])
        for one in product["edges"]
    ]
    return f"{what} digest {short(live['incumbent_digest'])}\n{table(headings, rows)}"
