from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def recordings() -> Path:
    """What a real server wrote; shipped with the demo."""
    return ROOT / "examples" / "recordings"


@pytest.fixture
def data() -> Path:
    """Files of other origins; see ORIGIN.md beside them."""
    return ROOT / "tests" / "data"
