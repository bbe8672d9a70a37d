"""An edge that is known by a certificate gets its next one, with both counting meanwhile."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import connections
from django.test import Client
from django.utils import timezone
from pytest_django import Settings
from starlette.applications import Starlette
from starlette.routing import Mount

from accounts.certificates import marked
from accounts.models import AuditEvent, Credential, User
from orchid.edge import app as edge_app
from orchid.edge.app import Edge as RunningEdge
from orchid.edge.settings import EdgeSettings
from orchid.edge.tls import Tls
from policies.models import Product
from releases.edge_asgi import create_app
from releases.models import Activation, Edge
from releases.services.edges import register_edge
from releases.services.rollback import roll_back
from tests.edge.certificates import Authority
from tests.edge.proxy import SECRET, Proxy
from tests.releases.releases_cast import SLUG, actor, cast, edge, live_product, published

PAGE = f"/products/{SLUG}/edges/edge-1/rotate"
API = f"/api/v1/products/{SLUG}/edges"
#: Fingerprints of certificates, as `openssl x509 -fingerprint` prints them.
FIRST, SECOND, THIRD = ("AB" * 32, "CD" * 32, "EF" * 32)


def owner() -> Client:
    client = Client()
    client.force_login(User.objects.get(username="ben"))
    return client


@pytest.fixture
def known(product: Product) -> Edge:
    """Edge-1, known by the first certificate."""
    credential, token = register_edge(actor("ben"), product, "edge-1", FIRST)
    assert token == ""
    return Edge.objects.create(
        product=product, name="edge-1", credential=credential, registered_at=timezone.now()
    )


def replaced(door: str, edge: Edge, certificate: str) -> Any:
    asked = {"credential": edge.credential_id, "reason": "due", "certificate": certificate}
    if door == "page":
        return owner().post(PAGE, asked | {"overlap_s": "3600"})
    return owner().post(f"{API}/edge-1/rotate", asked | {"overlap_s": 3600}, "application/json")


@pytest.mark.parametrize("door", ["page", "api"])
def test_the_next_certificate_counts_beside_the_one_before(known: Edge, door: str) -> None:
    answer = replaced(door, known, SECOND)
    assert answer.status_code == {"page": 200, "api": 201}[door]
    known.refresh_from_db()
    assert known.credential.token_hash == marked(SECOND)
    former = known.former_credential
    assert former is not None
    assert (former.token_hash, former.revoked_at) == (marked(FIRST), None)
    assert former.expires_at is not None
    assert "orc_edge_" not in answer.content.decode()
    assert AuditEvent.objects.filter(action="credential.rotated", reason="due").exists()


@pytest.mark.parametrize("door", ["page", "api"])
@pytest.mark.parametrize(
    ("certificate", "status", "said"),
    [
        ("", 400, "known by a certificate"),
        ("nonsense", 400, "SHA-256 fingerprint"),
        (FIRST, 409, "It stood for edge-1 before"),
    ],
)
def test_what_is_no_next_certificate_is_refused_and_changes_nothing(
    known: Edge, door: str, certificate: str, status: int, said: str
) -> None:
    answer = replaced(door, known, certificate)
    assert (answer.status_code, said in answer.content.decode()) == (status, True)
    known.refresh_from_db()
    assert (known.credential.token_hash, known.former_credential) == (marked(FIRST), None)
    assert known.credential.expires_at is None


def test_replacing_it_among_the_credentials_makes_no_token_either(known: Edge) -> None:
    asked = {"credential": known.credential_id, "reason": "due", "overlap": "1"}
    answer = owner().post(f"/products/{SLUG}/access/rotate", asked)
    assert (answer.status_code, "orc_edge_" in answer.content.decode()) == (400, False)
    assert Credential.objects.filter(kind="edge").count() == 1


def test_an_edge_goes_from_a_token_to_a_certificate(product: Product) -> None:
    one = edge(product, "edge-1")
    assert replaced("api", one, THIRD).status_code == 201
    one.refresh_from_db()
    assert one.credential.token_hash == marked(THIRD)


@pytest.fixture
def live(transactional_db: None, settings: Settings) -> Product:
    settings.EDGES = replace(settings.EDGES, proxy_secret=SECRET)
    cast()
    return live_product()


@pytest.fixture
async def proxy(live: Product, tmp_path: Path) -> AsyncIterator[Proxy]:
    """The real entry of edges, behind something that ends mutual TLS."""
    entry = create_app()
    proxy = Proxy(Starlette(routes=[Mount("/edge", app=entry)]), Authority(tmp_path))
    async with proxy.serving():
        yield proxy
    await entry.state.hub.close()
    await sync_to_async(connections.close_all)()  # of the thread that ran the ORM for us


async def test_a_certificate_is_renewed_without_a_gap_and_the_old_one_is_out_in_the_end(
    live: Product, proxy: Proxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edge_app, "RENEW_EVERY_S", 0.05)
    authority = proxy.authority
    own, ben = authority.vouches_for("edge"), await sync_to_async(actor)("ben")
    await sync_to_async(register_edge)(ben, live, "edge-1", own.fingerprint)
    tls = Tls(own.certificate, own.key, authority.file)
    running = RunningEdge(
        EdgeSettings(SLUG, "edge-1", proxy.url, "", tmp_path / "state", tmp_path, tls=tls)
    )
    async with running.running():
        await _active(1)
        newer = authority.vouches_for("edge")
        stored = await Edge.objects.aget()
        asked = {
            "credential": stored.credential_id,
            "reason": "due",
            "overlap_s": 3600,
            "certificate": newer.fingerprint,
        }
        await sync_to_async(_posted)(f"{API}/edge-1/rotate", asked)
        proxy.drop()
        await sync_to_async(published)(live)
        await _active(2)
        assert proxy.shown[-1] == newer.fingerprint
        await sync_to_async(roll_back)(ben, live, "back")
        await _active(3)
    assert await Edge.objects.acount() == 1


def _posted(path: str, asked: dict[str, Any]) -> None:
    assert owner().post(path, asked, "application/json").status_code == 201


async def _active(number: int) -> None:
    said = Activation.objects.filter(publication__number=number, state="active")
    async with asyncio.timeout(60):
        while not await said.aexists():  # noqa: ASYNC110 - a row tells nobody that it is there
            await asyncio.sleep(0.05)
