"""A cluster of its own for a measurement, with the product's tables; durable like in production."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def database() -> Iterator[None]:
    """Django with a fresh and migrated database, as the tables' owner; gone afterwards."""
    from orchid.cli.embedded import database as roles
    from orchid.cli.embedded.postgres import Cluster, wait_until
    from orchid.cli.embedded.process import end, spawn

    place = Path(tempfile.mkdtemp(prefix="orchid-bench-"))
    place.chmod(0o711)  # passable for the other user whom the server runs as where we are root
    cluster = Cluster(place / "postgres" / "data")
    cluster.prepare()
    child = cluster.child()
    process = spawn(child, place / "postgres.log")
    try:
        wait_until(cluster.is_ready, child.ready_within_s, "The database does not start.")
        roles.provision(cluster)
        _begin(cluster.url(roles.OWNER, roles.DATABASE), place)
        yield
    finally:
        end(process, child)
        shutil.rmtree(place, ignore_errors=True)


def _begin(address: str, place: Path) -> None:
    os.environ |= {
        "DATABASE_URL": address,
        "DATABASE_OWNER_URL": address,
        "ORCHID_VAR": str(place / "var"),
        "BROKER_URL": "memory://",
        "DJANGO_SETTINGS_MODULE": "controlplane.settings",
    }
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
