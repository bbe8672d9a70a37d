import pytest

from tests.people import Cast, cast_in


@pytest.fixture
def cast(db: None) -> Cast:
    return cast_in()
