"""`orchid ingest FILES` and `orchid ingest watch DIR`."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from orchid.cli.client import Api, Json
from orchid.cli.ingest.contents import kind_by_content
from orchid.cli.ingest.counting import by_file, counted, results_text
from orchid.cli.ingest.delivering import deliver
from orchid.cli.ingest.names import KINDS, kind_by_name, kind_of
from orchid.cli.ingest.origin import Origin, declared_of, origin_of, origin_options
from orchid.cli.ingest.watch import watch
from orchid.cli.output import json_option, show

_DECLARE = (
    "A fact of a trial that its file doesn't tell, such as loop=open or residency=both;"
    " also title, format and warm_up_s."
)


class FilesFirst(click.Group):
    """Takes files as they come: only `watch` as the first word is a command of its own."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["files", *args]
        return super().parse_args(ctx, args)


@click.group(cls=FilesFirst, no_args_is_help=True)
def ingest() -> None:
    """Deliver FILES to the control plane, or WATCH a folder of a server's trace files.

    \b
    orchid ingest FILES...     (orchid ingest files --help for its options)
    orchid ingest watch DIR    each subfolder is one run of a server

    A file of any size is sent in parts; the same file again changes nothing.
    """


@ingest.command("files")
@click.argument(
    "files",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
)
@click.option("--kind", type=click.Choice(KINDS), help="Default: by the file's name or content.")
@click.option("--declare", multiple=True, metavar="NAME=VALUE", help=_DECLARE)
@click.option("--server-run", help="Name of the server's run; joins its files to one another.")
@origin_options
@click.option("--wait/--no-wait", default=True, show_default=True, help="Until all is counted.")
@json_option
@click.pass_context
def deliver_files(
    ctx: click.Context,
    /,
    files: tuple[Path, ...],
    kind: str | None,
    declare: tuple[str, ...],
    anchor: str | None,
    wait: bool,
    as_json: bool,
    **origin: Any,
) -> None:
    """Deliver FILES. The same file again changes nothing. Exit code 1 when one was set aside.

    Request records are what verdicts rest on, so they need the token of an edge.
    """
    where = replace(origin_of(anchor_here=anchor, **origin), declared=declared_of(declare))
    api = Api()
    kinds = [kind or kind_by_name(file) or kind_by_content(file) or kind_of(file) for file in files]
    delivered = _delivered(api, list(zip(files, kinds, strict=True)), where)
    results = by_file(counted(api, delivered, where.product) if wait else delivered)
    show(results, lambda: results_text(results), as_json=as_json)
    ctx.exit(int(any(result["status"] == "set_aside" for result in results)))


def _delivered(api: Api, files: list[tuple[Path, str]], origin: Origin) -> list[Json]:
    """Every part of every file, with a bar of bytes on the error stream."""
    delivered: list[Json] = []
    size = sum(file.stat().st_size for file, _ in files)
    with click.progressbar(length=max(1, size), label="Delivering", file=sys.stderr) as bar:
        for file, kind in files:
            delivered += deliver(api, file, kind, origin, bar.update)
    return delivered


ingest.add_command(watch)
