"""`orchid audit verify` and `export`: the trail is checked with and without its control plane."""

import json
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner, Result

from orchid.cli.audit import audit, trail
from orchid.cli.client import Api
from orchid.engine.wire.signed import public_jwk
from orchid.engine.wire.trail import GENESIS, Link, link, sign_head
from orchid.engine.wire.trail_export import Closing, Opening, encode_line
from tests.edge.control_plane import new_key

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
KEY = new_key()


def chain(count: int) -> list[Link]:
    links, previous = [], GENESIS
    for seq in range(1, count + 1):
        event = {"id": seq, "actor": "ana", "reason": f"the {seq}th"}
        links.append(Link(seq, previous, link(previous, event), event))
        previous = links[-1].hash
    return links


class ControlPlane:
    """Has a trail of so many links, and counts what it is asked."""

    def __init__(self) -> None:
        self.links, self.fault, self.asked = chain(4), "", list[httpx.URL]()

    @property
    def head(self) -> str:
        return sign_head(self.links[-1].seq, self.links[-1].hash, NOW, KEY, "a1")

    def export(self) -> bytes:
        parts = (Opening(NOW, {}, True), *self.links, Closing(len(self.links), self.head))
        return b"\n".join(encode_line(part) for part in parts)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request.url)
        match request.url.path.rpartition("/")[2]:
            case "keys":
                return httpx.Response(200, json={"keys": {"a1": public_jwk(KEY)}})
            case "export":
                return httpx.Response(200, content=self.export())
        last = self.links[-1]
        figures = {"sealed": last.seq, "signed": last.seq, "head": last.hash, "pending": 0}
        words = {"intact": not self.fault, "fault": self.fault, "signed_head": self.head}
        return httpx.Response(200, json={**figures, **words})


@pytest.fixture
def plane(monkeypatch: pytest.MonkeyPatch) -> ControlPlane:
    monkeypatch.setenv("ORCHID_TOKEN", "token")
    found = ControlPlane()
    monkeypatch.setattr(trail, "Api", lambda: Api(httpx.MockTransport(found)))
    return found


def run(*given: object) -> Result:
    return CliRunner().invoke(audit, [str(one) for one in given], standalone_mode=False)


def test_what_the_control_plane_finds_is_the_exit_code(plane: ControlPlane) -> None:
    assert run("verify").return_value == 0
    plane.fault = "link 2 is missing"
    broken = run("verify")
    assert (broken.return_value, "Broken: link 2 is missing" in broken.output) == (1, True)


def test_an_export_is_verified_by_kept_keys_and_nobody_is_asked(
    plane: ControlPlane, tmp_path: Path
) -> None:
    run("export", tmp_path / "trail.jsonl")
    run("verify", "--save-keys", tmp_path / "keys.json")
    plane.asked.clear()
    found = run("verify", tmp_path / "trail.jsonl", "--keys", tmp_path / "keys.json", "--json")
    assert json.loads(found.output)["signed"] == 4
    assert (found.return_value, plane.asked) == (0, [])


def test_an_altered_export_is_broken(plane: ControlPlane, tmp_path: Path) -> None:
    file = tmp_path / "trail.jsonl"
    run("export", file)
    file.write_bytes(file.read_bytes().replace(b"the 3th", b"the 5th"))
    broken = run("verify", file)
    assert broken.return_value == 1
    assert "event 3 differs from what link 3 sealed" in broken.output


def test_a_head_that_was_kept_tells_of_a_tail_that_was_cut_off(
    plane: ControlPlane, tmp_path: Path
) -> None:
    assert run("verify", "--save-head", tmp_path / "head").return_value == 0
    assert run("verify", "--head", tmp_path / "head").return_value == 0
    plane.links = chain(2)
    cut = run("verify", "--head", tmp_path / "head")
    assert cut.return_value == 1
    assert "a head of link 4 was seen" in cut.output


def test_the_filter_of_an_export_is_asked_for(plane: ControlPlane, tmp_path: Path) -> None:
    run("export", tmp_path / "t.csv", "--format", "csv", "--person", "ben", "--generation", 7)
    assert dict(plane.asked[-1].params) == {"format": "csv", "person": "ben", "generation": "7"}


def test_what_is_no_command_is_the_file_of_a_column(tmp_path: Path) -> None:
    import numpy as np

    np.save(tmp_path / "day.npy", np.array([10.0, 20.0]))
    found = run(tmp_path / "day.npy", "--quantile", 0.5, "--json")
    assert json.loads(found.output)["ms"] == 10.0
