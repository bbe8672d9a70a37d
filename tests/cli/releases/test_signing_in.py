"""A person at a terminal: known by name, password and factor until they sign out."""

import io
import sys
from pathlib import Path

import pytest
from allauth.mfa.totp.internal import auth as totp
from pytest_django.live_server_helper import LiveServer

from accounts.models import User
from policies.models import Product
from releases.models import Proposal
from tests.cli.releases.terminal import Orchid
from tests.people import PASSWORD

pytestmark = pytest.mark.django_db(transaction=True)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_who_signed_in_is_known_until_they_sign_out(
    orchid: Orchid, product: Product, tmp_path: Path
) -> None:
    assert orchid("proposal list", "ben")[0] == 0
    assert (tmp_path / "ben.json").stat().st_mode & 0o077 == 0
    assert orchid("sign-out", "ben")[0] == 0
    code, _, err = orchid("proposal list", "")
    assert (code, "orchid sign-in NAME" in err) == (3, True)
    assert Proposal.objects.count() == 0


def test_a_wrong_password_signs_nobody_in(
    orchid: Orchid, product: Product, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("wrong\n"))
    code, _, err = orchid("sign-in ben", "")
    assert (code, "don't go together" in err) == (3, True)
    assert not (tmp_path / ".json").exists()


def test_an_address_where_nobody_signs_in_is_no_wrong_password(
    orchid: Orchid, live_server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{PASSWORD}\n"))
    monkeypatch.setenv("ORCHID_URL", f"{live_server.url}/nowhere")
    code, _, err = orchid("sign-in ben", "")
    assert (code, "ORCHID_URL" in err, "go together" in err) == (3, True, False)


def test_who_has_a_second_factor_is_asked_for_it(
    orchid: Orchid, product: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = totp.generate_totp_secret()
    totp.TOTP.activate(User.objects.get(username="cho"), secret)
    codes = ["000000"]
    monkeypatch.setattr(sys, "stdin", Terminal())
    answers = {"Password": lambda: PASSWORD, "Code": lambda: codes[-1]}
    monkeypatch.setattr("click.prompt", lambda asked, **_: answers[asked]())
    wrong = orchid("sign-in cho", "")
    assert (wrong[0], "six digits" in wrong[2]) == (3, True)
    counter = next(totp.yield_hotp_counters_from_time())
    codes.append(totp.format_hotp_value(totp.hotp_value(secret, counter)))
    assert orchid("sign-in cho", "")[0] == 0
    assert orchid("proposal list", "")[0] == 0


def test_a_script_hands_over_password_and_code_as_lines_and_nothing_is_asked(
    orchid: Orchid, product: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = totp.generate_totp_secret()
    totp.TOTP.activate(User.objects.get(username="cho"), secret)
    counter = next(totp.yield_hotp_counters_from_time())
    code = totp.format_hotp_value(totp.hotp_value(secret, counter))
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{PASSWORD}\r\n{code}\n"))
    told = orchid("sign-in cho", "")
    assert (told[0], told[1], "as cho" in told[2], "Password" in told[2]) == (0, "", True, False)
    assert orchid("proposal list", "")[0] == 0


@pytest.mark.parametrize(("given", "lacks"), [("", "password"), (f"{PASSWORD}\n", "code")])
def test_a_line_that_standard_input_lacks_is_named(
    orchid: Orchid, product: Product, monkeypatch: pytest.MonkeyPatch, given: str, lacks: str
) -> None:
    totp.TOTP.activate(User.objects.get(username="cho"), totp.generate_totp_secret())
    monkeypatch.setattr(sys, "stdin", io.StringIO(given))
    code, _, err = orchid("sign-in cho", "")
    assert (code, f"Standard input has no {lacks}" in err) == (3, True)
