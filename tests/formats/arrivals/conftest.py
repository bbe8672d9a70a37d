import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

DATA = Path(__file__).parents[2] / "data"


@pytest.fixture
def raw() -> Callable[[str], bytes]:
    """The bytes of recorded traffic (or of a measured run) by name, unpacked."""

    def load(name: str) -> bytes:
        found = next(path for path in DATA.rglob(f"{name}*") if path.is_file())
        body = found.read_bytes()
        return gzip.decompress(body) if found.suffix == ".gz" else body

    return load
