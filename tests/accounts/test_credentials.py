from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts import services
from accounts.models import AuditEvent, Credential
from controlplane.errors import Conflict, Forbidden, NotFound
from tests.people import Cast

SLUG = "orchid-demo"


def issue(cast: Cast, **changed: Any) -> tuple[Credential, str]:
    wanted: dict[str, Any] = {
        "kind": "ci",
        "name": "build",
        "product_slug": SLUG,
        "owner": cast.ana,
    }
    return services.issue_credential(cast.actor("ben"), **(wanted | changed))


def asking(token: str) -> int:
    client = Client(headers={"Authorization": f"Bearer {token}"})
    return client.get("/api/v1/products").status_code


def test_a_token_opens_the_api_and_is_nowhere_in_the_database(cast: Cast) -> None:
    credential, token = issue(cast)
    assert token.startswith("orc_ci_")
    assert asking(token) == 200
    row = Credential.objects.values().get(pk=credential.pk)
    assert token not in str(row)
    assert len(credential.prefix) < len(token) / 3


@pytest.mark.parametrize("token", ["orc_ci_guess", "", "orc_ci_\udcff"])
def test_a_token_that_was_never_issued_is_refused(cast: Cast, token: str) -> None:
    client = Client(
        headers={"Authorization": f"Bearer {token.encode('utf-8', 'replace').decode()}"}
    )
    answer = client.get("/api/v1/products")
    assert answer.status_code == 401
    assert answer["Content-Type"] == "application/problem+json"
    assert answer["WWW-Authenticate"].startswith("Bearer")
    assert answer.json()["code"] == "unauthenticated"


def test_a_revoked_token_is_refused_at_once_and_the_act_is_on_record(cast: Cast) -> None:
    credential, token = issue(cast)
    services.revoke_credential(cast.actor("ben"), credential.pk, "leaked", SLUG)
    services.revoke_credential(cast.actor("ben"), credential.pk, "leaked", SLUG)
    assert asking(token) == 401
    assert AuditEvent.objects.filter(action="credential.revoked", reason="leaked").count() == 1


def test_an_expired_token_is_refused(cast: Cast) -> None:
    _, token = issue(cast, expires_at=timezone.now() - timedelta(seconds=1))
    assert asking(token) == 401


def test_a_token_falls_with_the_person_who_answers_for_it(cast: Cast) -> None:
    _, token = issue(cast)
    cast.ana.is_active = False
    cast.ana.save()
    assert asking(token) == 401


def test_a_name_is_free_again_after_its_credential_is_revoked(cast: Cast) -> None:
    first, _ = issue(cast)
    with pytest.raises(Conflict):
        issue(cast)
    services.revoke_credential(cast.actor("ben"), first.pk, "rotation", SLUG)
    assert issue(cast)[0].pk != first.pk


def test_only_who_administers_the_product_issues(cast: Cast) -> None:
    for name in ("ana", "dee", "eve", "sam"):
        with pytest.raises(Forbidden):
            services.issue_credential(
                cast.actor(name), kind="ci", name="x", product_slug=SLUG, owner=cast.ana
            )


def test_a_credential_of_another_product_is_not_there(cast: Cast) -> None:
    credential, _ = issue(cast)
    with pytest.raises(NotFound):
        services.revoke_credential(cast.actor("ben"), credential.pk, "x", "orchid-serve")
