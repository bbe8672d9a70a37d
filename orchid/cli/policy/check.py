"""`orchid policy check` and `schema`: whether a document is sound, and what one may hold."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from orchid.cli.main import ERROR
from orchid.cli.output import folded, json_option, show
from orchid.cli.policy.evidence import evidence_of
from orchid.cli.policy.reading import (
    as_data,
    at_line,
    content,
    document_argument,
    file_argument,
    load,
    loaded,
    refused,
)
from orchid.engine.document.consistency import find
from orchid.engine.document.load import DocumentErrors, LoadedDocument
from orchid.engine.document.places import places
from orchid.engine.document.reference import reference_markdown
from orchid.engine.document.schema import json_schema


@click.command()
@click.argument("file", type=document_argument)
@click.option("--base", type=document_argument, help="The document that serves now.")
@click.option(
    "--evidence", type=file_argument, help="Quality evidence (orchid.evidence/v1) to hold up."
)
@json_option
@click.pass_context
def check(
    ctx: click.Context, file: Path, base: Path | None, evidence: Path | None, as_json: bool
) -> None:
    """Validate FILE, or standard input for a FILE of -.

    Exit code: 0 sound, 1 contradicts itself, 3 can't be read as a document. With --base also
    against what serves now, with --evidence also against what is known of routes.
    """
    text = content(file)
    try:
        document = load(text)
    except DocumentErrors as faults:
        if not as_json:
            raise refused(file, text, faults) from faults
        show({"product": None, "digest": None, "faults": as_data(faults, text)}, str, as_json=True)
        ctx.exit(ERROR)
    data = checked(document, text, base, evidence)
    show(data, lambda: findings_text(data), as_json=as_json)
    ctx.exit(int(any(finding["severity"] == "error" for finding in data["findings"])))


def checked(
    loaded_document: LoadedDocument, text: bytes, base: Path | None, evidence: Path | None
) -> dict[str, Any]:
    """The findings, each with its line; raises click.ClickException for an unusable side file."""
    document = loaded_document.document
    findings = find(
        document,
        base=loaded(base).document if base else None,
        evidence=evidence_of(evidence, document) if evidence else (),
    )
    lines = places(text.decode("utf-8-sig"))
    return {
        "product": document.product,
        "digest": loaded_document.digest,
        "findings": [{**asdict(one), "line": lines.line_of(one.pointer)} for one in findings],
    }


def findings_text(data: dict[str, Any]) -> str:
    lines = [f"{data['product']} {data['digest']}"]
    lines += [
        folded(
            f"  {f['severity']}: {at_line(f['line'])}{f['pointer']}: {f['text']} [{f['code']}]", 4
        )
        for f in data["findings"]
    ]
    return "\n".join(lines if data["findings"] else [*lines, "  no contradictions"])


@click.command()
@click.option("--markdown", is_flag=True, help="The same for readers: every key with an example.")
def schema(markdown: bool) -> None:
    """Print the JSON Schema of a document, for editors and checkers."""
    click.echo(reference_markdown() if markdown else json.dumps(json_schema(), indent=2))
