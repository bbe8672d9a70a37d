"""What files say nothing about: which server, which run, which moment its clock began."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import click

from orchid.cli.clocks import anchor
from orchid.cli.product import product_option

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True)
class Origin:
    product: str | None = None
    server_run: str | None = None
    source: str | None = None
    engine_kind: str | None = None
    anchor_monotonic_ns: int | None = None
    anchor_unix_ns: int | None = None
    # Of a trial or of traffic: facts by name.
    declared: Mapping[str, str] = field(default_factory=dict)

    def query(self, file: str, kind: str) -> dict[str, Any]:
        """What travels beside a file; a trial and traffic have its name for a title."""
        names = {name: value for name, value in vars(self).items() if name != "declared"}
        about = {"title": file, **self.declared} if kind in ("trial", "arrivals") else {}
        return {"kind": kind, **names, **about}


def declared_of(written: Sequence[str]) -> dict[str, str]:
    """`loop=open` by name; raises UsageError for what is no pair."""
    pairs = [one.partition("=") for one in written]
    if bad := next((name for name, equals, _ in pairs if not (name and equals)), None):
        raise click.UsageError(f"--declare takes NAME=VALUE, not {bad}.")
    return {name: value for name, _, value in pairs}


def origin_options(command: Command) -> Command:
    """Whose files these are; the run's name is asked for apart, since a watched folder has many."""
    options = (
        product_option,
        click.option("--source", help="Name of the source on the Sources page."),
        click.option("--engine-kind", type=click.Choice(["triton", "stand-in"])),
        click.option("--anchor", type=click.Choice(["here"]), help=_ANCHOR),
        click.option(
            "--anchor-monotonic-ns", type=int, help="The server's clock at one moment ..."
        ),
        click.option("--anchor-unix-ns", type=int, help="... and the wall clock at that moment."),
    )
    for option in reversed(options):
        command = option(command)
    return command


_ANCHOR = "Run on the server's host: take one moment of both its clocks now."


def origin_of(
    *,
    anchor_here: str | None,
    anchor_monotonic_ns: int | None,
    anchor_unix_ns: int | None,
    product: str | None,
    server_run: str | None,
    source: str | None,
    engine_kind: str | None,
) -> Origin:
    """Raises UsageError for half an anchor, or two."""
    written = anchor_monotonic_ns, anchor_unix_ns
    if anchor_here:
        if written != (None, None):
            raise click.UsageError("Give --anchor here, or the two clocks, not both.")
        now = anchor()
        written = now["monotonic_ns"], now["unix_ns"]
    if (written[0] is None) != (written[1] is None):
        raise click.UsageError("An anchor needs both of its clocks.")
    return Origin(product, server_run, source, engine_kind, *written)
