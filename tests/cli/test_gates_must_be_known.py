"""A gate that nobody can judge, or none at all, is refused before anything is asked of a server."""

import sys
from pathlib import Path
from typing import Any

import pytest

from orchid.cli.main import main
from tests.cli.conftest import EXAMPLES


@pytest.mark.parametrize(
    ("written", "instead", "place"),
    [
        ("  utility:", "  happiness:", "/gates/happiness"),
        ("gates:", "gates: {}\nformer_gates:", "/gates"),
    ],
)
@pytest.mark.parametrize("command", [["policy", "check"], ["propose", "--title", "Happier"]])
def test_such_a_document_is_neither_sound_nor_proposed(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    command: list[str],
    written: str,
    instead: str,
    place: str,
) -> None:
    source = (EXAMPLES / "orchid-serve/generation-1.yaml").read_text()
    assert f"\n{written}" in source
    file = tmp_path / "policy.yaml"
    file.write_text(source.replace(f"\n{written}", f"\n{instead}", 1))
    monkeypatch.delenv("ORCHID_TOKEN", raising=False)
    monkeypatch.setattr(sys, "argv", ["orchid", *command, str(file)])
    with pytest.raises(SystemExit) as ended:
        main()
    said: Any = capsys.readouterr()
    assert ended.value.code == 3
    assert place in said.err
