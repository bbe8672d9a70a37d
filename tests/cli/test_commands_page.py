"""What the page about commands shows of packets can be typed, in a real shell."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from ingest.management.commands import export_completions
from orchid.cli.audit import audit
from orchid.cli.check import check
from orchid.cli.packet import packet
from orchid.cli.publish import publish
from orchid.cli.rollback import rollback
from releases.management.commands import keys

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/commands.md").read_text()
#: Those that need no control plane.
SHOWN = re.findall(r"^orchid packet .* --document .+$", PAGE, re.MULTILINE)


@pytest.mark.parametrize("line", SHOWN)
def test_what_the_page_shows_can_be_typed(line: str) -> None:
    orchid = shlex.join([sys.executable, "-m", "orchid"])
    done = subprocess.run(
        ["bash", "-c", f'set -o pipefail; orchid() {{ {orchid} "$@"; }}; {line}'],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_options_on_the_page_are_the_commands_own() -> None:
    assert isinstance(packet, click.Group)
    assert isinstance(audit, click.Group)
    commands = [check, *audit.commands.values(), publish, rollback, *packet.commands.values()]
    known = {name for command in commands for option in command.params for name in option.opts}
    for managed in (export_completions, keys):
        known |= set(managed.Command().create_parser("manage.py", "")._option_string_actions)
    after = PAGE.split("# May it ship?")[1]
    assert set(re.findall(r"--[a-z][a-z-]+", after)) <= known
