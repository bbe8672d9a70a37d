from typing import Any

import pytest

from tests.people import Cast, cast_in


@pytest.fixture(autouse=True)
def quick_passwords(settings: Any) -> None:
    """Slow hashing is tested by nobody and waited for by everybody."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def cast(quick_passwords: None, db: None) -> Cast:
    return cast_in()
