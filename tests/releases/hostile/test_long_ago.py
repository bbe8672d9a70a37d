"""Who signed in long ago moves no traffic and lets nobody in, by whichever door."""

import time
from typing import Any

from accounts.models import Credential, Grant, Invitation
from releases.models import Drill, PoolRelease, Publication
from tests.accounts.routes import is_page
from tests.releases.hostile.doors import TAKES_POST, Place, undone

KINDS: tuple[Any, ...] = (Credential, Grant, Invitation, Drill, PoolRelease, Publication)


def counted() -> list[int]:
    return [kind.objects.count() for kind in KINDS]


def test_long_ago_is_not_now(place: Place) -> None:
    session = place.client.session
    session["signed_in_at"] = time.time() - 3600
    session.save()
    changed, before = [], counted()
    for route in TAKES_POST:
        path, sound = place.path(route), place.sound
        with undone():
            if is_page(route):
                place.client.post(path, sound)
            else:
                place.client.post(path, sound, "application/json")
            if counted() != before:
                changed.append(route)
    assert changed == []
    assert place.client.get("/account/").status_code == 200  # and so it was they who asked
