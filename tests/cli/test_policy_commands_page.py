"""The page about commands names each of them, and what it shows can be typed."""

import re
import shlex
from pathlib import Path

import pytest

from orchid.cli.policy import COMMANDS
from tests.cli.conftest import Run

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/commands.md").read_text()
SHOWN = re.findall(r"^orchid policy (.+)$", PAGE, re.MULTILINE)


def test_every_command_is_on_the_page() -> None:
    assert set(re.findall(r"\| `([a-z-]+)` \|\n", PAGE)) == {command.name for command in COMMANDS}


@pytest.mark.parametrize("words", SHOWN)
def test_what_the_page_shows_can_be_typed(
    policy: Run, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    monkeypatch.chdir(ROOT)
    code, out, err = policy(*shlex.split(words))
    assert code == (1 if words.startswith("what-if") else 0)
    assert out
    assert not err


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_each_help_begins_with_a_sentence_of_its_own(policy: Run, command: object) -> None:
    name = getattr(command, "name", "")
    code, out, _ = policy(name, "--help")
    first = out.split("\n\n")[1].strip()
    assert code == 0
    assert first.endswith(".")
    assert len(first.splitlines()) == 1
