"""Every address by every role: in its own product, in another, in all; and by those without one."""

from collections.abc import Iterator, Set
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.test import Client, override_settings
from pytest_django import Settings

from accounts.guard import SYSTEM_ACTOR
from accounts.models import AuditEvent, User
from accounts.roles import EVERY_PRODUCT, MACHINES, PEOPLE, PERMISSIONS, Permission, Role
from accounts.services import grant, issue_credential
from ingest.models import Batch
from policies.models import Revision
from tests.accounts.routes import (
    API,
    FURTHER,
    METHODS,
    OF_ONE,
    PAGES,
    PUBLIC,
    ROUTES,
    TABLE,
    Need,
    Where,
    is_page,
    needs,
)
from tests.accounts.things import OTHER, Things, things
from tests.people import PASSWORD
from tests.releases.releases_cast import SLUG, document

SLUGS: dict[Where, str] = {"own": SLUG, "other": OTHER, "everywhere": EVERY_PRODUCT}
#: Ready is what the machine is, and to sign out would end the walk.
UNASKED = {"readyz", "logout"}
#: What even those who may can't do here, each with the reason. Who may not is refused all the same.
NOT_DONE = {
    "nobody here has a second factor or a provider": {
        "get account/codes",
        "get account/keys/<int:pk>/remove",
        "post account/keys/<int:pk>/remove",
        "post account/providers/<slug:provider>/unlink",
        "get account/totp/remove",
        "post account/totp/remove",
        f"post {API}people/<str:name>/factors/reset",
        "post people/<str:name>/factors",
    },
    "no traffic came in to be looked at, judged or compared": {
        f"get {API}ingest/arrivals/<int:pk>",
        f"get {API}ingest/requests/<path:request_id>",
        f"get {PAGES}arrivals/<int:trace_pk>/",
        f"get {PAGES}calibration/cell/",
        f"get {PAGES}requests/<str:day>/<int:pk>/",
        f"post {OF_ONE}calibration/generations",
        f"post {PAGES}calibration/draft/",
        f"post {OF_ONE}diagnosis/generations",
        f"post {PAGES}diagnosis/draft/",
        f"post {PAGES}decision-diffs/ask",
        f"post {API}overrides/<int:pk>/confirm",
        f"post {PAGES}overrides/<int:pk>/confirm",
    },
    "nobody listens at the address of the server": {
        f"post {API}ingest/servers/<str:name>/accept",
        f"post {API}ingest/servers/<str:name>/flush",
        f"post {PAGES}servers/<str:name>/accept",
        f"post {PAGES}servers/<str:name>/flush",
    },
    "the delivery was not set aside": {f"post {PAGES}batches/<int:batch_pk>/retry/"},
    "the product is live": {
        f"post {API}publications",
        f"post {OF_ONE}publications",
        f"post {PAGES}first-publication",
    },
    "nothing else became live since the proposal was begun": {
        f"post {API}proposals/<int:pk>/rebase",
        f"post {PAGES}proposals/<int:pk>/rebase",
    },
    "the field that names a version is another's here": {
        f"post {API}ingest/routes",
        f"post {API}proposals/<int:pk>/record",
        f"post {PAGES}proposals/<int:pk>/record",
    },
    "a rollout is under way, running, not ready, not by segments, and asks nobody": {
        f"post {API}rollouts/<int:pk>/hold-back",
        f"post {PAGES}rollout/<int:pk>/hold-back",
        f"post {API}proposals/<int:pk>/publish",
        f"post {API}rollouts/<int:pk>/advance",
        f"post {API}rollouts/<int:pk>/approve",
        f"post {API}rollouts/<int:pk>/let-go",
        f"post {API}rollouts/<int:pk>/resume",
        f"post {PAGES}proposals/<int:pk>/publish",
        f"post {PAGES}rollout/<int:pk>/advance",
        f"post {PAGES}rollout/<int:pk>/approve",
        f"post {PAGES}rollout/<int:pk>/let-go",
        f"post {PAGES}rollout/<int:pk>/resume",
    },
    "its override is asked for": {
        f"post {API}rollouts/<int:pk>/overrides",
        f"post {PAGES}rollout/<int:pk>/override",
    },
    "the pool serves, and the page is asked for by a digest": {
        f"post {OF_ONE}pool-releases",
        f"get {PAGES}reconciliation/release",
        f"post {PAGES}reconciliation/release",
    },
}
EXCUSED = frozenset().union(*NOT_DONE.values())


@dataclass(frozen=True)
class Asker:
    """Somebody with a browser or a token; a role as `Need.met_by` takes it."""

    client: Client
    role: str | None
    where: Where
    is_machine: bool = False

    def may(self, route: str, need: Need) -> bool:
        if self.is_machine and is_page(route):
            return need is PUBLIC
        return need.met_by(self.role, self.where)

    def refusals(self, need: Need) -> tuple[int, ...]:
        """That something isn't there is no word for somebody who sees the product."""
        sees = self.where != "other" and Permission.VIEW in PERMISSIONS.get(self.role or "", ())
        return (401, 403) if sees or need.scope != "product" else (401, 403, 404)


def machine(kind: str, slug: str) -> Client:
    owner = User.objects.get(username="ana")
    _, token = issue_credential(SYSTEM_ACTOR, kind=kind, name="m", product_slug=slug, owner=owner)
    return Client(headers={"Authorization": f"Bearer {token}"}, raise_request_exception=False)


def browser(user: User) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client


def asker(role: str, where: Where) -> Asker:
    if role in MACHINES:
        return Asker(machine(role, SLUGS[where]), role, where, is_machine=True)
    user = User.objects.create_user(f"a-{role}", password=PASSWORD)
    grant(SYSTEM_ACTOR, user, role, SLUGS[where])
    return Asker(browser(user), role, where)


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
        "expected_version": 1,
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
        "digest": "sha256:" + "0" * 64,
        "tenant": "tenant-1",
        "window": "1h",
        "max_teu": 1,
        "text": "A word",
        "sections": {},
        "credential": 1,
        "segment": "task=assistant",
        "evaluation": 1,
        "local": "2099-01-01T00:00",
        "zone": "UTC",
        "url": "https://example.org/hook",
        "kinds": ["breach"],
        "email": "new@example.org",
        "role": "engineer",
    }


@pytest.fixture(scope="module")
def standing(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Things, Path]]:
    """Made once, in a transaction around those of the tests: each sees it as it was."""
    keys = tmp_path_factory.mktemp("keys")
    around = transaction.atomic()
    with django_db_blocker.unblock(), override_settings(KEYS_DIR=keys):
        around.__enter__()
        made = things()
    yield made, keys
    with django_db_blocker.unblock():
        transaction.set_rollback(True)
        around.__exit__(None, None, None)


@pytest.fixture
def there(standing: tuple[Things, Path], db: None, settings: Settings) -> Things:
    """One of each kind in a live product; beside it another product."""
    made, settings.KEYS_DIR = standing
    return made


@contextmanager
def undone() -> Iterator[None]:
    """What a request did is taken back, so that no route sees what another one changed."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def happened() -> tuple[int, int]:
    return AuditEvent.objects.count(), Batch.objects.count()


@dataclass(frozen=True)
class Answered:
    status: int
    body: str
    changed: bool


def ask(
    client: Client, method: str, route: str, there: Things, before: tuple[int, int]
) -> Answered:
    """One request, undone. A page that sends one to sign in has refused, which is 401."""
    path, fields = there.path(route), sound() | there.fields_of(route)
    with undone():
        if method == "get":
            answer = client.get(path, {"product": SLUG})
        elif is_page(route) and method == "post":
            answer = client.post(path, {name: str(value) for name, value in fields.items()})
        else:
            send = getattr(client, method)
            asked = f"{path}?product={SLUG}&kind=triton_trace"
            answer = send(asked, fields, "application/json", headers={"Batch-Id": "b1"})
        changed = happened() != before
    sign_in = answer.headers.get("Location", "").startswith("/login")
    body = b"" if answer.streaming else answer.content
    return Answered(401 if sign_in else answer.status_code, body.decode(), changed)


def walk(client: Client, there: Things) -> Iterator[tuple[str, str, Need, Answered]]:
    before = happened()  # and again before each request, since what a request did is undone
    for route in sorted(set(ROUTES) & set(TABLE) - UNASKED):
        for method, need in needs(route).items():
            yield route, method, need, ask(client, method, route, there, before)


def is_let_in(method: str, route: str, need: Need, answer: Answered) -> bool:
    """Nothing said that it isn't theirs; and what they asked about is there, and can be done."""
    if need is PUBLIC:
        return answer.status not in (405, 500)
    if answer.status in (404, 409) and f"{method} {route}" in EXCUSED:
        return True
    return answer.status < 500 and answer.status not in (401, 403, 404, 405, 409)


def faults(asker: Asker, there: Things, never: Set[str] = frozenset()) -> str:
    """Each answer that is not what the table says, or that says what it never may, in words."""
    found = []
    for route, method, need, answer in walk(asker.client, there):
        if any(word in answer.body for word in never):
            found.append(f"{method} {route}: tells of another product")
        if asker.may(route, need):
            wrong = not is_let_in(method, route, need, answer)
            found += [f"{method} {route}: should be let in, got {answer.status}"] * wrong
        elif answer.status not in asker.refusals(need) or answer.changed:
            found.append(f"{method} {route}: should be refused, got {answer.status}")
    return "\n".join(found)


def test_what_is_excused_is_still_an_address() -> None:
    asked = {f"{method} {route}" for route in TABLE for method in needs(route)}
    assert asked >= EXCUSED


def test_the_table_names_every_route_and_no_other() -> None:
    assert {route for route in ROUTES if route not in TABLE} == set()
    assert {route for route in TABLE if route not in ROUTES} == set()
    assert set(FURTHER) <= set(TABLE)


@pytest.mark.parametrize("method", METHODS)
def test_a_route_takes_no_method_that_the_table_does_not_name(there: Things, method: str) -> None:
    able = User.objects.create_user("able", password=PASSWORD)
    for role in PEOPLE:  # no role alone may everything, and a refusal would hide the method
        grant(SYSTEM_ACTOR, able, role)
    client = browser(able)
    unnamed = [route for route in TABLE if method not in needs(route)]
    before = happened()
    taking = [one for one in unnamed if ask(client, method, one, there, before).status != 405]
    assert taking == []


@pytest.mark.parametrize("role", list(Role))
def test_a_role_is_let_in_to_its_own_product_where_the_table_says(there: Things, role: str) -> None:
    assert faults(asker(role, "own"), there) == ""


@pytest.mark.parametrize("role", [Role.PRODUCT_OWNER, Role.AUDITOR])
def test_a_role_in_every_product_is_let_in_to_what_concerns_all(there: Things, role: str) -> None:
    assert faults(asker(role, "everywhere"), there) == ""


@pytest.mark.parametrize("role", list(Role))
def test_a_role_in_another_product_is_refused_here_and_reads_nothing(
    there: Things, role: str
) -> None:
    telltales = {"Serve cheaper", "it pays", Revision.objects.earliest("id").digest}
    assert faults(asker(role, "other"), there, never=telltales) == ""


@pytest.mark.parametrize("who", ["superuser", "without a role"])
def test_who_has_no_role_is_let_in_nowhere(there: Things, who: str) -> None:
    made = User.objects.create_superuser if who == "superuser" else User.objects.create_user
    user = made("pat", password=PASSWORD)
    assert faults(Asker(browser(user), "", "own"), there) == ""


def test_somebody_who_left_is_let_in_nowhere(there: Things) -> None:
    left = asker("product_owner", "everywhere")
    User.objects.filter(username="a-product_owner").update(is_active=False)
    assert faults(Asker(left.client, None, "own"), there) == ""


def test_somebody_unknown_is_let_in_nowhere(there: Things) -> None:
    unknown = Client(raise_request_exception=False)
    assert faults(Asker(unknown, None, "own"), there) == ""


def test_there_is_no_administration_site(client: Client) -> None:
    assert client.get("/admin/").status_code == 404
