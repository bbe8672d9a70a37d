"""`orchid edge`: a group, so that what else an edge can be asked for has a place."""

import click

from orchid.edge.main import run


@click.group()
def edge() -> None:
    """One edge beside a fleet: it admits requests by the newest signed generation."""


edge.add_command(run)
