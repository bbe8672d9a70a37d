"""`orchid triton`: build Triton's environment, run a pool's server."""

import os
import sys
from pathlib import Path

import click

from orchid.cli.triton import environment, server
from orchid.cli.triton.catalogue import pool as read_pool
from orchid.cli.triton.state import ServerState

root_option = click.option(
    "--root",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path.cwd,
    show_default="current folder",
    help="The checkout: holds examples/triton, .triton and (unless ORCHID_VAR is set) var.",
)


@click.group()
def triton() -> None:
    """A real Triton Inference Server with toy models, or a stand-in for it."""


@triton.command()
@root_option
def build(root: Path) -> None:
    """Build .triton, the environment Triton runs in (about 250 MB)."""
    try:
        built = environment.build(root / ".triton", root / "examples/triton/requirements.lock")
    except environment.TritonUnavailableError as reason:
        raise click.ClickException(
            f"{reason}\nWithout it the demo uses its built-in stand-in."
        ) from None
    click.echo(f"Triton is in {built.home}")


@triton.command()
@click.option("--pool", "name", required=True, help="A pool of examples/triton/models.toml.")
@click.option(
    "--slots", type=click.IntRange(1), help="Executions at a time; default: the pool's own."
)
@click.option("--ports", type=int, nargs=3, help="HTTP, gRPC and metrics port; default: free ones.")
@click.option(
    "--stand-in", is_flag=True, help="Run the built-in stand-in even where Triton can run."
)
@click.option(
    "--otlp",
    help="Send spans to this OTLP/HTTP address and write no trace files; ORCHID_TOKEN "
    "goes with them.",
)
@root_option
def run(
    name: str,
    slots: int | None,
    ports: tuple[int, int, int] | None,
    stand_in: bool,
    otlp: str | None,
    root: Path,
) -> None:
    """Run a pool's model server until stopped; writes var/run/triton-POOL.json once it is ready.

    DEMO_TRITON=0 asks for the stand-in too; it also takes Triton's place where that can't run.
    """
    examples, var = root / "examples/triton", Path(os.environ.get("ORCHID_VAR", root / "var"))
    try:
        pool = read_pool(examples / "models.toml", name, slots)
    except KeyError as reason:
        raise click.BadParameter(str(reason.args[0]), param_hint="--pool") from None
    built = None if stand_in or os.environ.get("DEMO_TRITON") == "0" else _built(root / ".triton")
    if built is None:
        from orchid.cli import modelserver

        sys.exit(modelserver.serve(pool, var, ports[0] if ports else None, _say_ready))
    chosen = server.Ports(*ports) if ports else server.default_ports()
    try:
        spans = server.Otlp(otlp, os.environ.get("ORCHID_TOKEN", "")) if otlp else None
        sys.exit(server.serve(server.Server(pool, built, examples, var, chosen, spans), _say_ready))
    except environment.TritonUnavailableError as reason:
        raise click.ClickException(str(reason)) from None


def _built(home: Path) -> environment.Environment | None:
    try:
        return environment.built(home)
    except environment.TritonUnavailableError as reason:
        click.echo(f"The stand-in takes Triton's place: {reason}", err=True)
        return None


def _say_ready(state: ServerState) -> None:
    click.echo(f"{state.kind} {state.server_version} serves pool {state.pool} at {state.http}")
