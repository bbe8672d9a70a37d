"""The token of a terminal or of an alarm: it looks, goes back, and does nothing else."""

from typing import Any

import pytest
from django.test import Client

from accounts.guard import SYSTEM_ACTOR
from accounts.models import AuditEvent, User
from accounts.services import issue_credential
from policies.models import Product
from tests.releases.releases_cast import SLUG, cast, drafted, live_product, published

pytestmark = pytest.mark.django_db


@pytest.fixture
def product() -> Product:
    cast()
    made = live_product()
    published(made)
    return made


@pytest.fixture
def terminal(product: Product) -> Client:
    owner = User.objects.get(username="ben")
    _, token = issue_credential(
        SYSTEM_ACTOR, kind="ops", name="pager", product_slug=SLUG, owner=owner
    )
    return Client(headers={"Authorization": f"Bearer {token}"})


def _post(client: Client, path: str, **body: Any) -> Any:
    return client.post(f"/api/v1/{path}", body, content_type="application/json")


def test_it_goes_back_and_the_trail_names_it(terminal: Client, product: Product) -> None:
    answer = _post(terminal, f"products/{SLUG}/rollbacks", reason="users complain")
    assert (answer.status_code, answer.json()["kind"]) == (201, "rollback")
    assert AuditEvent.objects.latest("id").actor == "ops:pager"


def test_it_may_nothing_else(terminal: Client, product: Product) -> None:
    assert terminal.get(f"/api/v1/products/{SLUG}/publications").status_code == 200
    proposal = _post(terminal, f"products/{SLUG}/proposals", generation=2, title="No")
    assert proposal.status_code == 403
    assert "Tokens of the kind CI have it" in proposal.json()["detail"]
    assert _post(terminal, "products/other/rollbacks", reason="no").status_code == 404


def test_what_no_token_may_is_told_so(terminal: Client, product: Product) -> None:
    row = drafted(product, publish="manual")
    answer = _post(terminal, f"proposals/{row.pk}/publish", expected_version=row.version)
    assert answer.status_code == 403
    assert "No token has it: a person does that." in answer.json()["detail"]


def test_a_product_owner_issues_it_on_the_access_page(client: Client, product: Product) -> None:
    client.force_login(User.objects.get(username="ben"))
    words = {"kind": "ops", "name": "pager"}
    page = client.post(f"/products/{SLUG}/access/credentials", words, follow=True)
    assert "orc_ops_" in page.content.decode()
