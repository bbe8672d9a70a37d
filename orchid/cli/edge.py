"""`orchid edge`: one edge in this process, and the edges that a product knows."""

import click

from orchid.cli.releases import edges
from orchid.edge.main import run


@click.group()
def edge() -> None:
    """Run one edge beside a fleet, or look after those that a product knows."""


for command in (
    run,
    edges.listed,
    edges.register,
    edges.rotate,
    edges.revoke,
    edges.retire,
    edges.share,
):
    edge.add_command(command)
