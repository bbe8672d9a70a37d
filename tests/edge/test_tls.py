"""An edge that is known by a certificate: it shows it, renews it, and believes one authority."""

import asyncio
import os
import ssl
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from click.testing import CliRunner

from accounts.certificates import CERTIFICATE
from orchid.edge import app as edge_app
from orchid.edge.app import Edge
from orchid.edge.main import run
from orchid.edge.settings import EdgeSettings
from orchid.edge.sync import Answer
from orchid.edge.tls import Tls, TlsError
from tests.edge.certificates import Authority, Pair
from tests.edge.control_plane import ControlPlane, bundle
from tests.edge.edge_site import Site
from tests.edge.proxy import Proxy


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
async def proxy(authority: Authority, plane: ControlPlane) -> AsyncIterator[Proxy]:
    proxy = Proxy(plane.app(), authority)
    async with proxy.serving():
        yield proxy


def without_token(site: Site, proxy: Proxy, tls: Tls) -> EdgeSettings:
    return replace(site.settings, url=proxy.url, token="", tls=tls)


async def polled(settings: EdgeSettings) -> Answer:
    """What one poll of a fresh edge comes to."""
    edge = Edge(settings)
    async with edge.client, edge.static_client:
        answer = await edge.sync.poll_once()
    await edge.journal.close()
    return answer


async def test_an_edge_is_run_by_its_certificate_alone(
    site: Site, proxy: Proxy, plane: ControlPlane, authority: Authority
) -> None:
    own = authority.vouches_for("edge")
    plane.shows = {CERTIFICATE: own.fingerprint}
    plane.publish(bundle(1))
    named = {
        "ORCHID_PRODUCT": site.settings.product,
        "ORCHID_EDGE_NAME": site.settings.name,
        "ORCHID_URL": proxy.url,
        "ORCHID_EDGE_CERTIFICATE": str(own.certificate),
        "ORCHID_EDGE_KEY": str(own.key),
        "ORCHID_EDGE_AUTHORITY": str(authority.file),
        "ORCHID_EDGE_PORT": "0",
        "ORCHID_EDGE_STATE": str(site.settings.state_dir),
        "ORCHID_EDGE_POOLS_DIR": str(site.pools),
    }
    kept = {name: value for name, value in os.environ.items() if name != "ORCHID_TOKEN"}
    edge = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        "from orchid.edge.main import run; run()",
        env={**kept, **named, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        await plane.until(lambda: plane.activated(1))
    finally:
        edge.kill()
        await edge.wait()
    assert set(proxy.shown) == {own.fingerprint}


async def test_who_shows_no_certificate_of_the_authority_gets_nothing(
    site: Site, proxy: Proxy, plane: ControlPlane, authority: Authority, tmp_path: Path
) -> None:
    stranger = Authority(tmp_path, "stranger").vouches_for("edge")
    plane.publish(bundle(1))
    without = Tls(authority=authority.file)
    for tls in (without, replace(without, certificate=stranger.certificate, key=stranger.key)):
        assert await polled(without_token(site, proxy, tls)) == Answer.UNREACHABLE
    assert plane.tags == []


async def test_a_control_plane_that_nobody_vouches_for_is_shown_nothing(
    site: Site, proxy: Proxy, plane: ControlPlane, authority: Authority, tmp_path: Path
) -> None:
    own = authority.vouches_for("edge")
    for believed in (None, Authority(tmp_path, "stranger").file):
        tls = Tls(own.certificate, own.key, believed)
        assert await polled(without_token(site, proxy, tls)) == Answer.UNREACHABLE
    assert (plane.tags, proxy.shown) == ([], [])


async def test_a_replaced_certificate_is_shown_without_a_restart(
    site: Site,
    proxy: Proxy,
    plane: ControlPlane,
    authority: Authority,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(edge_app, "RENEW_EVERY_S", 0.05)
    first = authority.vouches_for("edge")
    plane.shows = {}
    plane.publish(bundle(1))
    edge = Edge(without_token(site, proxy, Tls(first.certificate, first.key, authority.file)))
    async with edge.running():
        await plane.until(lambda: plane.activated(1))
        second = renewed(authority, first)
        async with asyncio.timeout(30):
            while proxy.shown[-1] != second.fingerprint:
                proxy.drop()  # what is open stays open, until somebody ends it
                await asyncio.sleep(0.1)
        plane.publish(bundle(2))
        await plane.until(lambda: plane.activated(2))


def renewed(authority: Authority, pair: Pair) -> Pair:
    """Half of it first, as a slow copy does: the edge must not lose what it showed."""
    older = pair.key.read_bytes()
    newer = authority.vouches_for("edge")
    key = newer.key.read_bytes()
    newer.key.write_bytes(older)
    context = Tls(None, None, authority.file).context()
    with pytest.raises(TlsError, match="no certificate with its key"):
        Tls(newer.certificate, newer.key).renew(context)
    newer.key.write_bytes(key)
    return newer


def test_half_a_certificate_takes_nothing_away(authority: Authority, tmp_path: Path) -> None:
    """A pair that doesn't fit leaves the context able to show the pair before it."""
    one, other = authority.vouches_for("one"), authority.vouches_for("other")
    tls = Tls(one.certificate, one.key, authority.file)
    context = tls.context()
    one.certificate.write_bytes(other.certificate.read_bytes())
    with pytest.raises(TlsError):
        tls.renew(context)
    assert shown_by(context, authority) == one.fingerprint


def shown_by(context: ssl.SSLContext, authority: Authority) -> str:
    """The fingerprint that a server sees of whoever connects with this context, in memory."""
    own = authority.vouches_for("server")
    serving = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(authority.file))
    serving.verify_mode = ssl.CERT_REQUIRED
    serving.load_cert_chain(own.certificate, own.key)
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context.wrap_bio(back, there, server_hostname="127.0.0.1")
    server = serving.wrap_bio(there, back, server_side=True)
    for side in (client, server, client, server):
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            continue
    given = server.getpeercert(binary_form=True)
    assert given is not None
    return sha256(given).hexdigest()


def asked(*given: str) -> str:
    """What the command says when it won't start."""
    start = CliRunner().invoke(run, ["--product", "p", *given], env={"ORCHID_TOKEN": ""})
    assert start.exit_code == 2, start.output
    return " ".join(start.output.split())


def test_an_edge_that_could_not_be_known_is_not_started(
    authority: Authority, tmp_path: Path
) -> None:
    sealed = authority.vouches_for("sealed", password="secret")
    plain = authority.vouches_for("plain")
    own = ["--certificate", str(plain.certificate), "--url", "https://127.0.0.1:1"]
    own += ["--state", str(tmp_path / "state")]
    assert "Give --token (ORCHID_TOKEN) or --certificate" in asked()
    assert "on https alone" in asked("--certificate", str(plain.certificate))
    assert "does not exist" in asked("--certificate", str(tmp_path / "none"))
    assert "no certificate with its key" in asked(*own)
    assert "no certificate with its key" in asked(*own, "--key", str(sealed.key))
    assert "holds no authority" in asked(
        *own, "--key", str(plain.key), "--authority", str(plain.key)
    )
    assert "name both, or neither" in asked(
        "--token", "orc_edge_x", "--key", str(plain.key), "--state", str(tmp_path / "state")
    )
