"""What files say nothing about: which server, which run, which moment its clock began."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from orchid.cli.change import product_option
from orchid.cli.clocks import anchor

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True)
class Origin:
    product: str | None = None
    server_run: str | None = None
    source: str | None = None
    engine_kind: str | None = None
    anchor_monotonic_ns: int | None = None
    anchor_unix_ns: int | None = None


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
    **names: str | None,
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
    return Origin(anchor_monotonic_ns=written[0], anchor_unix_ns=written[1], **names)
