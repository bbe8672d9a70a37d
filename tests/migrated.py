"""A cluster whose template is migrated, kept for every run until something it is made from changes.

To migrate takes longer than most runs of a few tests. Runs share what is kept under a lock: who
comes while it is made waits and copies it, so that a worker of two makes nothing.
"""

import fcntl
import hashlib
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from orchid.cli.embedded.binaries import binaries
from orchid.cli.embedded.postgres import Cluster

ROOT = Path(__file__).parents[1]
KEPT = ROOT / ".pytest_cache" / "migrated"
#: The database that test databases are copied from.
TEMPLATE = "orchid_template"
MADE_FROM = ("requirements.lock", "*/migrations/*.py", "orchid/cli/embedded/*", "tests/migrated.py")


def restore(cluster: Cluster, make: Callable[[], None]) -> None:
    """Lay the data of a migrated cluster; where none is kept, `make` leaves it there, stopped."""
    with _alone():
        kept = KEPT / _digest()
        if not kept.exists():
            make()
            shutil.rmtree(KEPT, ignore_errors=True)
            _copy(cluster.data, kept)
            return
        _copy(kept, cluster.data)


def _digest() -> str:
    """Of all that the data comes from: files, programs, and the day that partitions begin at."""
    told = hashlib.sha256(f"{binaries()} {datetime.now(UTC):%F}".encode())
    for pattern in MADE_FROM:
        for path in sorted(one for one in ROOT.glob(pattern) if one.is_file()):
            told.update(f"{path}\n".encode() + path.read_bytes())
    return told.hexdigest()[:16]


def _copy(source: Path, target: Path) -> None:
    """With its owners, who are others where we are root; under another name until it is whole."""
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(target.name + ".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    subprocess.run(["cp", "-a", str(source), str(unfinished)], check=True)
    unfinished.rename(target)


@contextmanager
def _alone() -> Iterator[None]:
    KEPT.parent.mkdir(exist_ok=True)
    with (KEPT.parent / "migrated.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
