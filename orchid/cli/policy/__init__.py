"""`orchid policy`: documents, offline, by the same engine as the control plane's.

One command a file; a new one is a sibling and one line of the registration below.
"""

import click

from orchid.cli.policy.check import check, schema
from orchid.cli.policy.diff import diff
from orchid.cli.policy.explain import explain
from orchid.cli.policy.reading import loaded
from orchid.cli.policy.what_if import what_if

__all__ = ["loaded", "policy"]


@click.group()
def policy() -> None:
    """Check, compare, explain and strain policy documents; needs no control plane."""


for command in (check, schema, diff, explain, what_if):
    policy.add_command(command)
