import pytest
from gates_cast import Judged


@pytest.fixture
def judged(db: None) -> Judged:
    return Judged()
