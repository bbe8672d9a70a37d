"""Which files of a watched folder belong to which run of the server.

A restarted server numbers its files from 0 again and writes over the old ones. So a file whose
beginning changed, or that is shorter than what was delivered of it, is of a new run, unless it
follows files of the new run already. A run is named by its folder and by the server's clock at its
first stamp, which is what its own bytes say.
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from orchid.cli.ingest.memory import Memory, Note, Run
from orchid.cli.ingest.names import kind_by_name

_HEAD, _FIRST_LOOK = 256, 64 * 1024
_STAMP = re.compile(rb'"ns"\s*:\s*(\d{1,19})')
_NUMBER = re.compile(r"\.(\d+)$")
#: Folders below the watched one that are looked into: one a run, and one for its trace files.
_DEPTH = 2


@dataclass
class Followed:
    path: Path
    note: Note


def folders(root: Path) -> Iterator[Path]:
    """The watched folder and those below it, in a steady order."""
    for place, below, _ in os.walk(root):
        here = Path(place)
        if len(here.relative_to(root).parts) >= _DEPTH:
            below.clear()
        below.sort()
        yield here


def follow(
    root: Path, folder: Path, memory: Memory, say: Callable[[str], None]
) -> Iterator[Followed]:
    """The folder's trace files that hold more than was delivered, each with its run."""
    for path in _trace_files(folder):
        file = _File.seen(path)
        if file is None:
            continue
        note = memory.files.get(str(path))
        if note is None or file.is_other_than(note):
            note = _noted(root, folder, file, memory, say, again=note is not None)
        if file.size > note.sent:
            yield Followed(path, note)


def _trace_files(folder: Path) -> list[Path]:
    found = [path for path in folder.iterdir() if kind_by_name(path) == "triton_trace"]
    return sorted((path for path in found if path.is_file()), key=lambda path: (number(path), path))


def number(path: Path) -> int:
    """The file's place in the order of writing; the one without a number comes first."""
    found = _NUMBER.search(path.name)
    return int(found[1]) if found else -1


@dataclass(frozen=True)
class _File:
    path: Path
    size: int
    written_at: float
    head: bytes
    begins_ns: int

    @classmethod
    def seen(cls, path: Path) -> "_File | None":
        """None for a file that tells no time yet."""
        with path.open("rb") as opened:
            start = opened.read(_FIRST_LOOK)
            about = os.fstat(opened.fileno())
        stamp = _STAMP.search(start)
        if stamp is None:
            return None
        return cls(path, about.st_size, about.st_mtime, start[:_HEAD], int(stamp[1]))

    def is_other_than(self, note: Note) -> bool:
        return self.size < note.sent or _digest(self.head[: note.head_bytes]) != note.head


def _digest(head: bytes) -> str:
    return hashlib.sha256(head).hexdigest()[:16]


def _noted(
    root: Path,
    folder: Path,
    file: _File,
    memory: Memory,
    say: Callable[[str], None],
    *,
    again: bool,
) -> Note:
    """Note a file that is new, or new again, under its run."""
    place = str(folder)
    run = memory.runs.get(place)
    if run is None or (again and number(file.path) <= run.reached):
        run = _run(root, folder, file)
        memory.runs[place] = run
        say(f"{run.name}: {'the server began anew' if again else 'a run of a server'}")
    name = run.name
    if not again and _is_older(file, run):
        name = _run(root, folder, file).name
    else:
        run.reached = max(run.reached, number(file.path))
    note = Note(name, _digest(file.head), len(file.head))
    memory.files[str(file.path)] = note
    return note


def _is_older(file: _File, run: Run) -> bool:
    """Left by a run before this one, whose own beginning was written over."""
    return file.written_at < run.begun_at and file.begins_ns < run.begins_ns


def _run(root: Path, folder: Path, file: _File) -> Run:
    place = folder.relative_to(root).as_posix()
    name = root.resolve().name if place == "." else place
    return Run(f"{name[:100]}@{file.begins_ns}", file.begins_ns, file.written_at, number(file.path))
