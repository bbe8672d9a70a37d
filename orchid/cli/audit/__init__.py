"""`orchid audit`: is what was judged, and what was decided, as it is told?"""

import click

from orchid.cli.audit.column import column
from orchid.cli.audit.trail import export, verify

HELP = ("-h", "--help")


class FileOrCommand(click.Group):
    """What is no command is the file of `column`, which was all that this command did once."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in (*self.commands, *HELP):
            args = [str(column.name), *args]
        return super().parse_args(ctx, args)


@click.group(cls=FileOrCommand)
def audit() -> None:
    """Exact percentiles of an exported column; the audit trail, verified and exported."""


for command in (column, verify, export):
    audit.add_command(command)
