"""Reads a policy document and reports every fault of it at once."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from orchid.engine.document.canonical import digest_of_document
from orchid.engine.document.errors import (
    MAX_FAULTS,
    DocumentError,
    DocumentErrors,
    listed,
    nearest,
    shown,
)
from orchid.engine.document.faults import fault, merged
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.parse import Media, parse, plain
from orchid.engine.document.references import dangling

__all__ = ["DocumentError", "DocumentErrors", "LoadedDocument", "load_document"]


@dataclass(frozen=True, slots=True)
class LoadedDocument:
    """The typed document, the keys as they were given, and the digest of their canonical form."""

    document: PolicyDocument
    given: dict[str, Any]
    digest: str


def load_document(
    data: bytes | str | Mapping[str, Any], *, media: Media | None = None
) -> LoadedDocument:
    """Parse, validate and address a document; raises DocumentErrors with every fault found."""
    given = parse(data, media) if isinstance(data, bytes | str) else plain(data)
    if not isinstance(given, dict):
        found = "nothing" if given is None else shown(given)
        raise DocumentErrors([DocumentError("", found, "a mapping", "not_a_mapping")])
    document = _validated(given)
    return LoadedDocument(document, given, digest_of_document(document))


def _validated(given: dict[str, Any]) -> PolicyDocument:
    document, faults = None, []
    try:
        document = PolicyDocument.model_validate(given)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
        faults = [fault(item, given) for item in details[:MAX_FAULTS]]
    errors = merged([*faults, *_loose_names(given)])
    if errors or document is None:
        raise DocumentErrors(_bounded(errors))
    return document


def _bounded(errors: list[DocumentError]) -> list[DocumentError]:
    if len(errors) < MAX_FAULTS:
        return errors
    more = DocumentError("", "more faults than are told", f"fewer than {MAX_FAULTS}", "too_many")
    return [*errors[:MAX_FAULTS], more]


def _loose_names(given: dict[str, Any]) -> list[DocumentError]:
    return [
        DocumentError(
            item.pointer,
            shown(item.found),
            listed(item.allowed),
            "unknown_name",
            nearest(item.found, item.allowed),
        )
        for item in dangling(given)[:MAX_FAULTS]
    ]
