"""`orchid packet` from a shell: export, verify, show, and how each ends."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from orchid.cli import main as command_line

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "examples/orchid-serve/generation-1.yaml"
Ran = Callable[..., tuple[int, str, str]]
#: What a packet is verified without: the control plane's frameworks, and any connection.
OFFLINE = """
import socket, sys
for name in ("django", "rest_framework", "celery", "psycopg"):
    sys.modules[name] = None
def refuse(*_, **__):
    raise AssertionError("no network")
socket.socket.connect = socket.create_connection = refuse
from orchid.cli.main import main
main()
"""


@pytest.fixture
def orchid(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ran:
    """Run `orchid packet ...`; returns its exit code, output and error output."""

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["orchid", "packet", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            command_line.main()
        printed = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, printed.out, printed.err

    return run


@pytest.fixture
def packet(orchid: Ran, tmp_path: Path) -> Path:
    file = tmp_path / "packet.json"
    assert orchid("export", "--figures", "--document", DOCUMENT, "-o", file) == (0, "", "")
    return file


def test_what_was_exported_holds(orchid: Ran, packet: Path) -> None:
    code, out, err = orchid("verify", packet)
    assert (code, err) == (0, "")
    assert f"{packet} holds: figures of orchid-serve" in out
    assert json.loads(packet.read_bytes())["digest"] in out


def test_what_was_altered_is_named_and_ends_with_1(orchid: Ran, packet: Path) -> None:
    packet.write_bytes(packet.read_bytes().replace(b'"value":"84030"', b'"value":"84031"'))
    code, out, _ = orchid("verify", packet)
    assert code == 1
    assert "does not hold" in out
    assert "figure TEU of all classes: value is '84031', recomputed '84030'" in out
    assert "digests/derivations" in out
    data = json.loads(orchid("verify", packet, "--json")[1])
    assert data["holds"] is False
    assert [one["name"] for one in data["checks"] if not one["holds"]] == [
        "digests/derivations",
        "figure TEU of all classes",
    ]


def test_another_packet_than_the_wanted_does_not_hold(orchid: Ran, packet: Path) -> None:
    digest = json.loads(packet.read_bytes())["digest"]
    assert orchid("verify", packet, "--digest", digest)[0] == 0
    code, out, _ = orchid("verify", packet, "--digest", "sha256:0")
    assert code == 1
    assert "wanted is sha256:0" in out


@pytest.mark.parametrize("content", [b"", b"{}", b"[1, 2", b"\x1f\x8b\x08", b"{" * 9_000])
def test_what_is_no_packet_ends_with_3(orchid: Ran, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "other").write_bytes(content)
    for command in ("verify", "show"):
        code, out, err = orchid(command, tmp_path / "other")
        assert (code, out) == (3, "")
        assert "is no packet" in err


def test_a_file_that_is_not_there_ends_with_3(orchid: Ran, tmp_path: Path) -> None:
    for file in (tmp_path / "none", tmp_path):
        assert orchid("verify", file)[0] == 3


def test_a_figure_is_shown_with_how_it_comes_about(orchid: Ran, packet: Path) -> None:
    code, out, _ = orchid("show", packet)
    assert code == 0
    (row,) = [line for line in out.splitlines() if line.startswith("selected, exact reserve")]
    assert "0.000008863873 $" in row
    assert "bound - cost per success (orchid.engine.economics" in row
    declared = next(line for line in out.splitlines() if line.startswith("static batch 8, p95"))
    assert "quoted from the declared points" in declared


def test_a_document_without_files_beside_it_has_its_figures(orchid: Ran, tmp_path: Path) -> None:
    document = tmp_path / "policy.yaml"
    document.write_bytes(DOCUMENT.read_bytes())
    (tmp_path / "figures.yaml").write_text("schema: orchid.figures/v1\nproduct: another\n")
    code, out, _ = orchid("export", "--figures", "--document", document)
    assert code == 0
    assert json.loads(out)["asked"] is None


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("figures: [{name: x, by: nothing}]", "no derivation is called 'nothing'"),
        ("figures: [{name: x, by: teu_per_request}]", "x (by teu_per_request): class is missing"),
        ("figures: [{name: x, by: teu_per_s, with: {class: y}}]", "no class y"),
        ("figures: [{name: x, by: safe_teu_per_s, with: {a: 1}}]", "does not take a"),
        ("figures: [{name: x, by: load_under, with: {trial: y}}]", "the trials are steady"),
        ("figures: [{name: x, by: fits_under, with: {scenario: rain}}]", "can't read 'rain'"),
        ("figures: [{name: x, by: pool_tokens, with: {pool_bytes: 1, bytes_per_token: 0}}]", "x"),
        ("figures: []", "a list of 1 to"),
        ("figures: [", "figures.yaml has 1 fault"),
    ],
)
def test_wanted_figures_that_can_not_be_had_are_named(
    orchid: Ran, tmp_path: Path, asked: str, said: str
) -> None:
    (tmp_path / "policy.yaml").write_bytes(DOCUMENT.read_bytes())
    beside = f"schema: orchid.figures/v1\nproduct: orchid-serve\n{asked}\n"
    (tmp_path / "figures.yaml").write_text(beside)
    code, out, err = orchid("export", "--figures", "--document", tmp_path / "policy.yaml")
    assert (code, out) == (3, "")
    assert said in err


@pytest.mark.parametrize(
    "arguments",
    [
        ("export", "7", "--figures", "--product", "p"),
        ("export", "--document", DOCUMENT),
        ("export", "--generation", "2", "--product", "p"),
        ("export", "--figures"),
        ("export", "--figures", "--document", DOCUMENT, "-o", "no/such/folder.json"),
    ],
)
def test_a_wrong_call_ends_with_3(
    orchid: Ran, monkeypatch: pytest.MonkeyPatch, arguments: tuple[object, ...]
) -> None:
    monkeypatch.delenv("ORCHID_PRODUCT", raising=False)
    code, out, err = orchid(*arguments)
    assert (code, out) == (3, "")
    assert err


def offline(*arguments: object, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", OFFLINE, "packet", *map(str, arguments)],
        input=given,
        cwd=ROOT,
        capture_output=True,
        timeout=60,
        check=False,
    )


def test_a_packet_is_verified_without_django_and_without_a_network(packet: Path) -> None:
    done = offline("verify", "-", given=packet.read_bytes())
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"standard input holds")


@pytest.mark.parametrize("answer", [[1], [{}], [[]], [{"part": 1, "name": None}], ["\x1b[31m"]])
def test_an_answer_of_another_shape_is_not_shown_and_no_crash(
    orchid: Ran, packet: Path, answer: list[object]
) -> None:
    content = json.loads(packet.read_bytes()) | {"derivations": answer}
    packet.write_text(json.dumps(content))
    code, _, err = orchid("show", packet)
    assert code == 3
    assert "orchid packet verify" in err
