"""What is wrong before a view is reached: encodings, cookies, hosts, parts, where one came from."""

import time

import httpx
import pytest
from django.test import Client

from controlplane.asgi import django
from controlplane.bodies import Utf8Text
from tests.people import Cast
from tests.releases.releases_cast import SLUG

PAGE, API = "/login", "/api/v1/proposals"
FORM = "application/x-www-form-urlencoded"


@pytest.mark.parametrize(
    "named",
    [
        "text/plain; charset=base64",
        "text/plain; charset=utf-7",
        "application/json; charset=unicode_escape",
        'multipart/form-data; boundary=x; charset="punycode"',
        f"{FORM}; charset*=bogus''utf-8",
        f"{FORM}; charset=utf\x0b-8",
    ],
)
async def test_text_in_another_encoding_is_refused_and_never_decoded(named: str) -> None:
    transport = httpx.ASGITransport(Utf8Text(django))
    headers = {"Content-Type": named, "Accept": "text/html"}
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        page = await client.get(f"{PAGE}?next=%2BAAA-%ff", headers=headers)
        told = await client.post(f"{API}?state=%ff", headers=headers, content=b"x")
    assert (page.status_code, told.status_code) == (415, 415)
    assert page.headers["Content-Type"].startswith("text/html")
    assert told.json()["code"] == "unknown_charset"


@pytest.mark.parametrize("path", [PAGE, API])
@pytest.mark.parametrize("name", ["sessionid", "csrftoken", "messages", "another"])
def test_a_cookie_that_the_database_can_not_hold_is_refused(
    client: Client, db: None, name: str, path: str
) -> None:
    answer = client.get(path, headers={"Cookie": f'{name}="aaaaaaaaaa\\000"'})
    assert answer.status_code == 400
    assert "holds no NUL character" in answer.content.decode()
    is_page = answer.headers["Content-Type"].startswith("text/html")
    assert is_page == (path == PAGE)


@pytest.mark.parametrize("host", ["evil.example", "evil..example:99999999", "[::1", "a\x7fb"])
def test_another_host_is_refused_in_words(client: Client, host: str) -> None:
    page, told = (client.get(path, headers={"Host": host}) for path in (PAGE, API))
    assert (page.status_code, told.status_code) == (400, 400)
    assert "Go back, reload and send it again." in page.content.decode()
    assert told.json()["code"] == "bad_request"


@pytest.mark.parametrize(
    ("media", "body"),
    [
        (FORM, "&".join(f"a{n}=1" for n in range(1500))),
        ("multipart/form-data", "--x"),
        ("multipart/form-data; boundary=\u00e9", "--x"),
    ],
)
def test_a_form_without_end_or_boundary_is_refused_in_words(
    cast: Cast, media: str, body: str
) -> None:
    answer = cast.browser("ben").post(f"/products/{SLUG}/access/roles", body, content_type=media)
    assert answer.status_code == 400
    assert "Go back, reload and send it again." in answer.content.decode()


@pytest.mark.parametrize("sender", ["http://[bad", "\x00", "//", "javascript:alert(1)", "é"])
def test_wherever_one_came_from_confirming_leads_to_a_page_of_ours(cast: Cast, sender: str) -> None:
    client = cast.browser("ben")
    session = client.session
    session["signed_in_at"] = time.time() - 3600
    session.save()
    invite = f"/products/{SLUG}/access/invite"
    answer = client.post(invite, {"email": "x@example.org"}, headers={"Referer": sender})
    assert answer.headers["Location"].startswith("/confirm?next=%2F")


@pytest.mark.parametrize("key", ["a\x00b", "\x7f", "a\tb", "x" * 129])
def test_a_key_that_nobody_could_read_is_refused(cast: Cast, key: str) -> None:
    answer = cast.browser("ben").post(
        API, "{}", "application/json", headers={"Idempotency-Key": key}
    )
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_idempotency_key")
