"""The database every test shares: a private cluster by the product's own launcher.

Settings need an address before any test is collected, the server only when a test asks for the
database; so the address is chosen here and the server started by the first such test. Workers of
pytest-xdist each have a cluster of their own. With DATABASE_URL set, that server is used instead.
"""

import os
import shutil
import signal
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import django.conf
import pytest
from django.core.management import call_command
from django.db import connection
from hypothesis import HealthCheck, settings

from orchid.cli.embedded import database
from orchid.cli.embedded.postgres import Cluster, wait_until
from orchid.cli.embedded.process import end, spawn
from tests import migrated
from tests.unmanaged import empty_unmanaged

TESTS = Path(__file__).parent
#: Files that keep a worker longest, the longest first.
LONGEST = (
    "controlplane/test_hostile_input.py",
    "accounts/test_route_matrix.py",
    "gates/test_check_in_a_pipeline.py",
    "gates/test_killed_evaluations.py",
    "controlplane/test_in_a_browser.py",
    "ingest/live/test_three_ways_agree.py",
    "browser/test_every_page.py",
)
# An xdist worker inherits the address its controller chose, and must not take it for an operator's.
# Its place is in the controller's, who clears up after workers that were killed.
INHERITED = "ORCHID_TESTS_PLACE"
place = Path(tempfile.mkdtemp(prefix="orchid-test-", dir=os.environ.get(INHERITED)))
place.chmod(0o711)  # passable for the other user whom the server runs as where we are root
external = "DATABASE_URL" in os.environ and INHERITED not in os.environ
cluster = Cluster(place / "postgres" / "data", unsafe_but_fast=True)


def choose_environment() -> None:
    if not external:
        address = cluster.url(database.OWNER, database.DATABASE)
        os.environ |= {
            "DATABASE_URL": address,
            "DATABASE_OWNER_URL": address,
            INHERITED: str(place),
        }
    os.environ |= {"ORCHID_VAR": str(place / "var"), "BROKER_URL": "memory://localhost/"}
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")


choose_environment()
# Now, and not when pytest is configured: the rooms' own conftests import models.
django.setup()
# An xdist worker would load the settings by this name before it has an address of its own.
os.environ.pop("DJANGO_SETTINGS_MODULE")
# Slow hashing is tested by nobody and waited for by everybody.
django.conf.settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

# Who ends a run by a signal leaves no server and no folder either.
signal.signal(signal.SIGTERM, signal.default_int_handler)

# How long a machine takes for an example says nothing of the example; it fails busy machines alone.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """xdist gives out files in this order: a long one that came last would keep one worker alone.

    Of the others those with most tests come first; within a file pytest-randomly's order stays.
    """
    if not hasattr(config, "workerinput"):
        return
    sizes = Counter(item.path for item in items)

    def turn(item: pytest.Item) -> tuple[int, int, str]:
        name = item.path.relative_to(TESTS).as_posix()
        place = LONGEST.index(name) if name in LONGEST else len(LONGEST)
        return place, -sizes[item.path], name

    items.sort(key=turn)


def pytest_unconfigure() -> None:
    shutil.rmtree(place, ignore_errors=True)


@contextmanager
def running() -> Iterator[None]:
    child = cluster.child()
    process = spawn(child, place / "postgres.log")
    try:
        wait_until(cluster.is_ready, child.ready_within_s, "The test database does not start.")
        yield
    finally:
        end(process, child)


def make() -> None:
    """The roles of the product, and a database with its tables that test databases begin as."""
    cluster.prepare()
    with running():
        database.provision(cluster)
        database.psql(cluster, f"ALTER ROLE {database.OWNER} CREATEDB")
        database.psql(cluster, f"CREATE DATABASE {migrated.TEMPLATE} OWNER {database.OWNER}")
        named = connection.settings_dict["NAME"]
        connection.settings_dict["NAME"] = migrated.TEMPLATE
        call_command("migrate", verbosity=0, interactive=False, run_syncdb=True)
        connection.close()
        connection.settings_dict["NAME"] = named


@pytest.fixture(scope="session")
def server(django_db_blocker: Any) -> Iterator[None]:
    """A running PostgreSQL with the roles of the product."""
    if external:
        yield
        return
    with django_db_blocker.unblock():
        migrated.restore(cluster, make)
    connection.settings_dict["TEST"]["TEMPLATE"] = migrated.TEMPLATE
    cluster.prepare()
    with running():
        yield


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    server: None, django_db_modify_db_settings_parallel_suffix: None
) -> None:
    """pytest-django asks for this before it connects."""


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    """Django empties tables after a test that commits, which is refused to everybody else."""
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute("SELECT tgrelid::regclass, tgname FROM pg_trigger WHERE tgtype & 32 <> 0")
        for table, trigger in cursor.fetchall():
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER {trigger}")


@pytest.fixture(autouse=True)
def _nothing_committed_stays(
    request: pytest.FixtureRequest, django_db_blocker: Any
) -> Iterator[None]:
    """A test that commits leaves no row behind: Django empties its own tables, this the others."""
    yield
    marked = request.node.get_closest_marker("django_db")
    if marked is not None and marked.kwargs.get("transaction"):
        with django_db_blocker.unblock():
            empty_unmanaged()
