"""Every address by every role: in its own product, in another, in all; and by those without one."""

from collections.abc import Iterator, Set
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from pytest_django import Settings

from accounts.guard import SYSTEM_ACTOR
from accounts.models import AuditEvent, User
from accounts.roles import EVERY_PRODUCT, MACHINES, PEOPLE, Role
from accounts.services import grant, issue_credential
from ingest.models import Batch
from policies.models import Revision
from policies.services import create_product
from tests.accounts.routes import PUBLIC, ROUTES, TABLE, Need, Where, is_page
from tests.people import PASSWORD
from tests.releases.releases_cast import SLUG, cast, document, drafted, live_product
from tests.small_policy import small_document

OTHER = "orchid-small"
SLUGS: dict[Where, str] = {"own": SLUG, "other": OTHER, "everywhere": EVERY_PRODUCT}
#: Ready is what the machine is, and to sign out would end the walk.
UNASKED = {"readyz", "logout"}
#: A move asks for its permission once it is known which move of which state it is: 409 before 403.
REFUSALS = {"get": (401, 403, 404), "post": (401, 403, 404, 409)}
HIDDEN = "No product of that name is open to you."


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


def filled(route: str, proposal: int) -> str:
    """The address of something that is there, where the cast has it."""
    parts = route.replace("<slug:slug>", SLUG).split("/")
    numbers = [str(proposal) if part.startswith("<int:") else part for part in parts]
    return "/" + "/".join("x" if part.startswith("<") else part for part in numbers)


@pytest.fixture
def proposal(db: None, settings: Settings, tmp_path: Any) -> int:
    """The id of a draft proposal of a live product; beside it another product."""
    settings.KEYS_DIR = tmp_path / "keys"
    cast()
    draft = drafted(live_product())
    create_product(SYSTEM_ACTOR, OTHER, "Other", document=small_document())
    return int(draft.pk)


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
    client: Client, method: str, route: str, proposal: int, before: tuple[int, int]
) -> Answered:
    """One request, undone. A page that sends one to sign in has refused, which is 401."""
    path = filled(route, proposal)
    with undone():
        if method == "get":
            answer = client.get(path, {"product": SLUG})
        elif is_page(route):
            answer = client.post(path, {name: str(value) for name, value in sound().items()})
        else:
            asked = f"{path}?product={SLUG}&kind=triton_trace"
            answer = client.post(asked, sound(), "application/json", headers={"Batch-Id": "b1"})
        changed = happened() != before
    sign_in = answer.headers.get("Location", "").startswith("/login")
    body = b"" if answer.streaming else answer.content
    return Answered(401 if sign_in else answer.status_code, body.decode(), changed)


def walk(client: Client, proposal: int) -> Iterator[tuple[str, str, Need, Answered]]:
    before = happened()  # and again before each request, since what a request did is undone
    for route in sorted(set(ROUTES) & set(TABLE) - UNASKED):
        for method, need in zip(("get", "post"), TABLE[route], strict=True):
            if need is not None:
                yield route, method, need, ask(client, method, route, proposal, before)


def faults(asker: Asker, proposal: int, never: Set[str] = frozenset()) -> str:
    """Each answer that is not what the table says, or that says what it never may, in words."""
    found = []
    for route, method, need, answer in walk(asker.client, proposal):
        if any(word in answer.body for word in never):
            found.append(f"{method} {route}: tells of another product")
        if asker.may(route, need):
            refusals = (405,) if need is PUBLIC else (401, 403, 405)
            let_in = answer.status not in refusals and HIDDEN not in answer.body
            if not let_in or answer.status >= 500:
                found.append(f"{method} {route}: should be let in, got {answer.status}")
        elif answer.status not in REFUSALS[method] or answer.changed:
            found.append(f"{method} {route}: should be refused, got {answer.status}")
    return "\n".join(found)


def test_the_table_names_every_route_and_no_other() -> None:
    assert {route for route in ROUTES if route not in TABLE} == set()
    assert {route for route in TABLE if route not in ROUTES} == set()


@pytest.mark.parametrize("method", ["get", "post"])
def test_a_route_takes_no_method_that_the_table_does_not_name(proposal: int, method: str) -> None:
    able = User.objects.create_user("able", password=PASSWORD)
    for role in PEOPLE:  # no role alone may everything, and a refusal would hide the method
        grant(SYSTEM_ACTOR, able, role)
    client = browser(able)
    unnamed = [route for route in TABLE if TABLE[route][("get", "post").index(method)] is None]
    before = happened()
    taking = [one for one in unnamed if ask(client, method, one, proposal, before).status != 405]
    assert taking == []


@pytest.mark.parametrize("role", list(Role))
def test_a_role_is_let_in_to_its_own_product_where_the_table_says(proposal: int, role: str) -> None:
    assert faults(asker(role, "own"), proposal) == ""


@pytest.mark.parametrize("role", [Role.PRODUCT_OWNER, Role.AUDITOR])
def test_a_role_in_every_product_is_let_in_to_what_concerns_all(proposal: int, role: str) -> None:
    assert faults(asker(role, "everywhere"), proposal) == ""


@pytest.mark.parametrize("role", list(Role))
def test_a_role_in_another_product_is_refused_here_and_reads_nothing(
    proposal: int, role: str
) -> None:
    telltales = {"Serve cheaper", "it pays", Revision.objects.earliest("id").digest}
    assert faults(asker(role, "other"), proposal, never=telltales) == ""


@pytest.mark.parametrize("who", ["superuser", "without a role"])
def test_who_has_no_role_is_let_in_nowhere(proposal: int, who: str) -> None:
    made = User.objects.create_superuser if who == "superuser" else User.objects.create_user
    user = made("pat", password=PASSWORD)
    assert faults(Asker(browser(user), "", "own"), proposal) == ""


def test_somebody_who_left_is_let_in_nowhere(proposal: int) -> None:
    left = asker("product_owner", "everywhere")
    User.objects.filter(username="a-product_owner").update(is_active=False)
    assert faults(Asker(left.client, None, "own"), proposal) == ""


def test_somebody_unknown_is_let_in_nowhere(proposal: int) -> None:
    unknown = Client(raise_request_exception=False)
    assert faults(Asker(unknown, None, "own"), proposal) == ""


def test_there_is_no_administration_site(client: Client) -> None:
    assert client.get("/admin/").status_code == 404
