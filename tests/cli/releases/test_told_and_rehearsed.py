"""What was told, and what was rehearsed, read at a terminal."""

import json
import re

import pytest
from django.utils import timezone

from accounts.models import User
from policies.models import Product
from releases.models import Delivery, Drill, Notice
from tests.cli.releases.terminal import Orchid

pytestmark = pytest.mark.django_db(transaction=True)


def state(row: Delivery) -> str:
    row.refresh_from_db()
    return str(row.state)


def test_what_was_told_is_listed_and_sent_again(orchid: Orchid, product: Product) -> None:
    assert "Nothing was told yet" in orchid("notice list", "ci")[1]
    now = timezone.now()
    told = {"product": product, "kind": "breach", "at": now, "made_at": now}
    Notice.objects.create(**told, key="a", title="Nobody heard this")
    notice = Notice.objects.create(**told, key="b", title="p95 is over")
    ben = User.objects.get(username="ben")
    row = Delivery.objects.create(
        notice=notice, user=ben, state="given_up", tries=10, due_at=now, words="refused"
    )
    code, out, _ = orchid("notice list", "ci")
    assert (code, "Nobody heard this" in out, "p95 is over" in out) == (0, True, True)
    assert re.search(rf"breach +{row.pk} +\S+ +given_up +10 +refused", out)
    assert (orchid(f"notice resend {row.pk}", "ci")[0], state(row)) == (3, "given_up")
    code, out, _ = orchid(f"notice resend {row.pk}", "ben")
    assert (code, "sent again" in out, state(row)) == (0, True, "waiting")
    answer = json.loads(orchid("notice list --json", "ci")[1])
    assert answer["items"][0]["deliveries"][0]["state"] == "waiting"
    missing = orchid("notice resend 99999", "ben")
    assert (missing[0], "has no delivery 99999" in missing[2]) == (3, True)


def test_rehearsals_are_listed_and_read(orchid: Orchid, product: Product) -> None:
    assert "Nothing was rehearsed yet" in orchid("drills", "ci")[1]
    now = timezone.now()
    row = Drill.objects.create(
        product=product,
        publication=product.publications.get(),
        digest="sha256:" + "d" * 64,
        pool="blue",
        started_at=now,
        deadline_at=now,
        prepared_ms=1,
        actor="dee",
        reason="before Friday",
    )
    code, out, _ = orchid("drills", "ci")
    assert (code, "before Friday" in out, "dddddddddddd" in out) == (0, True, True)
    code, out, _ = orchid(f"drills {row.pk}", "ci")
    assert (code, out.startswith(f"Drill {row.pk} "), "on pool blue" in out) == (0, True, True)
    assert json.loads(orchid("drills --json", "ci")[1])["items"][0]["id"] == row.pk
    assert orchid("drills 99999", "ci")[0] == 3
    wrong = orchid("drills --cursor nonsense", "ci")
    assert (wrong[0], "cursor" in wrong[2]) == (3, True)
