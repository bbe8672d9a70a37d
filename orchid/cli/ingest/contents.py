"""Which kind a file is, by its content, where its name says nothing: a trial, or traffic."""

import gzip
import zlib
from pathlib import Path

from orchid.cli.ingest.parts import WHOLE
from orchid.formats.arrivals import registry as arrivals
from orchid.formats.recognise import Head
from orchid.formats.trials import registry as trials

GZIP_MAGIC = b"\x1f\x8b"


def kind_by_content(file: Path) -> str | None:
    """`trial` or `arrivals`; single requests of a run are both and count as a trial."""
    if file.stat().st_size > WHOLE:
        return None
    head = Head(_plain(file), file.name)
    if trials.knows(head):
        return "trial"
    return "arrivals" if arrivals.knows(head) else None


def _plain(file: Path) -> bytes:
    content = file.read_bytes()
    if not content.startswith(GZIP_MAGIC):
        return content
    try:
        with gzip.open(file) as opened:
            return opened.read(WHOLE)
    except (OSError, EOFError, zlib.error):
        return b""
