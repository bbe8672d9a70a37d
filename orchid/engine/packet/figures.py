"""A packet of figures: a document, what is declared beside it, and every value that follows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from orchid.engine.declared import DeclaredError, DeclaredPoints, declared_points
from orchid.engine.derivations import (
    Asked,
    Figure,
    FigureError,
    Material,
    asked_figures,
    derive,
    standard_figures,
)
from orchid.engine.diagnosis.declared import Case
from orchid.engine.document.canonical import normalised_document
from orchid.engine.document.load import DocumentErrors, LoadedDocument, load_document
from orchid.engine.packet.envelope import Check, PacketError, sealed


@dataclass(frozen=True, slots=True)
class Beside:
    """What is declared beside a document, each as its file's content; None is not declared."""

    declared: Mapping[str, Any] | None = None
    asked: Mapping[str, Any] | None = None
    diagnosis: Mapping[str, Any] | None = None

    def of_product(self, product: str) -> None:
        """Raises PacketError for what belongs to another product."""
        for name in PARTS:
            content = getattr(self, name)
            if content is not None and content.get("product") != product:
                found = content.get("product")
                raise PacketError(f"/{name} is of {found!r}, not of {product!r}")


PARTS = ("declared", "asked", "diagnosis")


def figures_packet(document: LoadedDocument, beside: Beside | None = None) -> bytes:
    """Derive what is asked for, or what any document gives, and seal it.

    Raises PacketError for what can't be read or derived, or belongs to another product.
    """
    given, product = beside or Beside(), document.document.product
    given.of_product(product)
    try:
        figures = _derived(document, given)
    except (FigureError, DeclaredError) as error:
        raise PacketError(str(error)) from error
    parts = {
        "documents": {document.digest: normalised_document(document.document)},
        **{name: getattr(given, name) for name in PARTS},
        "derivations": [figure.as_json() for figure in figures],
    }
    return sealed("figures", product, parts)


def verify_figures(content: Mapping[str, Any]) -> Iterator[Check]:
    """The document by its digest, and every figure recomputed from what the packet holds."""
    try:
        digest, document = _document(content)
    except (DocumentErrors, PacketError) as faults:
        yield Check("documents", False, f"no sound document: {faults}")
        return
    yield _addressed(digest, document)
    beside = Beside(*(content[name] for name in PARTS))
    product = content["product"]
    yield _named(product, document.document.product)
    try:
        beside.of_product(product)
        figures = _derived(document, beside)
    except (FigureError, DeclaredError, PacketError) as error:
        yield Check("derivations", False, str(error))
        return
    yield from _compared(content["derivations"], figures)


def _document(content: Mapping[str, Any]) -> tuple[str, LoadedDocument]:
    documents = list(content["documents"].items())
    if len(documents) != 1 or not isinstance(documents[0][1], dict):
        raise PacketError("one document by its digest is needed")
    digest, given = documents[0]
    return digest, load_document(given)


def _addressed(digest: str, document: LoadedDocument) -> Check:
    holds = document.digest == digest
    message = "has the digest that names it" if holds else f"its digest is {document.digest}"
    return Check(f"documents/{digest}", holds, message)


def _named(product: str, of_document: str) -> Check:
    holds = product == of_document
    return Check("product", holds, product if holds else f"the document is of {of_document!r}")


def _derived(document: LoadedDocument, beside: Beside) -> list[Figure]:
    points = DeclaredPoints() if beside.declared is None else declared_points(beside.declared)
    normal = normalised_document(document.document)
    material = Material(document.document, points, normal, _case(beside.diagnosis))
    asked = beside.asked
    wanted: list[Asked] = standard_figures(material) if asked is None else asked_figures(asked)
    return derive(wanted, material)


def _case(content: Mapping[str, Any] | None) -> Case | None:
    """Raises FigureError; what pydantic says of it names each place."""
    try:
        return None if content is None else Case.model_validate(content)
    except ValidationError as error:
        raise FigureError(f"/diagnosis: {error.errors()[0]['msg']}") from error


def _compared(recorded: list[Any], figures: list[Figure]) -> Iterator[Check]:
    """Each figure against its record; records that nobody asked for are named too."""
    records = {str(one.get("name")): one for one in recorded if isinstance(one, dict)}
    for figure in figures:
        yield _held(records.pop(figure.name, None), figure)
    for name in records:
        yield Check(f"figure {name}", False, "nobody asked for it")
    if [str(one.get("name")) if isinstance(one, dict) else "" for one in recorded] != [
        figure.name for figure in figures
    ]:
        yield Check("derivations", False, "they are not those asked for, in their order")


def _held(record: Mapping[str, Any] | None, figure: Figure) -> Check:
    name, computed = f"figure {figure.name}", figure.as_json()
    if record is None:
        return Check(name, False, "it is missing")
    for key in sorted(record.keys() | computed.keys()):
        if record.get(key) != computed.get(key):
            said = f"{key} is {record.get(key)!r}, recomputed {computed.get(key)!r}"
            return Check(name, False, said)
    if not figure.as_stated:
        return Check(name, False, f"stated as {figure.stated}, it comes out as {figure.value}")
    return Check(name, True, f"{figure.value} {figure.unit}".strip())
