"""The roles and databases of an embedded cluster (provision.sql says which and why)."""

import importlib.util
import subprocess
from pathlib import Path

from orchid.cli.embedded.binaries import PostgresError, binaries
from orchid.cli.embedded.postgres import Cluster

DATABASE, OWNER, APP, BROKER = "orchid", "orchid_owner", "orchid_app", "orchid_broker"


def provision(cluster: Cluster) -> None:
    """Create what is missing of roles, databases and broker schema. Needs a running server."""
    script = (Path(__file__).parent / "provision.sql").read_text()
    psql(cluster, script, variables={"pgmq": str(pgmq_schema())})


def psql(cluster: Cluster, script: str, *, variables: dict[str, str] | None = None) -> str:
    """Run a script as the superuser. The program comes with the server: no driver is needed."""
    defined = [f"--set={name}={value}" for name, value in (variables or {}).items()]
    target = ["-h", str(cluster.runtime), "-U", "postgres", "-d", "postgres"]
    flags = ["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1"]
    done = subprocess.run(  # noqa: S603
        [str(binaries() / "psql"), *flags, *defined, *target],
        input=script,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise PostgresError(f"The database could not be set up:\n{done.stderr.strip()}")
    return done.stdout.strip()


def pgmq_schema() -> Path:
    """The message queue's SQL, found without importing the package and its database driver."""
    spec = importlib.util.find_spec("pgmq")
    if spec is None or spec.origin is None:
        raise PostgresError(
            "The pgmq package is not installed: the embedded broker needs its SQL.\n"
            "Install requirements.lock, or point BROKER_URL at a broker of your own."
        )
    return Path(spec.origin).parent / "sql" / "pgmq.sql"


def urls(cluster: Cluster) -> dict[str, str]:
    """The environment that points the product at this cluster."""
    return {
        "DATABASE_URL": cluster.url(APP, DATABASE),
        "DATABASE_OWNER_URL": cluster.url(OWNER, DATABASE),
        "BROKER_URL": cluster.broker_url(BROKER, BROKER),
    }
