"""One spelling of a document, so that equal content has an equal digest.

The form is RFC 8785 over the keys that were given: durations in milliseconds, decimals as text
without trailing zeros, text in NFC. Defaults are never filled in, so a later default changes no
digest that was approved before it.
"""

import hashlib
import json
import re
from functools import lru_cache
from typing import Any

import rfc8785

from orchid.engine.document.demand import Model
from orchid.engine.document.model import PolicyDocument

#: What makes two served models the same one. Timing, size and cache shape follow from these.
MANIFEST_FIELDS = frozenset(
    {
        "weights",
        "tokenizer",
        "adapter",
        "precision",
        "runtime",
        "kernels",
        "policy",
        "validator",
        "feature_contract",
    }
)
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)
_OTHERWISE_WRITTEN = re.compile(r"[:,\[]-?[0-9]+(?:\.[0-9]+)?e|\.0[,\]}]")
_MANIFEST_ORDER = tuple(sorted(MANIFEST_FIELDS))


def normalised_document(document: PolicyDocument) -> dict[str, Any]:
    """The keys that were given, in their one spelling."""
    return document.model_dump(mode="json", by_alias=True, exclude_unset=True)


def digest_of_document(document: PolicyDocument) -> str:
    """`sha256:` and 64 hexadecimal digits over the canonical form."""
    return _digest(canonical_bytes(document))


def canonical_bytes(document: PolicyDocument) -> bytes:
    """RFC 8785. Keys are ASCII and whole numbers written as such, so the standard library's encoder
    writes the same, five times faster, but where a number has an exponent.
    """
    content = normalised_document(document)
    text = _ENCODER.encode(content)
    if _OTHERWISE_WRITTEN.search(text):
        return rfc8785.dumps(content)
    return text.encode()


def manifest_of(model: Model) -> dict[str, Any]:
    """The parts that pin a model, without those that are absent."""
    return model.model_dump(mode="json", include=set(MANIFEST_FIELDS), exclude_none=True)


def manifest_digest(model: Model) -> str:
    """The name of a manifest in evidence, attempts and rollups."""
    return _digest_of_parts(*(getattr(model, name) for name in _MANIFEST_ORDER))


@lru_cache(maxsize=4096)  # asked for every record, of the few models of the live generations
def _digest_of_parts(*parts: str | None) -> str:
    named = zip(_MANIFEST_ORDER, parts, strict=True)
    return _digest(rfc8785.dumps({name: part for name, part in named if part is not None}))


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"
