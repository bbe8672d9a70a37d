"""Settings from the environment, typed. A wrong or missing one stops the process and is named."""

import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from controlplane import sign_on
from controlplane.sign_on import Provider

ROOT = Path(__file__).resolve().parent.parent


class EnvironmentVariableError(Exception):
    """A variable has a value that can't be used; the text names it and says what is allowed."""


def text(name: str, default: str) -> str:
    return os.environ.get(name, "").strip() or default


def flag(name: str, default: bool) -> bool:
    """0 or 1; anything else is a mistake worth stopping for."""
    found = text(name, "1" if default else "0")
    if found not in ("0", "1"):
        raise EnvironmentVariableError(f"{name} is {found!r}; it must be 0 or 1.")
    return found == "1"


def integer(name: str, default: int) -> int:
    found = text(name, str(default))
    try:
        return int(found)
    except ValueError as error:
        raise EnvironmentVariableError(
            f"{name} is {found!r}; it must be a whole number."
        ) from error


def positive(name: str, default: int) -> int:
    found = integer(name, default)
    if found < 1:
        raise EnvironmentVariableError(f"{name} is {found}; it must be at least 1.")
    return found


def words(name: str, default: str) -> list[str]:
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


def folder(name: str, default: Path) -> Path:
    return Path(text(name, str(default))).resolve()


@dataclass(frozen=True)
class InboxBounds:
    """How much may wait to be counted, of one product and of all, before senders must wait too.

    A bound on batches keeps the queue short, one on bytes keeps the disk: both hold.
    """

    product_batches: int
    product_bytes: int
    all_batches: int
    all_bytes: int


@dataclass(frozen=True)
class Ingest:
    """How long what came in is kept, in whole days, and how many values a dimension keeps."""

    requests_days: int
    steps_days: int
    hours_days: int
    receipts_days: int
    values: int
    tenants: int


#: The database itself refuses to drop the last week.
LEAST_DAYS = 7


def ingest() -> Ingest:
    """Rollups outlive requests: as long as a request may still arrive, its step can be counted."""
    found = Ingest(
        requests_days=_at_least("ORCHID_KEEP_REQUESTS_DAYS", 30, LEAST_DAYS),
        steps_days=_at_least("ORCHID_KEEP_STEPS_DAYS", 35, LEAST_DAYS),
        hours_days=_at_least("ORCHID_KEEP_HOURS_DAYS", 400, LEAST_DAYS),
        receipts_days=_at_least("ORCHID_KEEP_RECEIPTS_DAYS", 2, 1),
        values=_at_least("ORCHID_DIMENSION_VALUES", 100, 1),
        tenants=_at_least("ORCHID_TENANTS", 50, 1),
    )
    if not found.requests_days < found.steps_days <= found.hours_days:
        raise EnvironmentVariableError(
            f"ORCHID_KEEP_STEPS_DAYS is {found.steps_days}; it must be over "
            f"ORCHID_KEEP_REQUESTS_DAYS ({found.requests_days}) and not over "
            f"ORCHID_KEEP_HOURS_DAYS ({found.hours_days})."
        )
    return found


def _at_least(name: str, default: int, least: int) -> int:
    found = integer(name, default)
    if found < least:
        raise EnvironmentVariableError(f"{name} is {found}; it must be at least {least}.")
    return found


@dataclass(frozen=True)
class Edges:
    """What the edges' entry holds open in one process, and what a proxy proves itself by.

    Without a secret no client certificate counts, whoever says that it was verified.
    """

    held: int
    proxy_secret: str


#: As long as what can't be guessed is, in characters.
LEAST_SECRET = 32


def edges() -> Edges:
    secret = text("ORCHID_EDGE_PROXY_SECRET", "")
    if secret and len(secret) < LEAST_SECRET:
        raise EnvironmentVariableError(
            f"ORCHID_EDGE_PROXY_SECRET has {len(secret)} characters; it must have {LEAST_SECRET}."
        )
    return Edges(held=positive("ORCHID_EDGE_STREAMS", 2_000), proxy_secret=secret)


@dataclass(frozen=True)
class People:
    """How people sign in: how long a session lasts, who else vouches, who needs a second factor."""

    idle_s: int
    session_s: int
    confirmed_s: int
    second_factor_roles: list[str]
    providers: tuple[Provider, ...]


#: Written out, since this leaf imports no room.
_ROLES = ("product_owner", "engineer", "sre", "auditor")


def people() -> People:
    roles = words("ORCHID_SECOND_FACTOR_ROLES", "")
    for role in roles:
        if role not in _ROLES:
            raise EnvironmentVariableError(
                f"ORCHID_SECOND_FACTOR_ROLES has {role!r}; a role is one of {', '.join(_ROLES)}."
            )
    return People(
        idle_s=60 * positive("ORCHID_SESSION_IDLE_MINUTES", 120),
        session_s=3600 * positive("ORCHID_SESSION_HOURS", 12),
        confirmed_s=60 * positive("ORCHID_CONFIRM_MINUTES", 30),
        second_factor_roles=roles,
        providers=_providers(text(sign_on.VARIABLE, "")),
    )


def _providers(path: str) -> tuple[Provider, ...]:
    try:
        return sign_on.read(Path(path).resolve()) if path else ()
    except sign_on.SignOnError as error:
        raise EnvironmentVariableError(f"{sign_on.VARIABLE}: {error}") from error


@dataclass(frozen=True)
class Environment:
    """Everything the control plane reads from its environment, read once at start."""

    debug: bool
    var: Path
    keys: Path
    secret_key_file: Path
    database: dict[str, Any]
    database_pool: bool
    broker_url: str
    allowed_hosts: list[str]
    trusted_origins: list[str]
    secure_cookies: bool
    url: str
    email_host: str
    webhooks_private: bool
    inbox: InboxBounds
    ingest: Ingest
    edges: Edges
    people: People


def read() -> Environment:
    """Read and check every variable; raises EnvironmentVariableError naming the first wrong one."""
    var = folder("ORCHID_VAR", ROOT / "var")
    port = integer("ORCHID_PORT", 8470)
    url = text("ORCHID_URL", f"http://127.0.0.1:{port}").rstrip("/")
    return Environment(
        debug=flag("ORCHID_DEBUG", False),
        var=var,
        keys=folder("ORCHID_KEYS_DIR", var / "keys"),
        secret_key_file=folder("DJANGO_SECRET_KEY_FILE", var / "secrets" / "django-secret-key"),
        database=database(var),
        database_pool=flag("ORCHID_DATABASE_POOL", False),
        broker_url=text("BROKER_URL", f"pgmq://orchid_broker@{_quoted(var / 'run')}/orchid_broker"),
        allowed_hosts=words("ORCHID_ALLOWED_HOSTS", "127.0.0.1,localhost,[::1]"),
        trusted_origins=words("ORCHID_TRUSTED_ORIGINS", url),
        secure_cookies=flag("ORCHID_SECURE_COOKIES", not is_plain_loopback(url)),
        url=url,
        email_host=text("ORCHID_EMAIL_HOST", ""),
        webhooks_private=flag("ORCHID_WEBHOOKS_PRIVATE", False),
        ingest=ingest(),
        edges=edges(),
        people=people(),
        inbox=inbox_bounds(),
    )


def inbox_bounds() -> InboxBounds:
    return InboxBounds(
        product_batches=positive("ORCHID_INBOX_BATCHES", 2_000),
        product_bytes=positive("ORCHID_INBOX_MB", 512) * 1024 * 1024,
        all_batches=positive("ORCHID_INBOX_ALL_BATCHES", 10_000),
        all_bytes=positive("ORCHID_INBOX_ALL_MB", 2_048) * 1024 * 1024,
    )


def is_plain_loopback(url: str) -> bool:
    """Whether browsers reach the product by http on this machine alone; TLS adds nothing."""
    return url.startswith(("http://127.0.0.1", "http://localhost", "http://[::1]"))


def database(var: Path) -> dict[str, Any]:
    """Connection parameters of this process' role: the application, or the tables' owner."""
    role = text("ORCHID_DATABASE_AS", "app")
    if role not in ("app", "owner"):
        raise EnvironmentVariableError(f"ORCHID_DATABASE_AS is {role!r}; it must be app or owner.")
    name = "DATABASE_URL" if role == "app" else "DATABASE_OWNER_URL"
    default = f"postgresql:///orchid?host={var / 'run'}&user=orchid_{role}"
    return conninfo(name, text(name, default))


def conninfo(name: str, url: str) -> dict[str, Any]:
    """The parts of a PostgreSQL URL (TCP or socket form)."""
    if not url.startswith(("postgresql://", "postgres://")):
        raise EnvironmentVariableError(
            f"{name} must begin with postgresql://; PostgreSQL is the only database."
        )
    try:
        found = conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        raise EnvironmentVariableError(f"{name} can't be read: {error}") from error
    if not found.get("dbname"):
        raise EnvironmentVariableError(f"{name} names no database.")
    if not str(found.get("port", "5432")).isdecimal():
        raise EnvironmentVariableError(f"{name} has the port {found['port']!r}; it is a number.")
    return dict(found)


def broker_options(url: str) -> dict[str, Any]:
    """Transport options of Celery's broker.

    The pgmq client would let DATABASE_URL override the broker's own address, and does not decode
    a socket folder in a URL, so it gets a whole connection string. A message is invisible to
    others for longer than the longest task, because its timeout is never extended.
    """
    if not url.startswith("pgmq://"):
        return {"visibility_timeout": 600}
    parts = conninfo("BROKER_URL", "postgresql" + url.removeprefix("pgmq"))
    return {
        "conn_string": make_conninfo(**parts),
        "init_extension": False,
        "visibility_timeout": 600,
        "polling_interval": 0.1,
        "wait_time_seconds": 0,
    }


def secret_key(path: Path) -> str:
    """The signing secret of sessions; made on first use, readable by its owner alone."""
    try:
        return path.read_text().strip() or _write_secret(path)
    except FileNotFoundError:
        return _write_secret(path)


def _write_secret(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(secrets.token_urlsafe(64))
    try:
        # A link fails when another process was first; then both read the same secret.
        os.link(fresh, path)
    except FileExistsError:
        pass
    finally:
        fresh.unlink()
    return path.read_text().strip()


def _quoted(path: Path) -> str:
    from urllib.parse import quote

    return quote(str(path), safe="")
