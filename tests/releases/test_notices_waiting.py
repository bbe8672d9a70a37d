"""What begins to wait for somebody later than at its beginning, and alarms: each told once."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import User
from policies.models import Product
from releases.models import Alarm, EdgeSeen, Notice, SecondLook
from releases.services import edge_watch
from releases.services.binding import reopen_if_moved
from releases.services.cap import cap_tenant
from releases.services.deliveries import send_due
from releases.services.expiry import expire_if_due
from releases.services.issue import latest
from releases.services.notices import gather
from releases.services.rollout import pause, resume
from releases.services.schedule import reschedule
from releases.services.second_look import lapse
from releases.services.webhooks import create_webhook
from releases.tasks import tell
from tests.releases.releases_cast import (
    SLUG,
    actor,
    approve,
    edge,
    in_review,
    published,
    revised,
    says,
)
from tests.releases.test_outbound import receiver

Told = dict[str, set[str]]


@pytest.fixture
def reachable(product: Product, settings: Settings) -> Product:
    """Everybody has an address."""
    settings.WEBHOOKS_PRIVATE = True
    for user in User.objects.all():
        User.objects.filter(pk=user.pk).update(email=f"{user.username}@example.com")
    return product


def told_of(product: Product, part: str, now: datetime | None = None) -> Told:
    """The words of each notice under such a key, with whom it went to, after two ticks."""
    for _ in range(2):
        gather(product, now or timezone.now())
    rows = Notice.objects.filter(product=product, key__contains=part).order_by("id")
    return {f"{row.title}. {row.text}": {to.to for to in row.deliveries.all()} for row in rows}


def test_a_second_look_that_is_overdue_is_told_again_to_those_who_may_take_it(
    reachable: Product,
) -> None:
    cap_tenant(actor("dee"), reachable, "acme", "10s", {"max_teu": 400}, "acme takes it all")
    look = SecondLook.objects.get()
    assert list(told_of(reachable, "second_look:").values()) == [{"ben", "cho"}]
    assert told_of(reachable, ":overdue") == {}
    lapse(look, look.due_at)
    ((words, people),) = told_of(reachable, ":overdue").items()
    assert (
        "its second look is overdue" in words,
        "rollbacks and other emergencies go out" in words,
    ) == (
        True,
        True,
    )
    assert people == {"ben", "cho"}
    assert len(told_of(reachable, "second_look:")) == 2


def test_a_time_that_went_by_is_told_to_those_who_publish(reachable: Product) -> None:
    at = (timezone.now() + timedelta(days=2)).replace(microsecond=0)
    proposal = in_review(reachable)
    reschedule(actor("ana"), proposal, f"{at:%Y-%m-%dT%H:%M}", "UTC")
    for name in ("ben", "dee"):
        approve(name, proposal)
    assert told_of(reachable, ":missed") == {}
    assert told_of(reachable, ":missed", at + timedelta(minutes=1)) == {}  # it is merely late
    ((words, people),) = told_of(reachable, ":missed", at + timedelta(days=1)).items()
    assert f"{at:%Y-%m-%d %H:%M} UTC" in words
    assert people == {"ben", "cho", "dee"}


def edited(product: Product) -> None:
    proposal = in_review(product)
    approve("ben", proposal)
    revised(proposal, overload=["reject_infeasible"])
    assert reopen_if_moved(proposal)


def expired(product: Product) -> None:
    assert expire_if_due(in_review(product), timezone.now() + timedelta(days=400))


def rescheduled(product: Product) -> None:
    at = timezone.now() + timedelta(days=2)
    reschedule(actor("cho"), in_review(product), f"{at:%Y-%m-%dT%H:%M}", "UTC")


@pytest.mark.parametrize(
    ("ends", "said"),
    [(expired, "It expired"), (edited, "Submit it again"), (rescheduled, "It is voted on anew")],
)
def test_a_round_that_ended_early_is_told_to_the_author_alone(
    reachable: Product, ends: Callable[[Product], None], said: str
) -> None:
    ends(reachable)
    ((words, people),) = told_of(reachable, ":returned").items()
    assert ("Its votes are void" in words, said in words) == (True, True)
    assert people == {"ana"}


def test_a_rollout_that_is_paused_is_told_each_time_that_it_is(reachable: Product) -> None:
    rollout = published(reachable)
    assert told_of(reachable, ":paused") == {}
    pause(actor("dee"), rollout, "The pager rings.")
    ((words, people),) = told_of(reachable, ":paused").items()
    assert "The pager rings. It stands" in words
    assert people == {"ben", "cho", "dee"}
    rollout.refresh_from_db()
    resume(actor("dee"), rollout, "quiet again")
    rollout.refresh_from_db()
    assert len(told_of(reachable, ":paused")) == 1
    pause(actor("dee"), rollout, "again")
    assert len(told_of(reachable, ":paused")) == 2


def silent(product: Product) -> None:
    says(edge(product, "e1"), latest(product), at=timezone.now() - timedelta(hours=1))


def refusing(product: Product) -> None:
    says(edge(product, "e1"), latest(product), "refused", "schema error")


def split(product: Product) -> None:
    says(edge(product, "e1"), latest(product))
    published(product)


@pytest.mark.parametrize(
    ("kind", "wrong"), [("silent", silent), ("refusing", refusing), ("split_brain", split)]
)
def test_an_alarm_is_told_once_with_its_end_by_mail_and_by_webhook(
    reachable: Product, kind: str, wrong: Callable[[Product], None]
) -> None:
    with receiver() as (url, got):
        create_webhook(actor("ben"), reachable, url, ["alarm"])
        wrong(reachable)
        now = timezone.now() + edge_watch.SPLIT_AFTER * 2 * (wrong is split)
        if wrong is split:
            heard(reachable, now)
        step(reachable, now)
        alarm = Alarm.objects.get(kind=kind)
        for _ in range(2):
            tell()
        mine = [one for one in mail.outbox if alarm.get_kind_display() in one.subject]
        assert {to for one in mine for to in one.to} == {
            f"{n}@example.com" for n in ("ben", "cho", "dee")
        }
        assert len(mine) == 3
        assert "e1" in mine[0].body
        Alarm.objects.filter(pk=alarm.pk).update(until=timezone.now())
        for _ in range(2):
            tell()
    over = [one for one in mail.outbox if f"Over: {alarm.get_kind_display()}" in one.subject]
    assert len(over) == 3
    assert len(got) == 2


def heard(product: Product, now: datetime) -> None:
    EdgeSeen.objects.filter(edge__product=product).update(at=now)


def step(product: Product, now: datetime) -> None:
    found = latest(product)
    assert found is not None
    edge_watch.step(product, found, now)


def test_an_alarm_can_be_asked_for_by_page_and_api_and_told_of_nothing_else(
    reachable: Product,
) -> None:
    client = Client()
    client.force_login(User.objects.get(username="ben"))
    page = client.get(f"/products/{SLUG}/notices/").content.decode()
    assert 'value="alarm"' in page
    made: Any = client.post(
        f"/api/v1/products/{SLUG}/webhooks",
        {"url": "https://example.com/alarms", "kinds": ["alarm"]},
        "application/json",
    )
    assert (made.status_code, made.json()["kinds"]) == (201, ["alarm"])
    in_review(reachable)
    gather(reachable, timezone.now())
    send_due()
    assert not Notice.objects.filter(deliveries__webhook_id=made.json()["id"]).exists()
