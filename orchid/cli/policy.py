"""`orchid policy`: documents, offline, by the same engine as the control plane's."""

import json
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import click

from orchid.cli.client import place
from orchid.cli.output import json_option, show, table
from orchid.engine.capacity import Load, group_loss, steady
from orchid.engine.document.consistency import find
from orchid.engine.document.difference import changes, required_approvals
from orchid.engine.document.load import DocumentErrors, LoadedDocument, load_document
from orchid.engine.document.schema import json_schema
from orchid.engine.economics import hourly_ledger_usd
from orchid.engine.pricing import demand_by_class

document_argument = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group()
def policy() -> None:
    """Check, compare and explain policy documents; needs no control plane."""


def loaded(file: Path) -> LoadedDocument:
    """The document, or every fault of it at once."""
    try:
        return load_document(file.read_bytes())
    except DocumentErrors as faults:
        lines = [f"  {place(asdict(error))}" for error in faults.errors]
        count = len(lines)
        head = f"{file} has {count} fault{'s' if count > 1 else ''}:"
        raise click.ClickException("\n".join([head, *lines])) from faults


@policy.command()
@click.argument("file", type=document_argument)
@json_option
@click.pass_context
def check(ctx: click.Context, file: Path, as_json: bool) -> None:
    """Validate FILE. Exit code: 0 sound, 1 contradicts itself, 3 can't be read as a document."""
    document = loaded(file)
    findings = find(document.document)
    data = {
        "product": document.document.product,
        "digest": document.digest,
        "findings": [asdict(finding) for finding in findings],
    }
    show(data, lambda: findings_text(data), as_json=as_json)
    ctx.exit(int(any(finding.severity == "error" for finding in findings)))


@policy.command()
def schema() -> None:
    """Print the JSON Schema of a policy document, for editors and other checkers."""
    click.echo(json.dumps(json_schema(), indent=2))


def findings_text(data: dict[str, Any]) -> str:
    lines = [f"{data['product']} {data['digest']}"]
    lines += [f"  {f['severity']}: {f['pointer']}: {f['text']}" for f in data["findings"]]
    return "\n".join(lines if data["findings"] else [*lines, "  no contradictions"])


@policy.command()
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


@policy.command()
@click.argument("file", type=document_argument)
@json_option
def explain(file: Path, as_json: bool) -> None:
    """What FILE promises and costs: demand, capacity, headroom and the price of a success."""
    data = explained(loaded(file))
    show(data, lambda: explained_text(data), as_json=as_json)


def explained(loaded_document: LoadedDocument) -> dict[str, Any]:
    document = loaded_document.document
    ledger, bound = hourly_ledger_usd(document), document.gates.cost_per_success_usd.max
    return {
        "product": document.product,
        "digest": loaded_document.digest,
        "demand": {name: asdict(demand) for name, demand in demand_by_class(document).items()},
        "capacity": {"steady": load(steady(document)), "group_loss": load(group_loss(document))},
        "ledger_usd_per_h": ledger,
        "cost_per_success_max_usd": bound,
        # At the bound, this rate of successes just pays the hour.
        "successes_needed_per_s": ledger / bound / 3600,
    }


def load(found: Load) -> dict[str, Any]:
    return {**asdict(found), "headroom": found.headroom, "fits": found.fits}


def explained_text(data: dict[str, Any]) -> str:
    demand = [
        (
            name,
            figure(d["teu_per_request"]),
            figure(d["requests_per_s"]),
            figure(d["teu_per_s"]),
            share(d["share_of_teu"]),
        )
        for name, d in data["demand"].items()
    ]
    capacity = [
        (
            name,
            figure(c["demand_teu_per_s"]),
            figure(c["capacity_teu_per_s"]),
            share(c["headroom"]),
            "yes" if c["fits"] else "no",
        )
        for name, c in data["capacity"].items()
    ]
    return "\n\n".join(
        [
            f"{data['product']} {data['digest']}",
            table(("class", "TEU a request", "requests/s", "TEU/s", "share of TEU"), demand),
            table(("case", "demand TEU/s", "capacity TEU/s", "headroom", "fits"), capacity),
            f"The fleet costs {data['ledger_usd_per_h']} USD an hour. A success may cost"
            f" {data['cost_per_success_max_usd']} USD, so {figure(data['successes_needed_per_s'])}"
            " successes a second pay for it.",
        ]
    )


def figure(value: Decimal) -> str:
    return f"{value:,.2f}"


def share(value: Decimal | None) -> str | None:
    return None if value is None else f"{value:.2%}"
