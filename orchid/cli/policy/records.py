"""Request records in a file: NDJSON, plain or gzip, read a line at a time in bounded memory."""

import gzip
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, cast

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
STDIN = Path("-")


@contextmanager
def opened(file: Path) -> Iterator[BufferedReader]:
    """The file for reading; the standard input for `-`."""
    if file == STDIN:
        yield cast("BufferedReader", sys.stdin.buffer)
        return
    with file.open("rb") as plain:
        yield plain


def records_of(file: Path) -> Iterator[RequestRecord | Rejected]:
    """Every record in the order of the file; a line that is none comes with its reason.

    Raises click.ClickException where the file is not whole or unpacks to more than it may.
    """
    with opened(file) as plain:
        for number, line in enumerate(lines_of(plain, file), start=1):
            if not line.strip():
                continue
            try:
                yield parse_record(line)
            except RecordError as error:
                yield Rejected(number, error.code, error.message, error.field)


def lines_of(plain: BufferedReader, file: Path) -> Iterator[bytes]:
    """The lines without their ends; of one that is too long for a record only its beginning.

    Raises click.ClickException where the file is not whole or unpacks to more than it may.
    """
    packed = plain.peek(2).startswith(GZIP)
    read = 0
    try:
        for line, size in _lines(gzip.GzipFile(fileobj=plain) if packed else plain):
            read += size
            if read > MAX_BYTES:
                raise click.ClickException(f"{file} unpacks to more than {MAX_BYTES >> 30} GiB.")
            yield line
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise click.ClickException(
            f"{file} is not a whole gzip file ({error}): pack it again from its source."
        ) from error


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
