"""Every write by every role: whoever lacks the permission is refused, and nothing has happened."""

from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.guard import SYSTEM_ACTOR
from accounts.models import AuditEvent, User
from accounts.roles import PERMISSIONS, Permission, Role
from accounts.services import grant, issue_credential
from ingest.models import Batch
from policies.models import Revision
from policies.services import create_product
from tests.controlplane.test_hostile_input import LEFT_OUT, ROUTES, filled
from tests.releases.releases_cast import SLUG, cast, document, drafted, live_product
from tests.small_policy import small_document

OTHER = "orchid-small"
OPEN = {
    *("login", "logout", "password-reset", "password-reset/sent", "password-reset/done"),
    *("password-reset/<uidb64>/<token>", "invitations/<str:secret>", "healthz", "metrics"),
    "schemas/orchid.policy.v1.json",
}
P = Permission
API, PAGES = "api/v1/", "products/<slug:slug>/"
#: Each address that takes a POST, and what that needs.
WRITES = {
    API + "evidence": P.EVIDENCE_PUSH,
    API + "ingest/files": P.INGEST,
    API + "ingest/requests": P.EDGE,
    API + "ingest/rollups": P.EDGE,
    API + "ingest/routes": P.INGEST,
    API + "ingest/routes/<int:pk>/unmap": P.INGEST,
    API + "ingest/servers": P.INGEST,
    API + "ingest/servers/<str:name>/accept": P.INGEST,
    API + "ingest/servers/<str:name>/check": P.INGEST,
    API + "ingest/servers/<str:name>/flush": P.INGEST,
    API + "products": P.ADMINISTER,
    API + PAGES + "calibration/generations": P.PROPOSE,
    API + PAGES + "decision-diffs": P.PROPOSE,
    API + PAGES + "diagnosis/generations": P.PROPOSE,
    API + PAGES + "evidence": P.EVIDENCE_PUSH,
    API + PAGES + "generations": P.PROPOSE,
    API + PAGES + "generations/<int:number>/revisions": P.PROPOSE,
    API + PAGES + "proposals": P.PROPOSE,
    API + PAGES + "revisits/<int:pk>/acknowledge": P.PROPOSE,
    API + PAGES + "revisits/<int:pk>/resolve": P.APPROVE,
    API + PAGES + "rollbacks": P.ROLLBACK,
    API + "proposals": P.PROPOSE,
    API + "proposals/<int:pk>/publish": P.PUBLISH,
    API + "proposals/<int:pk>/submit": P.PROPOSE,
    API + "proposals/<int:pk>/vote": P.APPROVE,
    API + "proposals/<int:pk>/withdraw": P.PROPOSE,
    API + "rollbacks": P.ROLLBACK,
    API + "rollouts/<int:pk>/advance": P.PUBLISH,
    API + "rollouts/<int:pk>/pause": P.ROLLBACK,
    API + "rollouts/<int:pk>/resume": P.PUBLISH,
    PAGES + "access/credentials": P.ADMINISTER,
    PAGES + "access/invite": P.ADMINISTER,
    PAGES + "access/revoke": P.ADMINISTER,
    PAGES + "batches/<int:batch_pk>/retry/": P.INGEST,
    PAGES + "calibration/draft/": P.PROPOSE,
    PAGES + "decision-diffs/ask": P.PROPOSE,
    PAGES + "diagnosis/draft/": P.PROPOSE,
    PAGES + "evidence/push/": P.EVIDENCE_PUSH,
    PAGES + "evidence/push/file": P.EVIDENCE_PUSH,
    PAGES + "first-publication": P.PUBLISH,
    PAGES + "generations/<int:number>/revise": P.PROPOSE,
    PAGES + "generations/new": P.PROPOSE,
    PAGES + "proposals/<int:pk>/publish": P.PUBLISH,
    PAGES + "proposals/<int:pk>/submit": P.PROPOSE,
    PAGES + "proposals/<int:pk>/vote": P.APPROVE,
    PAGES + "proposals/<int:pk>/withdraw": P.PROPOSE,
    PAGES + "proposals/open": P.PROPOSE,
    PAGES + "revisits/<int:pk>/acknowledge/": P.PROPOSE,
    PAGES + "revisits/<int:pk>/resolve/": P.APPROVE,
    PAGES + "rollback/": P.ROLLBACK,
    PAGES + "rollout/<int:pk>/advance": P.PUBLISH,
    PAGES + "rollout/<int:pk>/pause": P.ROLLBACK,
    PAGES + "rollout/<int:pk>/resume": P.PUBLISH,
    PAGES + "routes/<int:pk>/unmap/": P.INGEST,
    PAGES + "routes/map/": P.INGEST,
    PAGES + "trials/<int:trial_pk>/declare/": P.INGEST,
    PAGES + "trials/upload/": P.INGEST,
    PAGES + "servers/<str:name>/accept": P.INGEST,
    PAGES + "servers/<str:name>/change": P.INGEST,
    PAGES + "servers/<str:name>/check": P.INGEST,
    PAGES + "servers/<str:name>/flush": P.INGEST,
    PAGES + "servers/<str:name>/forget": P.INGEST,
    PAGES + "servers/register": P.INGEST,
    PAGES + "sources/upload/": P.INGEST,
    "products/new": P.ADMINISTER,
    "v1/traces": P.INGEST,
}
# A move asks for its permission once it is known which move of which state it is.
REFUSED = (401, 403, 404, 409)


def sound() -> dict[str, Any]:
    """Fields that satisfy every address, so that only the permission can be in the way."""
    return {
        "slug": "mine",
        "name": "Mine",
        "template": "chat",
        "title": "A title",
        "reason": "so",
        "document": document(2),
        "generation": 2,
        "product": SLUG,
        "expected_revision": 1,
        "decision": "approve",
        "bound_digest": "sha256:x",
        "kind": "triton_trace",
        "n": 10,
        "suite": "s",
        "suite_version": "1",
        "model": "full",
        "route": "full",
        "mean": 0.9,
        "spread": 0.1,
        "manifest": "sha256:" + "0" * 64,
    }


@pytest.fixture
def proposal(db: None, settings: Settings, tmp_path: Any) -> int:
    """The id of a draft proposal of a live product; beside it another product."""
    settings.KEYS_DIR = tmp_path / "keys"
    cast()
    draft = drafted(live_product())
    create_product(SYSTEM_ACTOR, OTHER, "Other", document=small_document())
    return int(draft.pk)


def who_holds(role: str, slug: str) -> Client:
    if role in (Role.CI, Role.EDGE, Role.OTEL):
        owner = User.objects.get(username="ana")
        _, token = issue_credential(
            SYSTEM_ACTOR, kind=role, name="machine", product_slug=slug, owner=owner
        )
        return Client(headers={"Authorization": f"Bearer {token}"})
    user = User.objects.create_user(f"a-{role}")
    grant(SYSTEM_ACTOR, user, role, slug)
    client = Client()
    client.force_login(user)
    return client


def sent(client: Client, route: str, proposal: int) -> int:
    """The status of a write; a page that sends one to sign in has refused, which is 401."""
    fields, path = sound(), filled(route, str(proposal))
    if not route.startswith(("api/", "v1/")):
        answer = client.post(path, {name: str(value) for name, value in fields.items()})
        sign_in = answer.headers.get("Location", "").startswith("/login")
        return 401 if sign_in else answer.status_code
    query = f"?product={SLUG}&kind=triton_trace"
    answer = client.post(path + query, fields, "application/json", headers={"Batch-Id": "b1"})
    return answer.status_code


def happened() -> tuple[int, int]:
    return AuditEvent.objects.count(), Batch.objects.count()


def test_the_table_names_every_address_that_takes_a_post(proposal: int) -> None:
    client = who_holds("product_owner", "*")
    others = set(ROUTES) - set(WRITES) - OPEN - LEFT_OUT
    taking = {route for route in others if client.post(filled(route)).status_code != 405}
    assert taking == set()
    assert set(WRITES) <= set(ROUTES)


@pytest.mark.parametrize("role", list(Role))
def test_a_role_without_the_permission_is_refused_everywhere(proposal: int, role: str) -> None:
    client = who_holds(role, SLUG)
    before = happened()
    for route, needed in WRITES.items():
        if needed in PERMISSIONS[role] and route not in ("products/new", API + "products"):
            continue
        assert sent(client, route, proposal) in REFUSED, route
    assert happened() == before


@pytest.mark.parametrize("role", list(Role))
def test_a_role_in_another_product_reaches_and_reads_nothing_here(proposal: int, role: str) -> None:
    client = who_holds(role, OTHER)
    before = happened()
    for route in WRITES:
        assert sent(client, route, proposal) in REFUSED, route
    assert happened() == before
    telltales = {"Serve cheaper", "it pays", Revision.objects.earliest("id").digest}
    for route in set(ROUTES) - OPEN - LEFT_OUT:
        for query in ({}, {"product": SLUG}):
            shown = client.get(filled(route, str(proposal)), query).content.decode()
            assert not [word for word in telltales if word in shown], route
