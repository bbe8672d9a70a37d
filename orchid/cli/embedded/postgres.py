"""A private PostgreSQL from plain binaries: no service, no system user, no TCP port.

`initdb` and `postgres` are run directly. The server listens on a Unix socket in a folder that only
its owner can enter, which is what makes `trust` authentication safe there.
"""

import hashlib
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from orchid.cli.embedded.binaries import (
    Identity,
    PostgresError,
    binaries,
    output,
    own_identity,
    run,
)
from orchid.cli.embedded.process import Child

SOCKET_NAME = ".s.PGSQL.5432"
SOCKET_PATH_LIMIT = 107  # sun_path less its closing zero
# A test cluster is thrown away, so it need not survive a power cut.
UNSAFE_BUT_FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")


class Cluster:
    """One data folder with its server. `unsafe_but_fast` is for clusters that are thrown away."""

    def __init__(
        self, data: Path, *, unsafe_but_fast: bool = False, identity: Identity | None = None
    ) -> None:
        self.data = data.resolve()
        self.runtime = runtime_folder(self.data)
        self.identity = identity or own_identity()
        self.settings = UNSAFE_BUT_FAST if unsafe_but_fast else ()

    def url(self, role: str, database: str) -> str:
        return f"postgresql:///{database}?host={quote(str(self.runtime))}&user={role}"

    def broker_url(self, role: str, database: str) -> str:
        """Celery takes a query for options of its own, so the folder stands where a host would."""
        return f"pgmq://{role}@{quote(str(self.runtime), safe='')}/{database}"

    def child(self) -> Child:
        """The server as a process of its own; SIGINT is PostgreSQL's fast and clean stop."""
        options = ["listen_addresses=", "shared_preload_libraries=pg_stat_statements"]
        flags = [part for option in (*options, *self.settings) for part in ("-c", option)]
        server = [str(binaries() / "postgres"), "-D", str(self.data), "-k", str(self.runtime)]
        return Child(
            name="postgres",
            argv=[*self.identity.prefix, *server, *flags],
            prepare=self.prepare,
            ready=self.is_ready,
            stop_signal=signal.SIGINT,
            user=self.identity.user,
        )

    def prepare(self) -> bool:
        """Make all ready for a start. True when the data folder was made anew."""
        make_private(self.runtime, self.identity)
        if fresh := not (self.data / "PG_VERSION").exists():
            self._initdb()
        self._check_version()
        self._clear_stale_pid()
        return fresh

    def is_ready(self) -> bool:
        """The server writes its state into the last line of its pid file, as pg_ctl reads it."""
        lines = self._pid_lines()
        return len(lines) >= 8 and lines[7].strip() == "ready"

    def _initdb(self) -> None:
        # Under another name until it is whole: a first run cut short leaves no half cluster.
        unfinished = self.data.with_name(self.data.name + ".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        make_private(unfinished, self.identity)
        flags = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"]
        run([str(binaries() / "initdb"), "-D", str(unfinished), *flags], self.identity)
        unfinished.rename(self.data)

    def _check_version(self) -> None:
        data = (self.data / "PG_VERSION").read_text().strip()
        server = output([str(binaries() / "postgres"), "--version"]).split()[2].split(".")[0]
        if data != server:
            raise PostgresError(
                f"{self.data} was written by PostgreSQL {data}, the programs in {binaries()} are"
                f" {server}.\nSet ORCHID_PG_BIN to programs of version {data}, or forget the data"
                " (make demo-reset)."
            )

    def _pid_lines(self) -> list[str]:
        try:
            return (self.data / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return []

    def _clear_stale_pid(self) -> None:
        """End a server that a killed supervisor left stopping; forget a pid that is no server's.

        PostgreSQL itself refuses to start when the number now belongs to another process of ours,
        which is the rule in containers, where numbers are small and come again.
        """
        lines = self._pid_lines()
        if lines and (pid := int(lines[0])) and self._is_our_server(pid):
            os.kill(pid, signal.SIGINT)
            wait_until(lambda: not self._is_our_server(pid), 20, f"PostgreSQL {pid} does not stop.")
        (self.data / "postmaster.pid").unlink(missing_ok=True)
        for leftover in self.runtime.glob(SOCKET_NAME + "*"):
            leftover.unlink()

    def _is_our_server(self, pid: int) -> bool:
        try:
            return os.fsencode(self.data) in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except (FileNotFoundError, ProcessLookupError):
            return False


def runtime_folder(data: Path) -> Path:
    """Beside the data when a socket's path may be that long, else a short one of its own."""
    beside = data.parent / "run"
    if len(os.fsencode(beside / SOCKET_NAME)) <= SOCKET_PATH_LIMIT:
        return beside
    digest = hashlib.sha256(os.fsencode(data)).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"orchid-{os.geteuid()}-{digest}"


def make_private(folder: Path, identity: Identity) -> None:
    """Create the folder with mode 0700 for whoever runs the server; refuse another's."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.stat().st_uid not in {os.geteuid(), identity.user and identity.user[0]}:
        raise PostgresError(f"{folder} belongs to another user. Remove it, or set TMPDIR.")
    if identity.user:
        os.chown(folder, *identity.user)
    folder.chmod(0o700)


def wait_until(done: Callable[[], bool], within_s: float, otherwise: str) -> None:
    deadline = time.monotonic() + within_s
    while not done():
        if time.monotonic() > deadline:
            raise PostgresError(otherwise)
        time.sleep(0.02)
