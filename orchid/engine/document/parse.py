"""Text to plain values, refusing what makes a document ambiguous or unbounded."""

from collections.abc import Mapping
from typing import Any, Literal

from orchid.engine.document.bounds import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_NODES,
    Path,
    checked_key,
    checked_scalar,
    refuse,
    within,
)
from orchid.engine.document.errors import MAX_FAULTS, DocumentError, DocumentErrors, pointer_of
from orchid.engine.document.json_text import Repeated, read_json
from orchid.engine.document.yaml_text import read_yaml

__all__ = ["MAX_BYTES", "MAX_DEPTH", "MAX_NODES", "Media", "Path", "parse", "plain"]

Media = Literal["yaml", "json"]


def parse(data: bytes | str, media: Media | None) -> Any:
    """The document's plain values; without `media`, what begins with `{` is read as JSON first.

    Raises DocumentErrors: too large, not UTF-8, not YAML or JSON, duplicate keys, anchors, tags,
    too deep, numbers that are not finite or would lose digits.
    """
    text = _text(data)
    if media == "json":
        return plain(read_json(text))
    if media is None and text.lstrip()[:1] == "{":
        return _either(text)
    return read_yaml(text)


def _either(text: str) -> Any:
    """A YAML document may begin with a brace too; where neither reads it, JSON's fault is told."""
    try:
        return plain(read_json(text))
    except DocumentErrors as fault:
        if fault.errors[0].code != "not_json":
            raise
        try:
            return read_yaml(text)
        except DocumentErrors as other:
            raise fault if other.errors[0].code == "not_yaml" else other from None


def _text(data: bytes | str) -> str:
    raw = data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
    if len(raw) > MAX_BYTES:
        raise refuse((), f"{len(raw):,} bytes", f"at most {MAX_BYTES:,} bytes", "too_large")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        found = f"byte 0x{raw[error.start]:02x} at offset {error.start}"
        raise refuse((), found, "UTF-8 text", "not_utf8") from None


def plain(value: Any) -> Any:
    """A copy of dicts, lists and scalars alone; bounds depth and size, refuses NaN."""
    walk = _Walk()
    copied = walk.copy(value, ())
    if walk.repeated:
        raise DocumentErrors(walk.repeated)
    return copied


class _Walk:
    """One pass over a value, with what it may still visit and the repeated keys that it met."""

    def __init__(self) -> None:
        self._budget = MAX_NODES
        self.repeated: list[DocumentError] = []

    def copy(self, value: Any, path: Path) -> Any:
        self._budget -= 1
        within(path, self._budget)
        if isinstance(value, Mapping):
            return self._mapping(value, path)
        if isinstance(value, list | tuple):
            return [self.copy(item, (*path, i)) for i, item in enumerate(value)]
        return checked_scalar(value, path)

    def _mapping(self, value: Mapping[Any, Any], path: Path) -> dict[str, Any]:
        if isinstance(value, Repeated):
            room = MAX_FAULTS - len(self.repeated)
            self.repeated.extend(_twice((*path, key)) for key in value.again[:room])
        return {
            checked_key(key, path): self.copy(item, (*path, key)) for key, item in value.items()
        }


def _twice(path: Path) -> DocumentError:
    found = "the key again in one object"
    return DocumentError(pointer_of(path), found, "each key once", "duplicate_key")
