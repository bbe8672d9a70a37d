"""`orchid policy diff`: what one document changes against another, in words and on traffic."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from orchid.cli.output import json_option, show, table
from orchid.cli.policy.diff_on import decided_on, decisions_text
from orchid.cli.policy.reading import document_argument, loaded
from orchid.engine.decision_diff import Mode
from orchid.engine.document.difference import changes, required_approvals

recording = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)


@click.command()
@click.argument("old", type=document_argument)
@click.argument("new", type=document_argument)
@click.option(
    "--on",
    "on",
    type=recording,
    help="Decide the requests recorded in FILE (NDJSON, plain or gzip; - for stdin) by both.",
    metavar="FILE",
)
@click.option(
    "--mode",
    type=click.Choice(["traffic", "shape"]),
    default="traffic",
    show_default=True,
    help="With queues, shares and budgets as the traffic fills them, or every request alone.",
)
@click.option(
    "--slots",
    type=click.IntRange(min=1),
    help="Requests that a replica runs at once; default: the document's concurrency.",
)
@json_option
def diff(
    old: Path, new: Path, on: Path | None, mode: Mode, slots: int | None, as_json: bool
) -> None:
    """What NEW changes against OLD, and whose approval that needs.

    With --on also how many recorded requests it decides otherwise, which and where.
    """
    before, after = loaded(old), loaded(new)
    found = changes(before.given, after.given)
    data: dict[str, Any] = {
        "old_digest": before.digest,
        "new_digest": after.digest,
        "changes": [asdict(change) for change in found],
        "required_approvals": required_approvals(before.document, found) if found else {},
    }
    if on is not None:
        decided = decided_on(on, before.document, after.document, mode, slots)
        data["decisions"] = decided.as_json()
    show(data, lambda: diff_text(data), as_json=as_json)


def diff_text(data: dict[str, Any]) -> str:
    words = changes_text(data)
    return f"{words}\n\n{decisions_text(data['decisions'])}" if "decisions" in data else words


def changes_text(data: dict[str, Any]) -> str:
    if not data["changes"]:
        return "No change."
    rows = [(c["category"], c["direction"], c["words"]) for c in data["changes"]]
    needed = ", ".join(f"{n} {role}" for role, n in data["required_approvals"].items())
    return f"{table(('category', 'asks', 'change'), rows)}\nApprovals it needs: {needed}"
