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
from orchid.cli.main import COMMANDS, orchid
from releases.management.commands import keys

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/commands.md").read_text()
AFTER = PAGE.split("# May it ship?")[1]
#: Groups whose every command the page names.
RELEASES = ("proposal", "rollout", "emergency", "second-look", "pool", "edge", "webhook", "notice")
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


def command(*words: str) -> click.Command | None:
    """The command of these words; None where one of them is none."""
    found: click.Command | None = orchid
    for word in words:
        if not isinstance(found, click.Group):
            return None
        found = found.get_command(click.Context(found), word)
    return found


def commands(named: click.Command) -> list[click.Command]:
    return list(named.commands.values()) if isinstance(named, click.Group) else [named]


def test_options_on_the_page_are_the_commands_own() -> None:
    named = set(re.findall(r"orchid ([a-z-]+)", AFTER)) & COMMANDS.keys()
    found = [one for name in named for one in commands(command(name) or orchid)]
    known = {name for one in found for option in one.params for name in option.opts}
    for managed in (export_completions, keys):
        known |= set(managed.Command().create_parser("manage.py", "")._option_string_actions)
    assert set(re.findall(r"--[a-z][a-z-]+", AFTER)) <= known


@pytest.mark.parametrize("group", RELEASES)
def test_each_command_about_releases_is_on_the_page_and_each_there_exists(group: str) -> None:
    """On a line that names the group, a command stands alone after the first: `show`, `list`."""
    lines = [line for line in AFTER.splitlines() if f"`orchid {group} " in line]
    shown = {name for line in lines for name in re.findall(rf"`orchid {group} ([a-z-]+)", line)}
    shown |= {name for line in lines for name in re.findall(r"(?<=, )`([a-z][a-z-]+)", line)}
    assert shown == {one.name for one in commands(command(group) or orchid)}
