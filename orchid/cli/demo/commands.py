"""`orchid demo`: what plays the demo's clients and its CI."""

import asyncio
import contextlib
import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import httpx

from orchid.cli.demo.arrivals import DemoRequest, requests
from orchid.cli.demo.edgeclient import Edge
from orchid.cli.demo.traffic import Driver
from orchid.formats import azure

SLICE = "examples/traces/azure-conversation-1000.csv"
DEADLINE_MS = 1500.0
EDGE_READY_WITHIN_S = 60.0
UPLOAD_WITHIN_S = 10.0


@click.group()
def demo() -> None:
    """The clients and the CI job of the demo."""


@demo.command()
@click.option("--rate", type=click.FloatRange(0.1, 500), default=25.0, show_default=True)
@click.option(
    "--for", "seconds", type=click.FloatRange(0, min_open=True), help="Default: until stopped."
)
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--edge", "edge_url", help="Default: the edge on ORCHID_EDGE_PORT of this machine.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@click.option(
    "--root",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path.cwd,
    help="The checkout.",
)
def traffic(
    rate: float, seconds: float | None, seed: int, edge_url: str | None, as_json: bool, root: Path
) -> None:
    """Send requests through the edge to its model servers, in open loop.

    Arrivals and lengths are a recorded slice of a production service, scaled to --rate a second.
    With ORCHID_URL and ORCHID_TOKEN set, the servers' trace files go to the control plane too.
    """
    reading = azure.read((root / SLICE).read_bytes())
    var = Path(os.environ.get("ORCHID_VAR", root / "var"))
    port = os.environ.get("ORCHID_EDGE_PORT", "8471")
    arriving = requests(reading.records, rate, seed)
    summary = asyncio.run(_drive(edge_url or f"http://127.0.0.1:{port}", var, arriving, seconds))
    click.echo(json.dumps(summary, indent=None if as_json else 1))


async def _drive(
    edge_url: str, var: Path, arriving: Iterator[DemoRequest], seconds: float | None
) -> dict[str, Any]:
    edge, api = Edge(edge_url), _control_plane()
    driver = Driver(edge, api, var, say=lambda line: click.echo(line, err=True))
    for each in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(each, driver.stop.set)
    try:
        await _until_ready(edge, driver.stop)
        sent_for_s = await driver.drive(arriving, seconds)
    finally:
        await edge.close()
        if api is not None:
            await api.aclose()
    return driver.tally.summary(sent_for_s, DEADLINE_MS)


def _control_plane() -> httpx.AsyncClient | None:
    url, token = os.environ.get("ORCHID_URL"), os.environ.get("ORCHID_TOKEN")
    if not (url and token):
        return None
    return httpx.AsyncClient(
        base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=UPLOAD_WITHIN_S
    )


async def _until_ready(edge: Edge, stop: asyncio.Event) -> None:
    deadline = time.monotonic() + EDGE_READY_WITHIN_S
    while not (stop.is_set() or await edge.ready()):
        if time.monotonic() > deadline:
            raise click.ClickException(
                f"no edge was ready within {EDGE_READY_WITHIN_S:.0f} s: is one running, and has it "
                "activated a generation?"
            )
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), 0.2)
