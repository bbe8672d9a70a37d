"""An SRE goes further back than the last good content, by the pages: as sure as the short way."""

import random

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from policies.models import Product
from releases.models import Publication
from tests.releases.releases_cast import SLUG
from tests.releases.rollback_histories import History, contents

ROLLBACK = reverse("releases:rollback", args=[SLUG])
PUBLICATIONS = reverse("releases:publications", args=[SLUG])


@pytest.fixture
def history(product: Product) -> History:
    """The first content, and two more that each came through their rollout."""
    first = Publication.objects.get(product=product).incumbent_digest
    made, chance = History(product, contents(product, 5), first), random.Random(1)
    for _ in range(2):
        made.publish(chance)
        for _ in range(3):  # to a tenth, to the whole, and through it
            made.advance(chance)
    return made


@pytest.fixture
def dee(client: Client, people: dict[str, User]) -> Client:
    client.force_login(people["dee"])
    return client


def fields(page: str) -> dict[str, str]:
    import re

    found = re.findall(r'type="hidden" name="(leaves|to)" value="([^"]+)"', page)
    return dict(found)


def test_every_publication_but_the_newest_leads_there(history: History, dee: Client) -> None:
    page = dee.get(PUBLICATIONS).content.decode()
    assert f'href="{ROLLBACK}?to=1"' in page
    assert f'href="{ROLLBACK}?to={history.current.number}"' not in page


def test_what_serves_everything_is_said_alone(history: History, dee: Client) -> None:
    newest = (
        dee.get(PUBLICATIONS).content.decode().partition("<article")[2].partition("</article")[0]
    )
    assert "<dt>Everything</dt>" in newest
    assert "of eligible" not in newest  # nor is there a share of what got nothing new
    assert newest.count("<dt>Digest</dt>") == 1


def test_who_may_not_roll_back_is_not_led_there(history: History, client: Client) -> None:
    client.force_login(User.objects.get(username="eve"))
    assert f"{ROLLBACK}?to=" not in client.get(PUBLICATIONS).content.decode()


def test_the_page_shows_and_restores_what_was_chosen(history: History, dee: Client) -> None:
    page = dee.get(f"{ROLLBACK}?to=1").content.decode()
    assert "what publication 1 stood for" in page
    given = fields(page)
    assert given == {"leaves": history.current.target_digest, "to": "1"}
    refused = dee.post(ROLLBACK, {**given, "reason": ""})
    assert refused.status_code == 400
    assert fields(refused.content.decode()) == given
    assert dee.post(ROLLBACK, {**given, "reason": "the last two are both worse"}).status_code == 302
    newest = history.current
    assert (newest.kind, newest.incumbent_digest) == ("rollback", history.first)


def test_without_a_choice_it_is_the_last_good_content(history: History, dee: Client) -> None:
    given = fields(dee.get(ROLLBACK).content.decode())
    assert "to" not in given
    dee.post(ROLLBACK, {**given, "reason": "users complain"})
    assert history.current.incumbent_digest == history.good[-1] != history.first


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("99", "There is no publication 99."),
        ("9999999999999999999999", "A publication is named by its number."),
        ("one", "A publication is named by its number."),
        ("-1", "A publication is named by its number."),
    ],
)
def test_a_publication_that_is_none_is_said(
    history: History, dee: Client, named: str, said: str
) -> None:
    answer = dee.get(ROLLBACK, {"to": named})
    assert answer.status_code in (200, 400)
    assert said in answer.content.decode()
    before = history.current.number
    dee.post(ROLLBACK, {"to": named, "reason": "further back"})
    assert history.current.number == before
