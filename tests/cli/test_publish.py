"""Signed bundles are put where static files are served from: whole, in order, never backwards."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from orchid.cli.client import Api
from orchid.cli.publish import commands
from orchid.engine.wire.bundle import Bundle, etag_of, public_jwk, sign
from tests.cli.conftest import Serve
from tests.cli.store import SECRET, Store
from tests.edge.control_plane import PRODUCT, bundle, new_key

KEY = new_key()


class ControlPlane:
    """Has one newest bundle, and says which keys sign."""

    def __init__(self) -> None:
        self.token, self.is_up = "", True
        self.keys = {"k1": public_jwk(KEY)}

    def publish(self, published: Bundle, key: bytes = KEY) -> None:
        self.token = sign(published, key, "k1")

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if not self.is_up:
            return httpx.Response(503, json={"title": "Not at this moment", "code": "away"})
        if request.url.path.endswith("/keys"):
            return httpx.Response(200, json={"keys": self.keys})
        assert request.url.path == f"/api/v1/products/{PRODUCT}/bundle"
        return httpx.Response(200, text=self.token)


@pytest.fixture
def plane(monkeypatch: pytest.MonkeyPatch) -> ControlPlane:
    monkeypatch.setenv("ORCHID_TOKEN", "token")
    found = ControlPlane()
    monkeypatch.setattr(commands, "Api", lambda: Api(httpx.MockTransport(found)))
    return found


@pytest.fixture
def store(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    made = Store()
    with serve(made.app) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKID")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        monkeypatch.setenv("AWS_REGION", "eu-central-1")
        yield made


def run(target: object, *more: str) -> Result:
    given = ["--product", PRODUCT, "--to", str(target), *more]
    return CliRunner().invoke(commands.publish, given)


def manifest(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / PRODUCT / "manifest.json").read_bytes())
    return found


def test_a_folder_holds_the_newest_bundle_and_each_under_its_own_name(
    plane: ControlPlane, tmp_path: Path
) -> None:
    for number in (1, 2):
        plane.publish(bundle(number))
        assert run(tmp_path).exit_code == 0
    facts = manifest(tmp_path)
    assert (facts["publication"], facts["etag"]) == (2, etag_of(plane.token))
    assert (tmp_path / PRODUCT / "bundle.jws").read_text() == plane.token
    assert (tmp_path / PRODUCT / facts["kept_as"]).read_text() == plane.token
    assert len(list((tmp_path / PRODUCT / "publications").iterdir())) == 2


def test_what_lies_there_already_is_not_written_again(plane: ControlPlane, tmp_path: Path) -> None:
    plane.publish(bundle(1))
    run(tmp_path)
    done = run(tmp_path, "--json")
    assert json.loads(done.output)["written"] is False


def test_a_bundle_that_was_signed_again_replaces_the_one_before(
    plane: ControlPlane, tmp_path: Path
) -> None:
    first = bundle(1)
    plane.publish(first)
    run(tmp_path)
    plane.publish(replace(first, issued_at=first.issued_at + timedelta(seconds=1)))
    assert json.loads(run(tmp_path, "--json").output)["written"] is True
    assert (tmp_path / PRODUCT / "bundle.jws").read_text() == plane.token


def test_a_newer_bundle_is_never_replaced_by_an_older_one(
    plane: ControlPlane, tmp_path: Path
) -> None:
    plane.publish(bundle(7))
    run(tmp_path)
    kept = plane.token
    plane.publish(bundle(6))
    done = run(tmp_path)
    assert done.exit_code == 1
    assert "another control plane" in done.output
    assert (tmp_path / PRODUCT / "bundle.jws").read_text() == kept


@pytest.mark.parametrize("cut", range(3))
@pytest.mark.parametrize(
    "left", [None, b"", b'{"schema": "orchid.static/v1"}', "of the one before"]
)
def test_whatever_a_cut_writer_left_is_written_anew(
    plane: ControlPlane, tmp_path: Path, cut: int, left: bytes | str | None
) -> None:
    plane.publish(bundle(1))
    run(tmp_path)
    before = [place.read_bytes() for place in lying(tmp_path)]
    plane.publish(bundle(2))
    run(tmp_path)
    place = lying(tmp_path)[cut]
    if left is None:
        place.unlink()
    else:
        place.write_bytes(before[cut] if isinstance(left, str) else left)
    done = run(tmp_path, "--json")
    assert json.loads(done.output)["written"] is True
    assert lying(tmp_path)[0].read_text() == lying(tmp_path)[1].read_text() == plane.token
    assert json.loads(run(tmp_path, "--json").output)["written"] is False


def lying(folder: Path) -> tuple[Path, Path, Path]:
    """The newest bundle under its own name, the one that edges follow, and the manifest."""
    kept = max((folder / PRODUCT / "publications").iterdir(), key=lambda place: place.name)
    return kept, folder / PRODUCT / "bundle.jws", folder / PRODUCT / "manifest.json"


def test_a_newer_bundle_is_kept_though_its_manifest_was_never_written(
    plane: ControlPlane, tmp_path: Path
) -> None:
    plane.publish(bundle(7))
    run(tmp_path)
    kept = plane.token
    (tmp_path / PRODUCT / "manifest.json").unlink()
    plane.publish(bundle(6))
    assert "another control plane" in run(tmp_path).output
    assert (tmp_path / PRODUCT / "bundle.jws").read_text() == kept


def test_who_follows_outlasts_a_folder_that_is_no_folder_for_a_while(
    plane: ControlPlane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def mended(_: float) -> None:
        if (tmp_path / "site").is_dir():
            raise KeyboardInterrupt
        (tmp_path / "site").unlink()

    (tmp_path / "site").touch()
    plane.publish(bundle(1))
    monkeypatch.setattr("orchid.cli.publish.commands.time.sleep", mended)
    assert "site can't be used: Not a directory" in run(tmp_path / "site", "--follow").output
    assert manifest(tmp_path / "site")["publication"] == 1


def test_what_every_edge_would_refuse_is_not_written(plane: ControlPlane, tmp_path: Path) -> None:
    plane.publish(bundle(1), key=new_key())
    done = run(tmp_path)
    assert (done.exit_code, "altered" in done.output) == (1, True)
    assert not (tmp_path / PRODUCT).exists()


def test_what_is_no_bundle_at_all_is_told_in_words(plane: ControlPlane, tmp_path: Path) -> None:
    plane.token = "<html>Zurück zur Anmeldung</html>"
    assert "unsigned" in run(tmp_path).output
    assert not (tmp_path / PRODUCT).exists()


def test_the_keys_for_edges_without_a_control_plane_are_a_file_apart(
    plane: ControlPlane, tmp_path: Path
) -> None:
    plane.publish(bundle(1))
    run(tmp_path / "site", "--keys", str(tmp_path / "keys.json"))
    assert json.loads((tmp_path / "keys.json").read_bytes()) == {"keys": plane.keys}


def test_a_bucket_takes_what_is_signed_and_the_pointer_comes_after_what_it_names(
    plane: ControlPlane, store: Store
) -> None:
    plane.publish(bundle(1))
    done = run("s3://site/edges of ours")
    assert done.exit_code == 0, done.output
    kept, pointer, facts = store.puts
    assert pointer == f"/site/edges of ours/{PRODUCT}/bundle.jws"
    assert kept.startswith(f"/site/edges of ours/{PRODUCT}/publications/1-")
    assert facts.endswith("manifest.json")
    body, headers = store.objects[pointer]
    assert (body.decode(), headers["cache-control"]) == (plane.token, "no-cache")
    assert "immutable" in store.objects[kept][1]["cache-control"]
    assert headers["content-type"] == "application/jose"


def test_a_bucket_is_not_written_twice_either(plane: ControlPlane, store: Store) -> None:
    plane.publish(bundle(1))
    run("s3://site")
    run("s3://site")
    assert len(store.puts) == 3


def test_a_store_that_is_busy_is_asked_again(plane: ControlPlane, store: Store) -> None:
    store.failures = 2
    plane.publish(bundle(1))
    assert run("s3://site").exit_code == 0


def test_a_wrong_secret_is_told_in_the_words_of_the_store(
    plane: ControlPlane, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "other")
    plane.publish(bundle(1))
    done = run("s3://site")
    assert done.exit_code == 1
    assert "SignatureDoesNotMatch: No." in done.output


def test_without_credentials_the_variables_are_named(
    plane: ControlPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY", raising=False)
    assert "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY" in run("s3://site").output


def test_who_follows_writes_each_bundle_and_outlasts_an_outage(
    plane: ControlPlane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def looked(_: float) -> None:
        """What happens between two looks."""
        plane.is_up = not plane.is_up
        if plane.is_up:
            plane.publish(bundle(2))
        elif manifest(tmp_path)["publication"] == 2:
            raise KeyboardInterrupt

    plane.publish(bundle(1))
    monkeypatch.setattr("orchid.cli.publish.commands.time.sleep", looked)
    run(tmp_path, "--follow")
    assert manifest(tmp_path)["publication"] == 2
