"""`orchid demo`: what plays the demo's clients and its CI."""

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import httpx

from orchid.cli.change import proposal_text
from orchid.cli.client import Api
from orchid.cli.demo import ci as job
from orchid.cli.demo import seed as recordings
from orchid.cli.demo.arrivals import DemoRequest, requests
from orchid.cli.demo.edgeclient import Edge
from orchid.cli.demo.servers import register
from orchid.cli.demo.traffic import Driver
from orchid.cli.ingest.counting import results_text
from orchid.cli.output import json_option, show
from orchid.cli.triton.state import ready
from orchid.formats.arrivals import azure

SLICE = "examples/traces/azure-conversation-1000.csv"
DEADLINE_MS = 1500.0
EDGE_READY_WITHIN_S = 60.0
UPLOAD_WITHIN_S = 10.0


root_option = click.option(
    "--root",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path.cwd,
    show_default="current folder",
    help="The checkout, which holds the examples.",
)


@click.group()
def demo() -> None:
    """The clients and the CI job of the demo.

    Without ORCHID_TOKEN they use the demo's own CI credential, var/secrets/ci-token.
    """
    own = Path(os.environ.get("ORCHID_VAR", "var")) / "secrets/ci-token"
    if "ORCHID_TOKEN" not in os.environ and own.is_file():
        os.environ["ORCHID_TOKEN"] = own.read_text(encoding="utf-8").strip()


@demo.command()
@root_option
@json_option
def seed(root: Path, as_json: bool) -> None:
    """Register the demo's servers and deliver the recordings; the same again changes nothing."""
    api = Api()
    register(api, ready(Path(os.environ.get("ORCHID_VAR", root / "var"))))
    results = recordings.seed(api, root / "examples/recordings")
    show(results, lambda: results_text(results), as_json=as_json)


@demo.command()
@root_option
def ci(root: Path) -> None:
    """Push quality evidence and propose generation 2, once generation 1 is judged on cost."""
    made = job.propose_once(Api(), root / "examples/orchid-demo", click.echo)
    click.echo(proposal_text(made) if made else "Generation 2 was proposed before.")


@demo.command()
@click.option("--rate", type=click.FloatRange(0.1, 500), default=25.0, show_default=True)
@click.option(
    "--for", "seconds", type=click.FloatRange(0, min_open=True), help="Default: until stopped."
)
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--edge", "edge_url", help="Default: the edge on ORCHID_EDGE_PORT of this machine.")
@json_option
@root_option
def traffic(
    rate: float, seconds: float | None, seed: int, edge_url: str | None, as_json: bool, root: Path
) -> None:
    """Send requests through the edge to its model servers, in open loop.

    Arrivals and lengths are a recorded slice of a production service, scaled to --rate a second.
    With ORCHID_URL and ORCHID_TOKEN set, the servers' trace files go to the control plane too.
    """
    trace = azure.read((root / SLICE).read_bytes())
    var = Path(os.environ.get("ORCHID_VAR", root / "var"))
    port = os.environ.get("ORCHID_EDGE_PORT", "8471")
    arriving = requests(trace.arrivals, rate, seed)
    summary = asyncio.run(_drive(edge_url or f"http://127.0.0.1:{port}", var, arriving, seconds))
    show(summary, lambda: in_words(summary), as_json=as_json)


@demo.command()
@click.pass_context
def check(ctx: click.Context) -> None:
    """Play the demo's whole story without a person: exit code 0, or 1 and the step that failed.

    On a product of its own in var/demo-check; screenshots go to build/screenshots.
    """
    # A development dependency, unlike the rest of the demo.
    try:
        from orchid.cli.demo.check import steps
    except ModuleNotFoundError as missing:
        raise click.ClickException(
            f"The check needs {missing.name}: `make demo-check` installs it."
        ) from missing
    ctx.exit(0 if steps.play(click.echo) else 1)


def in_words(summary: dict[str, Any]) -> str:
    """Each figure on a line; a group of counts as `name count`."""
    return "\n".join(
        f"{name.replace('_', ' ')}: {_value(value)}" for name, value in summary.items()
    )


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {count}" for key, count in value.items()) or "none"
    return "-" if value is None else str(value)


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
