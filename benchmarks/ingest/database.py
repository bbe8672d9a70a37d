"""A cluster of its own for a measurement, with the product's tables; durable like in production.

Some eighty migrations take minutes of a core, so a migrated cluster is kept under `var/` for as
long as the migrations, and what is installed, are the same; a measurement gets a copy of it.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from orchid.cli.embedded import database as roles
from orchid.cli.embedded.postgres import Cluster, wait_until
from orchid.cli.embedded.process import end, spawn

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "var" / "bench-databases"


@contextmanager
def database(*settings: str) -> Iterator[None]:
    """Django with a fresh and migrated database, as the tables' owner; gone afterwards.

    `settings` are the server's, as `name=value`, where a measurement needs others.
    """
    place = Path(tempfile.mkdtemp(prefix="orchid-bench-"))
    place.chmod(0o711)  # passable for the other user whom the server runs as where we are root
    cluster = Cluster(place / "postgres" / "data")
    try:
        _fill(cluster, place)
        cluster.settings = (*cluster.settings, *settings)
        with _running(cluster, place):
            _point_at(cluster, place)
            import django

            django.setup()
            yield
    finally:
        shutil.rmtree(place, ignore_errors=True)


@contextmanager
def _running(cluster: Cluster, place: Path) -> Iterator[None]:
    cluster.prepare()
    child = cluster.child()
    process = spawn(child, place / "postgres.log")
    try:
        wait_until(cluster.is_ready, child.ready_within_s, "The database does not start.")
        yield
    finally:
        end(process, child)


def _fill(cluster: Cluster, place: Path) -> None:
    kept = KEPT / _digest()
    if not kept.exists():
        with _running(cluster, place):
            roles.provision(cluster)
            _point_at(cluster, place)
            argv = [sys.executable, "-m", "django", "migrate", "--verbosity", "0"]
            subprocess.run(argv, check=True, cwd=ROOT)  # noqa: S603 - our own command
        _keep(cluster, kept)
        return
    cluster.data.parent.mkdir(parents=True)
    _copy(kept, cluster.data)


def _keep(cluster: Cluster, kept: Path) -> None:
    """Under another name until it is whole; those of earlier migrations are let go."""
    shutil.rmtree(KEPT, ignore_errors=True)
    KEPT.mkdir(parents=True)
    unfinished = kept.with_suffix(".unfinished")
    _copy(cluster.data, unfinished)
    unfinished.rename(kept)


def _copy(source: Path, to: Path) -> None:
    """With the owners: the server insists on its own."""
    subprocess.run(["cp", "-a", "--reflink=auto", str(source), str(to)], check=True)  # noqa: S603, S607


def _digest() -> str:
    """Of everything that makes the tables: migrations, installed packages, roles."""
    digest = hashlib.sha256()
    sources = [*ROOT.glob("*/migrations/*.py"), *ROOT.glob("requirements*.lock")]
    for source in sorted([*sources, *(ROOT / "orchid/cli/embedded").glob("*")]):
        if source.is_file():
            digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _point_at(cluster: Cluster, place: Path) -> None:
    address = cluster.url(roles.OWNER, roles.DATABASE)
    os.environ |= {
        "DATABASE_URL": address,
        "DATABASE_OWNER_URL": address,
        "ORCHID_VAR": str(place / "var"),
        "BROKER_URL": "memory://localhost/",
        "DJANGO_SETTINGS_MODULE": "controlplane.settings",
    }
