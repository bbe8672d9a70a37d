import re
from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialLogin
from django.core import mail
from django.test import Client
from django.utils import timezone

from accounts.adapters import SignOnAdapter
from accounts.models import AuditEvent, FailedSignIn, ResetAsked
from accounts.tasks import forget_failures
from accounts.views import prove_address
from tests.people import PASSWORD, Cast


def test_somebody_unknown_is_sent_to_sign_in_and_comes_back_to_the_page(cast: Cast) -> None:
    client = Client()
    first = client.get("/audit/")
    assert first.headers["Location"] == "/login?next=/audit/"
    answer = client.post("/login", {"username": "eve", "password": PASSWORD, "next": "/audit/"})
    assert answer.headers["Location"] == "/audit/"
    assert client.get("/audit/").status_code == 200


def test_a_wrong_password_signs_nobody_in(cast: Cast) -> None:
    client = Client()
    answer = client.post("/login", {"username": "eve", "password": "wrong"})
    assert answer.status_code == 200
    assert "_auth_user_id" not in client.session


@pytest.mark.parametrize("letter", ["ß", "ΐ", "ﬃ", "İ", "\x00", "\u202e"])
def test_no_name_breaks_the_page_however_its_letters_fold(db: None, letter: str) -> None:
    answer = Client().post("/login", {"username": letter * 150, "password": "wrong"})
    assert answer.status_code == 200


def test_a_link_to_another_site_is_not_followed_after_signing_in(cast: Cast) -> None:
    asked = {"username": "eve", "password": PASSWORD, "next": "https://elsewhere.example/"}
    assert Client().post("/login", asked).headers["Location"] == "/"


def test_signing_out_takes_a_form_and_no_link(cast: Cast) -> None:
    browser = cast.browser("ana")
    assert browser.get("/logout").status_code == 405
    browser.post("/logout")
    assert "_auth_user_id" not in browser.session


def test_a_forgotten_password_is_replaced_by_mail_once(cast: Cast) -> None:
    client, before = Client(), Client()
    before.post("/login", {"username": "ana", "password": PASSWORD})
    client.post("/password-reset", {"email": "ana@example.org"})
    link = re.search(r"http://testserver(\S+)", str(mail.outbox[0].body))
    assert link
    form = client.get(link[1], follow=True)
    wanted = {"new_password1": "quite-another-one", "new_password2": "quite-another-one"}
    client.post(form.request["PATH_INFO"], wanted)
    assert Client().login(username="ana", password="quite-another-one")
    assert "used up" in Client().get(link[1], follow=True).content.decode()
    assert EmailAddress.objects.get(user=cast.ana).verified
    assert before.get("/account/").status_code == 302
    assert AuditEvent.objects.get(action="password.reset").data == {"sessions_ended": 1}


def test_an_address_is_proved_for_one_account_alone(cast: Cast) -> None:
    EmailAddress.objects.create(user=cast.ben, email="ana@example.org", verified=True)
    prove_address(cast.ana)
    assert not EmailAddress.objects.filter(user=cast.ana).exists()


def test_an_address_that_looks_alike_proves_nobody_elses(cast: Cast) -> None:
    cast.ben.email = "boss@stra\u00dfe.example"
    prove_address(cast.ben)
    assert not EmailAddress.objects.filter(email="boss@strasse.example").exists()
    EmailAddress.objects.create(user=cast.ana, email="boss@example.org", verified=True)
    for email, whom in (("bo\u017fs@example.org", None), ("BOSS@example.org", cast.ana)):
        told = SocialLogin(email_addresses=[EmailAddress(email=email, verified=True)])
        found = SignOnAdapter().authenticate_by_email(told)
        assert (found and found[0]) == whom


@pytest.mark.parametrize("email", ["nobody@example.org", "ana@example.org"])
def test_asking_for_a_new_password_tells_nobody_who_has_an_account(cast: Cast, email: str) -> None:
    answer = Client().post("/password-reset", {"email": email})
    assert answer.headers["Location"] == "/password-reset/sent"


def test_a_form_without_its_token_is_refused_in_words(cast: Cast) -> None:
    strict = Client(enforce_csrf_checks=True)
    answer = strict.post("/login", {"username": "eve", "password": PASSWORD})
    assert answer.status_code == 403
    assert "grown stale" in answer.content.decode()


def test_guesses_of_a_password_are_bounded_and_keep_nobody_else_out(cast: Cast) -> None:
    guessing = Client(REMOTE_ADDR="203.0.113.7")
    for number in range(10):
        guessing.post("/login", {"username": "eve", "password": f"guess-{number}"})
    right = {"username": "eve", "password": PASSWORD}
    refused = guessing.post("/login", right)
    assert "Too many wrong passwords" in refused.content.decode()
    assert "_auth_user_id" not in guessing.session
    elsewhere = Client(REMOTE_ADDR="198.51.100.1")
    elsewhere.post("/login", right)
    assert "_auth_user_id" in elsewhere.session
    FailedSignIn.objects.update(at=timezone.now() - timedelta(minutes=16))
    guessing.post("/login", right)
    assert "_auth_user_id" in guessing.session
    assert forget_failures() == 10


def test_a_few_guesses_at_each_of_many_names_lock_the_address_and_no_name(cast: Cast) -> None:
    guessing = Client(REMOTE_ADDR="203.0.113.7")
    for number in range(100):
        guessing.post("/login", {"username": f"name-{number // 9}", "password": "Spring-2026"})
    right = {"username": "eve", "password": PASSWORD}
    assert "from your network address" in guessing.post("/login", right).content.decode()
    assert "_auth_user_id" not in guessing.session
    elsewhere = Client(REMOTE_ADDR="198.51.100.1")
    assert elsewhere.post("/login", right).status_code == 302
    FailedSignIn.objects.update(at=timezone.now() - timedelta(minutes=16))
    assert guessing.post("/login", right).status_code == 302


def test_an_open_session_gives_no_more_guesses_of_its_password(cast: Cast) -> None:
    found = cast.browser("ana")
    fresh = {"new_password1": "quite-another-one", "new_password2": "quite-another-one"}
    for number in range(10):
        found.post("/account/password", {"old_password": f"guess-{number}", **fresh})
    refused = found.post("/account/password", {"old_password": PASSWORD, **fresh})
    assert "Too many wrong passwords" in refused.content.decode()
    assert Client().login(username="ana", password=PASSWORD)
    locked = AuditEvent.objects.get(action="sign_in.locked")
    assert locked.object_id == "ana"


def test_behind_a_socket_no_address_is_locked_for_everybody(cast: Cast) -> None:
    FailedSignIn.objects.bulk_create(FailedSignIn(name=f"n-{one}") for one in range(150))
    right = {"username": "eve", "password": PASSWORD}
    assert Client(REMOTE_ADDR="").post("/login", right).status_code == 302


def test_mails_for_a_new_password_are_bounded_without_a_word(cast: Cast) -> None:
    for number in range(8):
        asking = Client(REMOTE_ADDR=f"203.0.113.{number}")
        answer = asking.post(
            "/password-reset", {"email": ("ana@example.org", "ANA@example.org")[number % 2]}
        )
        assert answer.headers["Location"] == "/password-reset/sent"
    assert len(mail.outbox) == 5
    Client(REMOTE_ADDR="203.0.113.1").post("/password-reset", {"email": "ben@example.org"})
    assert len(mail.outbox) == 6
    ResetAsked.objects.update(at=timezone.now() - timedelta(minutes=16))
    assert forget_failures() == 6
    asking.post("/password-reset", {"email": "ana@example.org"})
    assert len(mail.outbox) == 7


def test_one_address_asks_for_so_many_mails_and_no_more(cast: Cast) -> None:
    asking = Client(REMOTE_ADDR="203.0.113.7")
    for number in range(50):
        asking.post("/password-reset", {"email": f"nobody-{number}@example.org"})
    answer = asking.post("/password-reset", {"email": "ana@example.org"})
    assert (answer.headers["Location"], mail.outbox) == ("/password-reset/sent", [])
