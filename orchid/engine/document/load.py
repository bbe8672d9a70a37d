"""Reads a policy document and reports every fault of it at once."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from orchid.engine.document.canonical import digest_of_document
from orchid.engine.document.errors import (
    DocumentError,
    DocumentErrors,
    nearest,
    pointer_of,
    shown,
)
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.parse import Media, Path, parse, plain
from orchid.engine.document.references import dangling
from orchid.engine.document.schema import known_keys

__all__ = ["DocumentError", "DocumentErrors", "LoadedDocument", "load_document"]

#: Faults told at once; a document with more is not this schema's at all.
MAX_FAULTS = 500

_MISSING = object()
_NAME_HELP = "a name of letters, digits and . _ : / + - (at most 80 characters)"


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
    given = plain(data) if isinstance(data, Mapping) else parse(data, media)
    if not isinstance(given, dict):
        raise DocumentErrors([DocumentError("", shown(given), "a mapping", "not_a_mapping")])
    document = _validated(given)
    return LoadedDocument(document, given, digest_of_document(document))


def _validated(given: dict[str, Any]) -> PolicyDocument:
    document, faults = None, []
    try:
        document = PolicyDocument.model_validate(given)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
        faults = [_fault(item, given) for item in details[:MAX_FAULTS]]
    errors = _merged([*faults, *_loose_names(given)])
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
            "one of " + ", ".join(item.allowed),
            "unknown_name",
            nearest(item.found, item.allowed),
        )
        for item in dangling(given)[:MAX_FAULTS]
    ]


def _fault(item: ErrorDetails, given: dict[str, Any]) -> DocumentError:
    path = _existing_path(item["loc"], given)
    kind = item["type"]
    if kind == "missing":
        key = str(item["loc"][-1])
        return DocumentError(pointer_of((*path, key)), "nothing", "this key, required", "missing")
    if kind == "extra_forbidden":
        return _unknown_key(path)
    return DocumentError(pointer_of(path), shown(_at(given, path)), _allowed(item), kind)


def _unknown_key(path: Path) -> DocumentError:
    keys = known_keys(path[:-1])
    word = str(path[-1])
    return DocumentError(
        pointer_of(path),
        f"unknown key {shown(word)}",
        "one of " + ", ".join(keys),
        "unknown_key",
        nearest(word, keys),
    )


def _allowed(item: ErrorDetails) -> str:
    if item["type"] == "string_pattern_mismatch":
        return _NAME_HELP
    return item["msg"].removeprefix("Input should be ").removeprefix("Value error, ")


def _existing_path(loc: tuple[str | int, ...], given: Any) -> Path:
    """The part of pydantic's location that is in the document; union tags are not."""
    path: list[str | int] = []
    for part in loc:
        inner = _step(given, part)
        if inner is not _MISSING:
            given = inner
            path.append(part)
    return tuple(path)


def _step(value: Any, part: str | int) -> Any:
    if isinstance(value, dict) and part in value:
        return value[part]
    if isinstance(value, list) and isinstance(part, int) and part < len(value):
        return value[part]
    return _MISSING


def _at(value: Any, path: Path) -> Any:
    for part in path:
        value = value[part]
    return value


def _merged(errors: Iterable[DocumentError]) -> list[DocumentError]:
    """One fault a place: the alternatives of a union are one sentence."""
    by_pointer: dict[str, DocumentError] = {}
    for error in errors:
        first = by_pointer.setdefault(error.pointer, error)
        if first is not error and error.allowed not in first.allowed:
            joined = f"{first.allowed}, or {error.allowed}"
            by_pointer[error.pointer] = DocumentError(
                first.pointer, first.found, joined, first.code, first.hint
            )
    return [error for error in by_pointer.values() if not _follows(error, by_pointer)]


def _follows(error: DocumentError, pointers: Iterable[str]) -> bool:
    """A list seems too short when its items failed: the items are the fault, not the length."""
    inside = f"{error.pointer}/"
    return error.code == "too_short" and any(pointer.startswith(inside) for pointer in pointers)
