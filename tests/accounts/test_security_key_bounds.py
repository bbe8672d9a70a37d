"""What a browser says for a security key may be anything; it is told to be wrong, never a fault."""

import pytest

from tests.people import Cast


@pytest.mark.django_db
@pytest.mark.parametrize("said", ["9" * 5_000, "[" * 100_000, "{", '"\\ud800"', "null"])
@pytest.mark.parametrize("path", ["/account/keys/add", "/confirm/key"])
def test_a_credential_that_is_none_is_refused_in_words(cast: Cast, path: str, said: str) -> None:
    browser = cast.browser("ben")
    browser.raise_request_exception = False
    answer = browser.post(path, {"name": "key", "credential": said}, follow=True)
    assert answer.status_code < 500
