"""`orchid policy`: documents, offline, by the same engine as the control plane's.

One command a file; a new one is a sibling and one line of the registration below.
"""

from typing import Any

import click

from orchid.cli.policy.arithmetic import arithmetic
from orchid.cli.policy.budget import budget
from orchid.cli.policy.check import check, schema
from orchid.cli.policy.diff import diff
from orchid.cli.policy.explain import explain
from orchid.cli.policy.fit import fit
from orchid.cli.policy.memory import memory
from orchid.cli.policy.outcomes import outcomes
from orchid.cli.policy.reading import loaded
from orchid.cli.policy.route import route, threshold
from orchid.cli.policy.what_if import what_if
from orchid.engine.pricing import UnpricedModelError

__all__ = ["loaded", "policy"]


class PolicyGroup(click.Group):
    """Its commands take documents that are not proposed yet, and some of them have no price."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except UnpricedModelError as error:
            raise click.ClickException(f"{error}; `orchid policy check` says where") from error


@click.group(cls=PolicyGroup)
def policy() -> None:
    """Check, compare, explain and strain policy documents; needs no control plane."""


COMMANDS = (
    check,
    schema,
    diff,
    outcomes,
    explain,
    what_if,
    budget,
    memory,
    route,
    threshold,
    fit,
    arithmetic,
)
for command in COMMANDS:
    policy.add_command(command)
