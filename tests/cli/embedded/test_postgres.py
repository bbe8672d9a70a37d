"""The launcher over real programs: it starts, it stops, and nothing of it outlives its parent."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from orchid.cli.embedded import binaries, database
from orchid.cli.embedded.binaries import Identity, PostgresError
from orchid.cli.embedded.postgres import SOCKET_PATH_LIMIT, Cluster, wait_until
from orchid.cli.embedded.process import Process, end, spawn
from tests.cli.embedded.parent import parent_process


@pytest.fixture
def home() -> Iterator[Path]:
    """A short path that another user may pass: sockets and a server of that user's need one."""
    with tempfile.TemporaryDirectory(prefix="orchid-pg-") as folder:
        Path(folder).chmod(0o711)
        yield Path(folder)


@pytest.fixture(scope="session")
def initialised(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder made once: initdb is the slow part."""
    folder = tmp_path_factory.mktemp("template") / "data"
    Cluster(folder, unsafe_but_fast=True).prepare()
    return folder


@pytest.fixture
def cluster(home: Path, initialised: Path) -> Cluster:
    subprocess.run(["cp", "-a", str(initialised), str(home / "data")], check=True)
    return Cluster(home / "data", unsafe_but_fast=True)


@contextmanager
def running(cluster: Cluster) -> Iterator[Process]:
    cluster.prepare()
    child = cluster.child()
    process = spawn(child, cluster.data.parent / "log")
    try:
        wait_until(cluster.is_ready, 60, "the server does not start")
        yield process
    finally:
        end(process, child)


def ask(cluster: Cluster, role: str, question: str) -> object:
    with psycopg.connect(cluster.url(role, "orchid")) as connection:
        row = connection.execute(question).fetchone()
    return row and row[0]


@pytest.mark.parametrize(
    "identity", [i for i in binaries.identities() if binaries.works(i)], ids=str
)
def test_a_cluster_runs_under_every_identity_this_machine_allows(
    home: Path, identity: Identity
) -> None:
    cluster = Cluster(home / "data", unsafe_but_fast=True, identity=identity)
    with running(cluster) as process:
        database.provision(cluster)
        assert ask(cluster, database.APP, "SELECT current_user") == database.APP
    assert process.returncode == 0
    assert not (home / "data" / "postmaster.pid").exists()


def test_data_outlives_a_stop_and_the_second_start_makes_nothing_anew(home: Path) -> None:
    with running(Cluster(home / "data", unsafe_but_fast=True)) as _:
        database.provision(Cluster(home / "data"))
        database.psql(
            Cluster(home / "data"), "\\connect orchid\nCREATE TABLE kept AS SELECT 7 AS n"
        )
    again = Cluster(home / "data", unsafe_but_fast=True)
    assert again.prepare() is False
    with running(again):
        database.provision(again)
        assert database.psql(again, "\\connect orchid\nSELECT n FROM kept") == "7"


def test_the_application_owns_nothing_and_the_broker_stays_outside_the_product(
    cluster: Cluster,
) -> None:
    with running(cluster):
        database.provision(cluster)
        owned = "SELECT count(*) FROM pg_database WHERE pg_get_userbyid(datdba) = current_user"
        assert ask(cluster, database.APP, owned) == 0
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            ask(cluster, database.APP, "CREATE TABLE mine (n int)")
        with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
            ask(cluster, database.BROKER, "SELECT 1")


PARENT = """
import signal, sys
from pathlib import Path
from orchid.cli.embedded.postgres import Cluster, wait_until
from orchid.cli.embedded.process import spawn
cluster = Cluster(Path(sys.argv[1]), unsafe_but_fast=True)
cluster.prepare()
process = spawn(cluster.child(), Path(sys.argv[1]).parent / "log")
wait_until(cluster.is_ready, 60, "no start")
print(process.pid, flush=True)
signal.pause()
"""


def test_the_server_stops_cleanly_when_its_parent_is_killed(cluster: Cluster) -> None:
    with parent_process(PARENT, cluster.data) as (_, line):
        server = int(line)
    wait_until(lambda: not Path(f"/proc/{server}").exists(), 60, "the server outlives its parent")
    assert "database system is shut down" in (cluster.data.parent / "log").read_text()


def test_a_stale_pid_that_now_belongs_to_another_process_is_forgotten(cluster: Cluster) -> None:
    pid_file = cluster.data / "postmaster.pid"
    with running(cluster):
        _, rest = pid_file.read_text().split("\n", 1)
    pid_file.write_text(f"{os.getpid()}\n{rest}")
    with running(cluster) as process:
        assert process.poll() is None


def test_a_server_left_over_from_a_killed_run_is_ended_first(cluster: Cluster) -> None:
    with running(cluster) as left_over:
        with running(cluster) as process:
            assert process.pid != left_over.pid
        assert left_over.wait(60) == 0


def test_a_first_run_cut_short_leaves_no_half_cluster(home: Path) -> None:
    (home / "data.unfinished" / "base").mkdir(parents=True)
    with running(Cluster(home / "data", unsafe_but_fast=True)) as process:
        assert process.poll() is None
    assert not (home / "data.unfinished").exists()


def test_data_of_another_version_is_refused_with_the_way_out(cluster: Cluster) -> None:
    (cluster.data / "PG_VERSION").write_text("9\n")
    with pytest.raises(PostgresError, match=r"(?s)PostgreSQL 9.*ORCHID_PG_BIN.*demo-reset"):
        cluster.prepare()


def test_a_deep_folder_gets_a_socket_short_enough_for_the_kernel(home: Path) -> None:
    cluster = Cluster(home / ("deep-" * 30) / "data")
    assert len(str(cluster.runtime / ".s.PGSQL.5432")) <= SOCKET_PATH_LIMIT


def test_missing_programs_are_named_with_three_ways_out(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORCHID_PG_BIN", str(home))
    binaries.binaries.cache_clear()
    with pytest.raises(PostgresError, match=r"(?s)requirements.lock.*ORCHID_PG_BIN.*DATABASE_URL"):
        binaries.binaries()
    binaries.binaries.cache_clear()


def test_a_runtime_folder_of_another_user_is_refused(home: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can make a folder another's")
    cluster = Cluster(home / "data", identity=Identity(prefix=binaries.USER_NAMESPACE))
    cluster.runtime.mkdir()
    os.chown(cluster.runtime, 12345, 12345)
    with pytest.raises(PostgresError, match="belongs to another user"):
        cluster.prepare()
