"""Who is told of what: once, after it was stored, signed, and tried again until it is taken."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from accounts.models import AuditEvent, User
from controlplane.errors import BadInput, Conflict
from gates.models import Verdict, Window
from policies.models import Product
from releases.models import Delivery, Notice, Webhook
from releases.services.deliveries import FIRST_PAUSE, MOST_TRIES, send_due
from releases.services.notices import gather
from releases.services.outbound import signature
from releases.services.rollback import roll_back
from releases.services.webhooks import create_webhook, end_webhook
from releases.tasks import tell
from tests.releases.releases_cast import SLUG, actor, in_review, judged, published
from tests.releases.test_outbound import INSIDE, receiver

STAGES = [{"canary": 0.1, "hold": "20s"}, {"canary": 1.0, "hold": "20s"}]
KINDS = ["waits", "breach", "rollback"]


@pytest.fixture(autouse=True)
def inside(settings: Settings) -> None:
    """The receivers of these tests are on loopback."""
    settings.WEBHOOKS_PRIVATE = True


@pytest.fixture
def reachable(product: Product) -> Product:
    """Ben and dee have an address, so has ana, who is never asked to approve her own."""
    for name in ("ana", "ben", "dee"):
        User.objects.filter(username=name).update(email=f"{name}@example.com")
    return product


def test_a_rollback_is_told_once_signed_and_never_by_what_decided_it(reachable: Product) -> None:
    with receiver() as (url, got):
        hook, secret = create_webhook(actor("ben"), reachable, url, ["rollback"])
        published(reachable, stages=STAGES)
        roll_back(actor("dee"), reachable, "users complain")
        assert not Notice.objects.exists()
        for _ in range(2):
            tell()
    [(_path, headers, body)] = got
    told = json.loads(body)
    assert (told["kind"], told["product"]) == ("rollback", SLUG)
    assert "users complain" in told["text"]
    moment = headers["Orchid-Signature"].split(",")[0].removeprefix("t=")
    at = datetime.fromtimestamp(int(moment), tz=UTC)
    assert headers["Orchid-Signature"] == signature(secret, at, body)
    assert Delivery.objects.get(webhook=hook).state == "delivered"


def test_those_who_may_vote_are_asked_by_mail_and_the_author_is_not(reachable: Product) -> None:
    in_review(reachable)
    for _ in range(2):
        tell()
    to = sorted(address for message in mail.outbox for address in message.to)
    assert to == ["ben@example.com", "dee@example.com"]
    assert "Serve cheaper" in mail.outbox[0].subject
    assert "/proposals/" in mail.outbox[0].body


@pytest.mark.parametrize(
    ("live", "said"),
    [
        (
            False,
            "Its candidate: Cost per success, whole: fail. What follows: a gate failed",
        ),
        (True, "What is live: Cost per success, whole: fail. It changes by a person alone"),
    ],
)
def test_a_judgement_that_turns_to_fail_is_told(reachable: Product, live: bool, said: str) -> None:
    rollout = published(reachable, stages=STAGES)
    window = Window.objects.create(
        product=reachable,
        digest=rollout.candidate_digest,
        publication=2,
        cohort="candidate",
        opens_at=timezone.now(),
        exposure=0.1,
        live_from=timezone.now() if live else None,
    )
    found = judged(window, "fail", timezone.now())
    reason = "cost_per_success_usd, whole: fail"
    type(found).objects.filter(pk=found.pk).update(changed=True, reasons=[reason])
    gather(reachable, timezone.now())
    notice = Notice.objects.get(kind="breach")
    assert "Publication 2 fails its gates" in notice.title
    assert notice.text.startswith(said)
    assert {row.to for row in notice.deliveries.all()} == {"ben", "dee"}


@pytest.mark.parametrize(
    ("segment", "where"),
    [
        ("", "on the whole"),
        ("load_state=full load|task=rag", "in load state is full load, task is rag"),
    ],
)
def test_a_breach_says_first_what_a_pager_has_room_for(
    reachable: Product, segment: str, where: str
) -> None:
    """Which gate, where, what was measured and is due, what follows; then how it is known."""
    window = Window.objects.create(
        product=reachable,
        digest=published(reachable, stages=STAGES).candidate_digest,
        publication=2,
        cohort="candidate",
        opens_at=timezone.now(),
        exposure=0.1,
    )
    found = judged(window, "fail", timezone.now())
    for part in {"", segment}:
        is_worst = part == segment
        Verdict.objects.create(
            evaluation=found,
            metric="cost_per_success_usd",
            segment=part,
            verdict="fail" if is_worst else "pass",
            value="0.00031" if is_worst else "0.0001",
            bound="0.00026",
            n=100,
            n_effective=100.0,
            minimum=1,
        )
    reason = f"cost_per_success_usd, segment {segment or 'x'}: e = 3,000 of 2,000 and more"
    type(found).objects.filter(pk=found.pk).update(changed=True, reasons=[reason])
    gather(reachable, timezone.now())
    notice = Notice.objects.get(kind="breach")
    assert notice.title.endswith(f"Publication 2 fails Cost per success {where}")
    seen = (
        f"Its candidate: Cost per success {where} is $0.00031000, due is ≤ $0.00026. What follows"
    )
    assert notice.text.startswith(seen)
    assert "=" not in notice.text.replace("e = 3", "")


def test_a_breach_that_goes_on_is_told_once_and_its_return_again(reachable: Product) -> None:
    rollout, now = published(reachable, stages=STAGES), timezone.now()
    window = Window.objects.create(
        product=reachable,
        digest=rollout.candidate_digest,
        publication=2,
        cohort="candidate",
        opens_at=now,
        exposure=0.1,
    )
    told = []
    for second, verdict in enumerate(("fail", "fail", "fail", "pass", "fail")):
        found = judged(window, verdict, now + timedelta(seconds=second))
        type(found).objects.filter(pk=found.pk).update(changed=True, reasons=[f"gate {second}"])
        gather(reachable, now + timedelta(seconds=second))
        told.append(Notice.objects.filter(kind="breach").count())
    assert told == [1, 1, 1, 1, 2]


def test_what_is_not_taken_is_tried_again_later_and_given_up_in_the_end(
    reachable: Product,
) -> None:
    with receiver(503) as (url, got):
        create_webhook(actor("ben"), reachable, url, ["rollback"])
        published(reachable, stages=STAGES)
        roll_back(actor("dee"), reachable, "users complain")
        at = timezone.now()
        gather(reachable, at)
        send_due(at)
        row = Delivery.objects.get(webhook__isnull=False)
        assert (row.state, row.status, row.due_at) == ("waiting", 503, at + FIRST_PAUSE)
        send_due(at)
        assert len(got) == 1  # not before its time
        for _ in range(MOST_TRIES):
            row.refresh_from_db()
            send_due(row.due_at)
    row.refresh_from_db()
    assert (row.state, row.tries, len(got)) == ("given_up", MOST_TRIES, MOST_TRIES)


def test_a_delivery_that_somebody_sends_is_left_alone_until_its_lease_is_over(
    reachable: Product,
) -> None:
    with receiver() as (url, got):
        create_webhook(actor("ben"), reachable, url, ["rollback"])
        published(reachable, stages=STAGES)
        roll_back(actor("dee"), reachable, "users complain")
        now = timezone.now()
        gather(reachable, now)
        Delivery.objects.update(lease_until=now + timedelta(seconds=60))
        send_due(now)
        assert got == []
        send_due(now + timedelta(seconds=61))
        assert len(got) == 1


def test_what_can_not_be_sent_keeps_no_other_notice(reachable: Product, settings: Settings) -> None:
    User.objects.filter(username="ben").update(email="ben@example.com\nBcc: all@example.com")
    with receiver() as (url, got):
        settings.WEBHOOK_KEY, today = "the key before", settings.WEBHOOK_KEY
        lost, _ = create_webhook(actor("ben"), reachable, f"{url}/lost", ["rollback"])
        settings.WEBHOOK_KEY = today
        create_webhook(actor("ben"), reachable, f"{url}/kept", ["rollback"])
        published(reachable, stages=STAGES)
        roll_back(actor("dee"), reachable, "users complain")
        tell()
    assert [path for path, *_ in got] == ["/kept"]
    assert {to for one in mail.outbox for to in one.to} == {"dee@example.com"}
    kept_from = Delivery.objects.filter(state="waiting", tries=1)
    assert {str(one.to) for one in kept_from} >= {Delivery.objects.filter(webhook=lost)[0].to}
    assert "another key" in Delivery.objects.get(webhook=lost).words


def test_an_ended_address_is_told_no_more(reachable: Product) -> None:
    with receiver() as (url, got):
        hook, _ = create_webhook(actor("ben"), reachable, url, KINDS)
        in_review(reachable)
        gather(reachable, timezone.now())
        end_webhook(actor("ben"), reachable, hook.pk)
        send_due()
    assert got == []
    acts = AuditEvent.objects.filter(action__startswith="webhook.").order_by("id")
    assert [act.action for act in acts] == ["webhook.create", "webhook.end"]


def test_what_can_be_told_is_checked_when_it_is_typed(
    reachable: Product, settings: Settings
) -> None:
    settings.WEBHOOKS_PRIVATE = False
    with pytest.raises(BadInput, match="https"):
        create_webhook(actor("ben"), reachable, "http://example.com", KINDS)
    with pytest.raises(BadInput, match="at least one"):
        create_webhook(actor("ben"), reachable, "https://example.com", ["weather"])
    create_webhook(actor("ben"), reachable, "https://example.com", KINDS)
    with pytest.raises(Conflict):
        create_webhook(actor("ben"), reachable, "https://example.com", KINDS)


def test_an_address_inside_is_refused_by_page_and_api_when_it_is_typed(
    client: Client, reachable: Product, settings: Settings
) -> None:
    settings.WEBHOOKS_PRIVATE = False
    client.force_login(User.objects.get(username="ben"))
    page, api = reverse("releases:notices", args=[SLUG]), f"/api/v1/products/{SLUG}/webhooks"
    for host in INSIDE:
        typed = {"url": f"https://{host}/hook", "kinds": KINDS}
        answer = client.post(api, typed, content_type="application/json")
        assert (answer.status_code, answer.json()["code"]) == (400, "bad_address"), host
        shown = client.post(page, typed)
        told = shown.content.decode()
        assert (shown.status_code, "address inside" in told) == (400, True), host
        assert f'value="{typed["url"]}"' in told  # on the form, to be mended there
    assert not Webhook.objects.exists()


def test_the_secret_is_on_one_answer_only_and_sealed_in_the_database(
    client: Client, reachable: Product
) -> None:
    client.force_login(User.objects.get(username="ben"))
    url = reverse("releases:notices", args=[SLUG])
    answer = client.post(url, {"url": "https://example.com/hook", "kinds": KINDS})
    page = answer.content.decode()
    secret = page.split("whsec_")[1].split("<")[0]
    assert answer.headers["Cache-Control"] == "no-store"
    assert secret not in client.get(url).content.decode()
    assert secret not in Webhook.objects.get().sealed_secret
    made = client.post(
        f"/api/v1/products/{SLUG}/webhooks",
        {"url": "https://example.com/other", "kinds": ["breach"]},
        content_type="application/json",
    )
    assert made.json()["secret"].startswith("whsec_")
    listed = client.get(f"/api/v1/products/{SLUG}/webhooks").json()["items"]
    assert all("secret" not in row for row in listed)
    client.force_login(User.objects.get(username="dee"))
    refused = client.post(url, {"url": "https://example.com/third", "kinds": KINDS})
    assert refused.status_code == 403


def test_a_delivery_that_was_given_up_is_sent_again_by_a_button(
    client: Client, reachable: Product
) -> None:
    in_review(reachable)
    gather(reachable, timezone.now())
    row = Delivery.objects.filter(user__username="ben").get()
    Delivery.objects.filter(pk=row.pk).update(state="given_up", tries=MOST_TRIES)
    client.force_login(User.objects.get(username="ben"))
    page = client.get(reverse("releases:notices", args=[SLUG])).content.decode()
    assert "Given up" in page
    assert "Your approval is asked." in page
    client.post(reverse("releases:resend", args=[SLUG, row.pk]))
    send_due()
    row.refresh_from_db()
    assert (row.state, row.tries) == ("delivered", 1)
    [told] = client.get(f"/api/v1/products/{SLUG}/notices").json()["items"]
    assert {one["to"]: one["state"] for one in told["deliveries"]} == {
        "ben": "delivered",
        "dee": "delivered",
    }


def test_a_button_that_is_pressed_twice_with_one_key_sends_once(
    client: Client, reachable: Product
) -> None:
    in_review(reachable)
    gather(reachable, timezone.now())
    row = Delivery.objects.filter(user__username="ben").get()
    client.force_login(User.objects.get(username="ben"))
    again = f"/api/v1/products/{SLUG}/deliveries/{row.pk}/resend"
    for replayed in (False, True):
        answer = client.post(again, headers={"Idempotency-Key": "resend-1"})
        assert (answer.status_code, "Idempotency-Replayed" in answer.headers) == (200, replayed)
        send_due()
    assert AuditEvent.objects.filter(action="delivery.resend").count() == 1
    assert len([one for one in mail.outbox if one.to == ["ben@example.com"]]) == 1
