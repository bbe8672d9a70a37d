"""`orchid`: the command line. A command is imported when it is called, not before."""

import contextlib
import importlib
import sys
import traceback
from typing import NamedTuple, TextIO

import click

# Verdicts own 0 (pass), 1 (fail) and 2 (inconclusive or no data): an error of any kind is 3.
ERROR = 3


class Target(NamedTuple):
    """Where a command is, and its line in the help."""

    module: str
    attribute: str
    summary: str


COMMANDS = {
    "up": Target("local", "up", "Start the whole product on this machine."),
    "status": Target("local", "status", "What runs here, what is live, which edge runs what."),
    "propose": Target("change", "propose", "Draft a generation from a document and propose it."),
    "proposal": Target("releases.proposal", "proposal", "Review, schedule, rebase and publish."),
    "evidence": Target("evidence", "evidence", "Quality evidence: push and list it."),
    "check": Target("check", "check", "May a generation ship? The verdict is the exit code."),
    "rollout": Target("releases.rollout", "rollout", "Rollouts: where each stands, and the moves."),
    "rollback": Target("rollback", "rollback", "Go back to what was live before, or rehearse it."),
    "drills": Target("releases.drills", "drills", "Rehearsals of a rollback, and their answers."),
    "emergency": Target("releases.emergency", "emergency", "Publish at once, or cap a tenant."),
    "second-look": Target("releases.emergency", "second_look", "Look at what was done alone."),
    "publications": Target("releases.publications", "publications", "What was published, and why."),
    "pool": Target("releases.pool", "pool", "Pools: what they still hold; release one."),
    "webhook": Target("releases.webhook", "webhook", "Who is told what waits and breaches."),
    "notice": Target("releases.notice", "notice", "What was told, and to whom; tell it again."),
    "publish": Target("publish", "publish", "Put signed bundles where static files are served."),
    "packet": Target("packet", "packet", "Export what a verdict rests on, and recompute it."),
    "audit": Target("audit", "audit", "The audit trail; exact percentiles of a column."),
    "ingest": Target("ingest", "ingest", "Deliver trace files, logs and records."),
    "policy": Target("policy", "policy", "Check, compare and explain documents, offline."),
    "edge": Target("edge", "edge", "Run an edge; register, rotate and retire the edges."),
    "triton": Target("triton.commands", "triton", "A real Triton with toy models."),
    "sign-in": Target("session", "sign_in", "Be asked as a person, for what no token may."),
    "sign-out": Target("session", "sign_out", "End that session."),
    "demo": Target("demo.commands", "demo", "The clients and the CI job of the demo."),
}


class LazyGroup(click.Group):
    """Knows its commands by name; an edge or a CI job does without the others' imports."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        target = COMMANDS[cmd_name]
        try:
            module = importlib.import_module(f"orchid.cli.{target.module}")
        except ModuleNotFoundError as missing:
            raise click.ClickException(
                f"`orchid {cmd_name}` needs {missing.name}, which is not installed here.\n"
                "Install requirements.lock, or orchid[edge] where only an edge runs."
            ) from missing
        command: click.Command = getattr(module, target.attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, target.summary) for name, target in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
def orchid() -> None:
    """Publish, prove and roll back the generations of an AI inference fleet.

    Commands that speak to a control plane take its address from ORCHID_URL and who asks from
    ORCHID_TOKEN, else from `orchid sign-in`. Exit codes: 0 success or pass, 1 fail, 2 inconclusive
    or no data, 3 error.
    """


def _close(stream: TextIO) -> None:
    """Throw away what can't be written, which Python would else try again while it ends."""
    with contextlib.suppress(OSError):
        stream.close()


def main() -> None:
    """Run, and leave with a documented exit code; a wrong call is an error, never a verdict."""
    output = sys.stdout
    try:
        code = orchid(prog_name="orchid", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(ERROR)
    except click.Abort:
        sys.exit(130)
    except SystemExit:
        # Where nobody reads on (`| head`), click swaps the stream and leaves with 1, a verdict.
        if sys.stdout is not output:
            sys.exit(ERROR)
        raise
    except OSError as error:
        # A full disk, a file that vanished: told in words, for it is the caller's to mend.
        _close(sys.stdout)
        click.ClickException(str(error)).show()
        sys.exit(ERROR)
    except Exception:
        # Python would leave with 1, which is a verdict.
        traceback.print_exc()
        sys.exit(ERROR)
    sys.exit(code if isinstance(code, int) else 0)
