"""`orchid packet export`, `verify` and `show`: an answer that others can recompute."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from orchid.cli.check import gates_text, worst_first
from orchid.cli.client import Api
from orchid.cli.gate_words import with_names
from orchid.cli.output import json_option, room, show, table, verdict_said, written
from orchid.cli.policy.reading import document_argument, loaded, named, refused
from orchid.cli.product import named as product_named
from orchid.cli.product import product_option
from orchid.engine.derivations import REGISTRY
from orchid.engine.document.errors import DocumentErrors
from orchid.engine.document.parse import MAX_BYTES as MAX_BESIDE
from orchid.engine.document.parse import parse
from orchid.engine.packet import Beside, PacketError, Verified, figures_packet, opened
from orchid.engine.packet import verify as verified
from orchid.engine.packet.envelope import MAX_BYTES

#: What lies beside a document and belongs to its figures.
BESIDE = {
    "declared": "declared-points.yaml",
    "asked": "figures.yaml",
    "diagnosis": "diagnosis.yaml",
}
#: Further faults are counted and not told, unless JSON is asked for.
MOST_TOLD = 20
packet_argument = click.argument("file", type=click.Path(allow_dash=True, path_type=Path))


@click.group()
def packet() -> None:
    """An answer and all that it rests on in one file, to be recomputed offline."""


@packet.command()
@click.argument("evaluation", required=False, type=click.IntRange(min=1))
@product_option
@click.option("--figures", is_flag=True, help="The figures of a document instead of a verdict.")
@click.option("--document", type=document_argument, help="With --figures: of this file, offline.")
@click.option("--generation", type=int, help="With --figures: default is what is live.")
@click.option(
    "-o",
    "--output",
    default="-",
    show_default="standard output",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
)
def export(
    evaluation: int | None,
    product: str | None,
    figures: bool,
    document: Path | None,
    generation: int | None,
    output: Path,
) -> None:
    """The packet of an EVALUATION (default: the latest), or of a document's figures.

    What is declared beside a --document (declared-points.yaml, figures.yaml, diagnosis.yaml) goes
    with it.
    """
    if evaluation and figures:
        raise click.UsageError("Either an EVALUATION or --figures.")
    if not figures and (document or generation):
        raise click.UsageError("--document and --generation go with --figures.")
    if document:
        data = of_file(document)
    else:
        data = of_product(product_named(product), evaluation, figures, generation)
    written(data, output)


def of_file(document: Path) -> bytes:
    """The figures of a document on disk, with the files that belong to it."""
    found = loaded(document)
    beside = {part: _beside(document.parent / name) for part, name in BESIDE.items()}
    mine = {
        part: content
        for part, content in beside.items()
        if content and content.get("product") == found.document.product
    }
    try:
        return figures_packet(found, Beside(**mine))
    except PacketError as error:
        raise click.ClickException(str(error)) from error


def _beside(file: Path) -> Mapping[str, Any] | None:
    if not file.is_file():
        return None
    with file.open("rb") as stream:
        text = stream.read(MAX_BESIDE + 1)
    try:
        content = parse(text, "yaml")
    except DocumentErrors as faults:
        raise refused(file, text, faults) from faults
    return content if isinstance(content, dict) else None


def of_product(slug: str, evaluation: int | None, figures: bool, generation: int | None) -> bytes:
    at = f"/api/v1/products/{slug}"
    if figures:
        return Api().fetch(f"{at}/packets/figures", generation=generation)
    return Api().fetch(f"{at}/evaluations/{evaluation or 'latest'}/packet")


@packet.command()
@packet_argument
@click.option("--digest", help="The digest that it must have, as its page or the audit trail says.")
@json_option
@click.pass_context
def verify(ctx: click.Context, file: Path, digest: str | None, as_json: bool) -> None:
    """Recompute a packet, offline. Exit code: 0 it holds, 1 it does not, 3 unreadable."""
    found = _verified(file)
    wanted = digest is None or digest == found.digest
    data = {
        "file": named(file),
        "kind": found.kind,
        "product": found.product,
        "digest": found.digest,
        "holds": found.holds and wanted,
        "wanted_digest": digest,
        "checks": [asdict(check) for check in found.checks],
    }
    show(data, lambda: verified_text(data), as_json=as_json, say=verdict_said)
    ctx.exit(0 if data["holds"] else 1)


def _verified(file: Path) -> Verified:
    try:
        return verified(_read(file))
    except PacketError as error:
        raise click.ClickException(f"{named(file)} is no packet: {error}.") from error


def _read(file: Path) -> bytes:
    """At most one byte over what a packet may have, however much there is."""
    try:
        with click.open_file(str(file), "rb") as stream:
            return bytes(stream.read(MAX_BYTES + 1))
    except OSError as error:
        raise click.ClickException(f"{file} can't be read: {error.strerror}.") from error


def verified_text(data: Mapping[str, Any]) -> str:
    faults = [check for check in data["checks"] if not check["holds"]]
    lines = [f"  {check['name']}: {check['message']}" for check in faults[:MOST_TOLD]]
    if len(faults) > MOST_TOLD:
        lines.append(f"  and {len(faults) - MOST_TOLD} more (--json lists all)")
    if data["wanted_digest"] not in (None, data["digest"]):
        lines.append(f"  digest: {data['digest']}, wanted is {data['wanted_digest']}")
    word = "holds" if data["holds"] else "does not hold"
    count = f"{len(data['checks']) - len(faults)} of {len(data['checks'])} checks hold"
    head = f"{data['file']} {word}: {data['kind']} of {data['product']}; {count}."
    return "\n".join([head, *lines, data["digest"]])


@packet.command("show")
@packet_argument
@json_option
def show_packet(file: Path, as_json: bool) -> None:
    """What a packet says, as a table: figures with how each comes about, or verdicts."""
    try:
        content = opened(_read(file))
    except PacketError as error:
        raise click.ClickException(f"{named(file)} is no packet: {error}.") from error
    show(content, lambda: packet_text(content), as_json=as_json)


def packet_text(content: Mapping[str, Any]) -> str:
    """Its tables; raises ClickException where its answer has not the shape of one."""
    try:
        return _packet_text(content)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        # A packet is anybody's, and only verifying it tells whether its answer is one at all.
        said = f"Its {content['kind']} can't be shown: {type(error).__name__}: {str(error)[:200]}"
        raise click.ClickException(f"{said}. `orchid packet verify` says what is off.") from error


def _packet_text(content: Mapping[str, Any]) -> str:
    if content["kind"] == "figures":
        return figures_text(content["derivations"])
    judgement = content["judgement"]
    head = f"{judgement['verdict'].replace('_', ' ')}, {judgement['action'].replace('_', ' ')}"
    reasons = [f"  - {with_names(reason)}" for reason in judgement["reasons"]]
    words = "\n".join([f"{content['product']}: {head} ({judgement['why']})", *reasons])
    return f"{words}\n\n{gates_text(worst_first(judgement['results']), room())}"


def figures_text(figures: list[Mapping[str, Any]]) -> str:
    """A table under each heading; `how` names the production function."""
    parts = dict.fromkeys(str(figure["part"]) for figure in figures)
    return "\n\n".join(
        f"{part or 'Figures'}\n{table(('figure', 'value', 'how'), _rows(figures, part))}"
        for part in parts
    )


def _rows(figures: list[Mapping[str, Any]], part: str) -> list[tuple[str, str, str]]:
    return [
        (figure["name"], f"{figure['value']} {figure['unit']}".strip(), how(figure))
        for figure in figures
        if str(figure["part"]) == part
    ]


def how(figure: Mapping[str, Any]) -> str:
    derivation = REGISTRY.get(figure["by"])
    if derivation is None:
        return f"by {figure['by']}, which this version does not know"
    if derivation.declared:
        return derivation.how
    source = f" [{derivation.source}]" if derivation.source else ""
    return f"{derivation.how} ({derivation.function}){source}"
