"""Request records in a file: NDJSON, plain or gzip, read a line at a time in bounded memory."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import click

from orchid.engine.wire.diagnosis import RecordError
from orchid.engine.wire.records import (
    BYTE_ORDER_MARK,
    MAX_RECORD_BYTES,
    Rejected,
    RequestRecord,
    parse_record,
)

GZIP = b"\x1f\x8b"
#: Unpacked bytes after which a file is no recording but a bomb.
MAX_BYTES = 16 << 30


def records_of(file: Path) -> Iterator[RequestRecord | Rejected]:
    """Every record in the order of the file; a line that is none comes with its reason.

    Raises click.ClickException where the file is not whole or unpacks to more than it may.
    """
    with file.open("rb") as plain:
        packed = plain.read(2) == GZIP
        plain.seek(0)
        try:
            yield from _records(gzip.GzipFile(fileobj=plain) if packed else plain, file)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise click.ClickException(
                f"{file} is not a whole gzip file ({error}): pack it again from its source."
            ) from error


def _records(stream: BinaryIO | gzip.GzipFile, file: Path) -> Iterator[RequestRecord | Rejected]:
    read = 0
    for number, (line, size) in enumerate(_lines(stream), start=1):
        read += size
        if read > MAX_BYTES:
            raise click.ClickException(f"{file} unpacks to more than {MAX_BYTES >> 30} GiB.")
        if not line.strip():
            continue
        try:
            yield parse_record(line)
        except RecordError as error:
            yield Rejected(number, error.code, error.message, error.field)


def _lines(stream: BinaryIO | gzip.GzipFile) -> Iterator[tuple[bytes, int]]:
    """Lines with their size; of one that is too long only as much as shows that it is."""
    first = True
    while line := stream.readline(MAX_RECORD_BYTES + 2):
        size, kept = len(line), line
        while not line.endswith(b"\n") and size <= MAX_BYTES:
            if not (line := stream.readline(MAX_RECORD_BYTES)):
                break
            size += len(line)
        yield (kept.removeprefix(BYTE_ORDER_MARK) if first else kept).rstrip(b"\r\n"), size
        first = False
