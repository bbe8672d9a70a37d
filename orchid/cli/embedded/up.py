"""`orchid up`: the order in which one machine's processes start, and what is said meanwhile."""

import os
import signal
from collections.abc import Callable

from orchid.cli.embedded import database, lock
from orchid.cli.embedded.logs import Follower
from orchid.cli.embedded.machine import CHECKOUT, DEMO_POOLS, DEMO_PRODUCT, Machine
from orchid.cli.embedded.supervisor import StartError, StopAsked, Supervisor
from orchid.cli.embedded.welcome import welcome
from orchid.cli.stop import Stop

Say = Callable[[str], None]


class SetupError(Exception):
    """Something must be put right before anything can start; the message says what."""


def run(machine: Machine, say: Say, *, verbose: bool) -> None:
    """Start everything and look after it until a signal; then stop everything. Always stops all."""
    check(machine)
    machine.var.mkdir(parents=True, exist_ok=True)
    with lock.held(machine.var):
        stop = Stop()
        # Ctrl-C, a polite kill, a closed terminal.
        stop.at(signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        follower = Follower(say) if verbose else None
        supervisor = Supervisor(machine.var, say, stop, machine.url, follower)
        try:
            start(machine, supervisor)
            say(welcome(machine))
            supervisor.watch()
        except StopAsked:
            say("stopping before all was started")
        finally:
            supervisor.stop_all()
            say("stopped; nothing is left running")


def check(machine: Machine) -> None:
    """Refuse early what would fail late and obscurely."""
    if not (CHECKOUT / "manage.py").exists():
        raise SetupError(
            "`orchid up` runs the control plane from a checkout of its repository; this is the"
            " installed library alone.\nClone the repository and run `make demo` there."
        )
    if "DATABASE_URL" in os.environ and "DATABASE_OWNER_URL" not in os.environ:
        raise SetupError(
            "DATABASE_URL is set but DATABASE_OWNER_URL is not. Migrations run as the role that"
            " owns the tables (orchid_owner), the product as one that does not (orchid_app):"
            " set both."
        )


def start(machine: Machine, supervisor: Supervisor) -> None:
    if machine.demo:
        start_demo(machine, supervisor)
    else:
        start_database(machine, supervisor)
        start_plain(machine, supervisor)


def start_database(machine: Machine, supervisor: Supervisor) -> None:
    if machine.embeds_postgres:
        supervisor.start(machine.cluster.child())
        database.provision(machine.cluster)
    supervisor.run_once(machine.manage("migrate", "migrate", "--no-input"))


def start_plain(machine: Machine, supervisor: Supervisor) -> None:
    supervisor.start(machine.web(), machine.worker(), machine.beat())
    product = os.environ.get("ORCHID_PRODUCT")
    if product and machine.secret("edge-token"):
        supervisor.start(machine.edge(product))
    else:
        supervisor.say(
            "no edge: it needs ORCHID_PRODUCT and an edge credential in "
            f"{machine.var / 'secrets' / 'edge-token'}"
        )


def start_demo(machine: Machine, supervisor: Supervisor) -> None:
    build_triton(machine, supervisor)
    # The model servers need no database: they come up while it is migrated and loaded.
    pools = supervisor.begin(*(machine.pool(name) for name in DEMO_POOLS))
    start_database(machine, supervisor)
    supervisor.run_once(machine.manage("demo-load", "demo_load"))
    supervisor.start(machine.web(), machine.worker(), machine.beat())
    supervisor.wait_for(pools)
    supervisor.start(machine.edge(DEMO_PRODUCT))
    # Traffic at once: the ledger of generation 1 is paid from its activation on.
    supervisor.start(machine.demo_step("traffic"))
    supervisor.run_once(machine.demo_step("seed"))
    if os.environ.get("ORCHID_DEMO_CI") != "0":
        supervisor.start(machine.demo_step("ci", once=True))


def build_triton(machine: Machine, supervisor: Supervisor) -> None:
    """Without Triton the demo still runs; its model servers then are stand-ins and say so."""
    if os.environ.get("DEMO_TRITON") == "0":
        return
    try:
        supervisor.run_once(machine.build_triton())
    except StartError as reason:
        supervisor.say(f"{reason}\nGoing on without Triton: a built-in model server stands in.")
