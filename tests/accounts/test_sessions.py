"""How long a session lasts, which ones somebody has, and what ends them."""

import re
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import AuditEvent
from accounts.tasks import end_sessions
from tests.people import PASSWORD, Cast

CHANGED = {"old_password": PASSWORD, "new_password1": "quite-another-one"}
CHANGED |= {"new_password2": "quite-another-one"}


def signed_in(name: str, agent: str = "a browser") -> Client:
    client = Client(headers={"User-Agent": agent})
    client.post("/login", {"username": name, "password": PASSWORD})
    assert is_in(client)
    return client


def is_in(client: Client) -> bool:
    return client.get("/account/").status_code == 200


def moved(client: Client, **seconds_ago: float) -> None:
    session = client.session
    for name, seconds in seconds_ago.items():
        session[name] = time.time() - seconds
    session.save()


@pytest.mark.parametrize(
    ("ago", "stays"),
    [
        ({"seen_at": 7100}, True),
        ({"seen_at": 7300}, False),
        ({"signed_in_at": 43_100}, True),
        ({"signed_in_at": 43_300}, False),
    ],
)
def test_a_session_ends_by_idleness_and_by_age(
    cast: Cast, ago: dict[str, float], stays: bool
) -> None:
    client = signed_in("ana")
    moved(client, **ago)
    answer = client.get("/", follow=True)
    assert is_in(client) is stays
    if not stays:
        assert "Your session has ended" in answer.content.decode()
        [row] = AuditEvent.objects.filter(action="session.expired")
        why = "idle" if "seen_at" in ago else "age"
        assert (row.actor, row.object_id, row.data) == ("orchid", "ana", {"by": why})


def test_a_session_that_nobody_comes_back_to_is_ended_and_told_once(cast: Cast) -> None:
    gone, used, left = signed_in("ana"), signed_in("ben"), signed_in("eve")
    moved(gone, seen_at=7300)
    left.post("/logout")
    key = gone.session.session_key
    assert (end_sessions(), end_sessions()) == (1, 0)
    rows = AuditEvent.objects.filter(action="session.expired")
    assert [row.object_id for row in rows] == ["ana"]
    assert not Session.objects.filter(session_key=key).exists()
    assert (is_in(gone), is_in(used)) == (False, True)
    assert rows.count() == 1


def test_what_was_begun_and_never_signed_in_is_forgotten(cast: Cast) -> None:
    begun = SessionStore()
    begun.save()
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    assert end_sessions() == 0
    assert not Session.objects.exists()


def test_use_keeps_a_session_from_idling(cast: Cast) -> None:
    client = signed_in("ana")
    moved(client, seen_at=7000)
    assert is_in(client)
    assert time.time() - client.session["seen_at"] < 60


def test_a_page_that_asks_by_itself_keeps_no_session_from_idling(cast: Cast) -> None:
    client, polls = signed_in("ana"), {"HX-Request": "true", "Orchid-Poll": "1"}
    for seen_at, status in ((7000, 200), (7190, 200), (7300, 286)):
        moved(client, seen_at=seen_at)
        assert client.get("/", headers=polls).status_code == status
    assert not is_in(client)
    client = signed_in("ana")
    moved(client, seen_at=7000)
    client.get("/", headers=polls)
    assert time.time() - client.session["seen_at"] > 6900
    client.post("/account/sessions/end", headers=polls)
    assert time.time() - client.session["seen_at"] < 60


TEMPLATES = Path(__file__).parents[2] / "templates"
ASKS = re.compile(r"<[a-z]+[^>]*hx-(?:get|post|boost)=[^>]*>", re.DOTALL)


def test_whatever_asks_by_itself_says_so_and_nothing_else_does() -> None:
    texts = [path.read_text() for path in TEMPLATES.rglob("*.html")]
    found = [tag for text in texts for tag in ASKS.findall(text)]
    by_itself = [tag for tag in found if re.search(r'hx-trigger="[^"]*\bevery\b', tag)]
    assert len(by_itself) == sum(text.count('hx-trigger="every ') for text in texts) > 10
    assert [tag for tag in found if ('"Orchid-Poll"' in tag) != (tag in by_itself)] == []


def test_a_new_password_ends_every_other_session(cast: Cast) -> None:
    here, there = signed_in("ana"), signed_in("ana", "another")
    assert here.post("/account/password", CHANGED).headers["Location"] == "/account/"
    assert (is_in(here), is_in(there)) == (True, False)
    row = AuditEvent.objects.get(actor="ana", action="password.changed")
    assert row.data == {"sessions_ended": 1}
    shown = here.get("/account/").context["sessions"]
    assert [one.session_key for one in shown] == [here.session.session_key]


def test_a_wrong_old_password_changes_nothing(cast: Cast) -> None:
    here, there = signed_in("ana"), signed_in("ana", "another")
    here.post("/account/password", CHANGED | {"old_password": "wrong"})
    assert (is_in(here), is_in(there)) == (True, True)


def test_somebody_sees_their_sessions_and_ends_one(cast: Cast) -> None:
    here, there = signed_in("ana"), signed_in("ana", "the library")
    other = signed_in("ben")
    assert "the library" in here.get("/account/").content.decode()
    row = UserSession.objects.get(session_key=there.session.session_key)
    here.post("/account/sessions/end", {"session": row.pk})
    assert (is_in(here), is_in(there), is_in(other)) == (True, False, True)


def test_nobody_ends_the_session_of_another(cast: Cast) -> None:
    mine, theirs = signed_in("ana"), signed_in("ben")
    row = UserSession.objects.get(session_key=theirs.session.session_key)
    mine.post("/account/sessions/end", {"session": row.pk})
    assert is_in(theirs)


def test_all_others_end_at_one_button(cast: Cast) -> None:
    here, *others = (signed_in("ana", f"browser {number}") for number in range(3))
    here.post("/account/sessions/end")
    assert (is_in(here), [is_in(one) for one in others]) == (True, [False, False])
    assert AuditEvent.objects.get(action="session.ended").data == {"count": 2}


def test_signing_in_and_out_are_in_the_trail(cast: Cast, settings: Settings) -> None:
    client = signed_in("ana")
    client.post("/logout")
    rows: Any = AuditEvent.objects.filter(actor="ana").order_by("id")
    assert [row.action for row in rows] == ["sign_in", "sign_out"]
    assert rows[0].data == {"by": ["password"], "address": "127.0.0.1"}


@pytest.mark.parametrize("path", ["/", "/audit/", "/products/orchid-demo/rollback/"])
def test_a_part_of_a_page_says_that_the_session_is_over_and_asks_no_more(
    db: None, path: str
) -> None:
    told = {"HX-Request": "true", "HX-Current-URL": f"http://testserver{path}"}
    answer = Client().get(path, headers=told)
    assert answer.status_code == 286
    page = answer.content.decode()
    assert f'href="/login?next={path}"' in page
    assert "<html" not in page
    strange = Client().get(path, headers=told | {"HX-Current-URL": "https://elsewhere.example/x"})
    assert 'href="/login?next=/"' in strange.content.decode()
