from pathlib import Path
from typing import Any

import pytest

from tests.people import Cast, cast_in


@pytest.fixture(autouse=True)
def keys_folder(settings: Any, tmp_path: Path) -> Path:
    """The signed head beside the keys is that of one database, and each test has its own."""
    settings.KEYS_DIR = tmp_path / "keys"
    return tmp_path / "keys"


@pytest.fixture
def cast(db: None) -> Cast:
    return cast_in()
