"""`orchid policy diff`: what one document changes against another."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from orchid.cli.output import json_option, show, table
from orchid.cli.policy.reading import document_argument, loaded
from orchid.engine.document.difference import changes, required_approvals


@click.command()
@click.argument("old", type=document_argument)
@click.argument("new", type=document_argument)
@json_option
def diff(old: Path, new: Path, as_json: bool) -> None:
    """What NEW changes against OLD, in words, and whose approval that needs."""
    before, after = loaded(old), loaded(new)
    found = changes(before.given, after.given)
    data = {
        "old_digest": before.digest,
        "new_digest": after.digest,
        "changes": [asdict(change) for change in found],
        "required_approvals": required_approvals(before.document, found) if found else {},
    }
    show(data, lambda: changes_text(data), as_json=as_json)


def changes_text(data: dict[str, Any]) -> str:
    if not data["changes"]:
        return "No change."
    rows = [(change["category"], change["words"]) for change in data["changes"]]
    needed = ", ".join(f"{n} {role}" for role, n in data["required_approvals"].items())
    return f"{table(('category', 'change'), rows)}\nApprovals it needs: {needed}"
