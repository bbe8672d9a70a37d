"""One file to the inbox, part by part."""

import gzip
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

from orchid.cli.client import Api, Json
from orchid.cli.ingest.contents import GZIP_MAGIC
from orchid.cli.ingest.names import media_of, path_of
from orchid.cli.ingest.origin import Origin
from orchid.cli.ingest.parts import Part, parts

#: Less than this is not worth packing.
_PACKED_FROM = 1024


def deliver(
    api: Api, file: Path, kind: str, origin: Origin, sent: Callable[[int], None] = lambda _: None
) -> Iterator[Json]:
    """Send a file's parts; what the inbox answered to each. `sent` hears how many bytes went."""
    done = 0
    with file.open("rb") as opened:
        for part in parts(opened, kind):
            yield send(api, file, kind, origin, part)
            sent(part.end - done)
            done = part.end


def send(api: Api, file: Path, kind: str, origin: Origin, part: Part) -> Json:
    """Send one part under an id made of its content, so that sending it twice is one delivery."""
    body, encoding = packed(part.content)
    headers = {"Batch-Id": batch_id(kind, origin, body), "Content-Type": media_of(file, kind)}
    headers |= {"Content-Encoding": encoding} if encoding else {}
    about = {"file": str(file), "kind": kind, "offset": part.offset, "lines": part.lines}
    if kind in ("otlp", "requests", "rollup"):
        answer = api.deliver(path_of(kind), body, headers, product=origin.product)
    else:
        answer = api.deliver(path_of(kind), body, headers, **origin.query(file.name, kind))
    if kind == "otlp":
        return {**about, "status": "done", "counts": answer}
    return {**answer, **about}


def packed(content: bytes) -> tuple[bytes, str]:
    """The body as it travels, and its encoding; the same content gives the same bytes.

    A file that is packed already goes as it is.
    """
    if content.startswith(GZIP_MAGIC):
        return content, "gzip"
    if len(content) < _PACKED_FROM:
        return content, ""
    return gzip.compress(content, compresslevel=1, mtime=0), "gzip"


def batch_id(kind: str, origin: Origin, body: bytes) -> str:
    """Made of what travels: bytes that were packed otherwise are another delivery of known rows."""
    declared = "".join(f"{name}={value}\n" for name, value in sorted(origin.declared.items()))
    about = f"{kind}\n{origin.source}\n{origin.server_run}\n{declared}".encode()
    return hashlib.sha256(about + body).hexdigest()[:40]
