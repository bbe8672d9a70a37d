import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from orchid.formats.trials import registry
from orchid.formats.trials.shape import Trial

DATA = Path(__file__).parents[2] / "data" / "trials"
Read = Callable[[str], Trial]


@pytest.fixture
def raw() -> Callable[[str], bytes]:
    """The bytes of a file of the test data, unpacked."""

    def load(name: str) -> bytes:
        body = (DATA / name).read_bytes()
        return gzip.decompress(body) if name.endswith(".gz") else body

    return load


@pytest.fixture
def trial(raw: Callable[[str], bytes]) -> Read:
    """The trial of a file, recognised by its content; the file's name is the hint."""
    return lambda name: registry.read(raw(name), name.rpartition("/")[2])[1]
