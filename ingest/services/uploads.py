"""A file that a person brings in the browser: into the inbox, or, of spans, straight to rows."""

import hashlib
from dataclasses import dataclass

from controlplane.errors import BadInput
from ingest.models import Batch
from ingest.services.encoding import decoded
from ingest.services.inbox import accept
from ingest.services.spans import store_spans
from ingest.services.storing import BatchMeta, SourceKey
from ingest.services.trials import declared_of
from ingest.states import SourceKind
from orchid.formats import otlp
from orchid.formats.reading import UnreadableError
from policies.models import Product

_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}


@dataclass(frozen=True)
class Brought:
    """What became of an upload: its batch, or, of spans, how many were new and refused."""

    batch: Batch | None
    new: bool
    spans: int = 0
    refused: int = 0


def bring(product: Product, key: SourceKey, name: str, body: bytes) -> Brought:
    """Take one whole file; the same content again is the batch that it was."""
    encoding = encoding_in(body)
    if key.kind == SourceKind.OTLP:
        return _spans(product, key, decoded(body, encoding))
    digest = hashlib.sha256(body).hexdigest()
    batch, created = accept(
        product,
        key,
        f"upload-{key.kind}-{digest}",
        key.kind,
        body,
        encoding=encoding,
        meta=BatchMeta(declared=declared_of(key.kind, {"title": name})),
    )
    return Brought(batch, created)


def encoding_in(body: bytes) -> str:
    """gzip or zstd by the first bytes, which no kind of file begins with by itself."""
    return next((name for magic, name in _MAGIC.items() if body.startswith(magic)), "")


def _spans(product: Product, key: SourceKey, body: bytes) -> Brought:
    read = otlp.read_json if body.lstrip().startswith(b"{") else otlp.read_protobuf
    try:
        reading = read(body)
    except UnreadableError as error:
        raise BadInput("not_otlp", f"This is no body of OTLP: {error}.") from error
    new = store_spans(product, key, reading)
    return Brought(None, bool(new), new, len(reading.lost))
