"""Who may make a worker connect where, and what is written down of it."""

import json
from typing import Any

import pytest
from django.test import Client

from accounts.guard import SYSTEM_ACTOR, person
from accounts.models import AuditEvent, User
from controlplane.errors import BadInput, Forbidden, Invalid
from ingest.models import Source, TritonServer
from ingest.services import servers
from policies.models import Product
from tests.ingest.ingest_cast import SLUG, Sender
from tests.ingest.servers.checking import checked
from tests.ingest.servers.double import Triton

pytestmark = pytest.mark.django_db

API = "/api/v1/ingest/servers"
WISH = {"http_url": "http://10.0.0.7:8000", "metrics_url": "http://10.0.0.7:8002/metrics"}


def sent(sender: Sender, method: str, path: str, body: Any = None, **headers: str) -> Any:
    return getattr(sender.client, method)(
        path, json.dumps(body or {}), content_type="application/json", headers=headers
    )


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("http://user:secret@host:8000", "no credentials"),
        ("http://host", "names its port"),
        ("http://host:0", "names its port"),
        ("http://host:99999", "can't be read"),
        ("ftp://host:8000", "begins with"),
        ("file:///etc/passwd", "begins with"),
        ("http://host:8000/?a=1", "no query"),
        ("http://host:8000/#x", "no query"),
        ("http://169.254.169.254:80", "link-local"),
        ("http://[fe80::1]:80", "link-local"),
        ("http://0.0.0.0:8000", "link-local"),
        ("http://ho st:8000", "host"),
        ("http://a..b:8000", "host"),
        ("http://host:8000/a b", "path"),
        ("http://" + "a" * 300 + ":8000", "characters"),
        ("http://[", "can't be read"),
    ],
)
def test_an_address_that_is_none_is_refused_with_its_reason(
    product: Product, written: str, why: str
) -> None:
    with pytest.raises(BadInput, match=why) as refused:
        servers.register(SYSTEM_ACTOR, product, "six", {"http_url": written})
    assert "secret" not in refused.value.detail
    assert not TritonServer.objects.exists()


def test_addresses_are_stored_in_one_spelling(product: Product) -> None:
    wish = {"http_url": "http://[::1]:8000/v1/", "grpc_url": "Host:8001"}
    found = servers.register(SYSTEM_ACTOR, product, "six", wish)
    assert (found.http_url, found.grpc_url) == ("http://[::1]:8000/v1", "grpc://host:8001")


@pytest.mark.parametrize(
    ("wish", "kind", "protocol"),
    [
        ({"http_url": "http://h:1"}, "triton", "http"),
        ({"grpc_url": "grpcs://h:1"}, "triton", "grpc"),
        ({"metrics_url": "http://h:1/metrics"}, "vllm", "http"),
        ({"http_url": "http://h:1", "grpc_url": "h:2", "protocol": "grpc"}, "triton", "grpc"),
    ],
)
def test_what_is_given_says_what_it_is(
    product: Product, wish: dict[str, str], kind: str, protocol: str
) -> None:
    found = servers.register(SYSTEM_ACTOR, product, "six", wish)
    assert (found.kind, found.protocol) == (kind, protocol)


@pytest.mark.parametrize(
    "wish",
    [
        {"poll_every_s": 4},
        {"poll_every_s": 301},
        {"warm_up": "perhaps"},
        {"protocol": "smtp"},
        {"pool": "a b"},
        {"trace_rate": -1},
        {"http_url": "", "grpc_url": "", "metrics_url": ""},
    ],
)
def test_a_wish_that_means_nothing_is_refused(product: Product, wish: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        servers.register(SYSTEM_ACTOR, product, "six", {**WISH, "grpc_url": "h:1", **wish})


def test_a_product_has_so_many_servers_and_no_more(
    product: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.services.servers.registering.MOST_SERVERS", 2)
    for name in ("one", "two"):
        servers.register(SYSTEM_ACTOR, product, name, WISH)
    with pytest.raises(Invalid, match="up to 2 servers"):
        servers.register(SYSTEM_ACTOR, product, "three", WISH)


def test_every_act_leaves_one_audit_row_and_no_change_leaves_none(
    product: Product, ana: User
) -> None:
    actor = person(ana)
    server = servers.register(actor, product, "six", WISH)
    servers.change(actor, server, {"trace_rate": 10})
    servers.change(actor, server, {"trace_rate": 10})
    servers.change(actor, server, {"trace_rate": None})
    servers.forget(actor, server)
    rows = AuditEvent.objects.filter(action__startswith="server.").order_by("pk")
    assert [row.action for row in rows] == [
        "server.registered",
        "server.changed",
        "server.changed",
        "server.forgotten",
    ]
    assert rows[1].data == {"trace_rate": 10}
    assert {row.actor for row in rows} == {"ana"}
    # What it told stays with its source.
    assert Source.objects.filter(kind="polled", name="six").exists()


def test_whoever_only_looks_or_only_sends_registers_nothing(
    product: Product, eve: User, otel: Sender, edge: Sender
) -> None:
    with pytest.raises(Forbidden):
        servers.register(person(eve), product, "six", WISH)
    for sender in (otel, edge):
        assert sent(sender, "post", API, {"name": "six", **WISH}).status_code == 404
    assert not TritonServer.objects.exists()


def test_a_machine_registers_changes_and_forgets(product: Product, ci: Sender) -> None:
    key = {"Idempotency-Key": "k1"}
    first = sent(ci, "post", API, {"name": "six", **WISH}, **key)
    again = sent(ci, "post", API, {"name": "six", **WISH}, **key)
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json()
    assert first.json()["state"] == "unknown"
    assert sent(ci, "post", API, {"name": "six", **WISH}).status_code == 409
    changed = sent(ci, "patch", f"{API}/six", {"trace_rate": 7, "pool": "six"})
    assert (changed.json()["trace_rate"], changed.json()["pool"]) == (7, "six")
    assert changed.json()["http_url"] == WISH["http_url"]
    assert sent(ci, "patch", f"{API}/six", {"trace_rate": None}).json()["trace_rate"] is None
    (row,) = ci.client.get(API).json()["results"]
    assert row == ci.client.get(f"{API}/six").json()
    assert sent(ci, "delete", f"{API}/six").status_code == 204
    assert ci.client.get(f"{API}/six").status_code == 404


def test_a_machine_asks_for_a_check_and_for_the_traces_that_are_held(
    polled: TritonServer, triton: Triton, ci: Sender
) -> None:
    assert sent(ci, "post", f"{API}/six/check").status_code == 200
    assert sent(ci, "post", f"{API}/six/flush").status_code == 200
    assert triton.trace_updates == [{"trace_rate": "1"}]
    assert sent(ci, "post", f"{API}/six/accept").json()["code"] == "nothing_to_accept"


def test_traces_of_a_server_that_is_away_are_not_flushed(product: Product, ci: Sender) -> None:
    servers.register(SYSTEM_ACTOR, product, "six", {"http_url": "http://127.0.0.1:9"})
    answer = sent(ci, "post", f"{API}/six/flush")
    assert (answer.status_code, answer.json()["code"]) == (409, "not_flushed")


@pytest.fixture
def engineer(client: Client, ana: User, product: Product) -> Client:
    client.force_login(ana)
    return client


def test_the_page_is_empty_until_a_server_is_registered_there(engineer: Client) -> None:
    where = f"/products/{SLUG}/servers/"
    assert b'class="empty"' in engineer.get(where).content
    form = {"name": "six", "protocol": "http", "poll_every_s": "10", "warm_up": "cheap", **WISH}
    answer = engineer.post(f"{where}register", form)
    assert answer.headers["Location"] == f"{where}six/"
    assert b"Not checked yet" in engineer.get(where).content
    bad = engineer.post(f"{where}register", form | {"name": "x", "http_url": "http://a:b@c:1"})
    assert bad.status_code == 400
    assert b"holds no credentials" in bad.content


def test_a_page_shows_state_findings_and_moves_to_those_who_may(
    engineer: Client, eve: User, polled: TritonServer, triton: Triton
) -> None:
    triton.failing["full"] = "Stub process is not healthy."
    checked(polled)
    where = f"/products/{SLUG}/servers/six/"
    page = engineer.get(where).content.decode()
    assert "Says ready and fails" in page
    assert "warm_up_failed" in page
    assert "Check now" in page
    assert "counted as a success" in page
    partial = engineer.get(where, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in partial
    engineer.force_login(eve)
    assert "Check now" not in engineer.get(where).content.decode()
    assert engineer.post(f"{where}forget").status_code == 403


def test_a_server_is_changed_and_forgotten_on_its_page(
    engineer: Client, polled: TritonServer
) -> None:
    where = f"/products/{SLUG}/servers/six/"
    form = {"protocol": "http", "poll_every_s": "30", "warm_up": "off", **WISH}
    assert engineer.post(f"{where}change", form).status_code == 302
    polled.refresh_from_db()
    assert (polled.poll_every_s, polled.warm_up, polled.trace_rate) == (30, "off", None)
    assert engineer.post(f"{where}change", form | {"poll_every_s": "1"}).status_code == 400
    for move in ("check", "forget"):
        assert engineer.post(f"{where}{move}").status_code == 302
    assert engineer.get(where).status_code == 404
