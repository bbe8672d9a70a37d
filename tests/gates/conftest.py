import pytest

from tests.gates.gates_cast import Judged


@pytest.fixture
def judged(db: None) -> Judged:
    return Judged()
