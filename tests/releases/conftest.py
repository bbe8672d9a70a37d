"""A database with the cast and a live product; keys in a folder of the test's own."""

from pathlib import Path

import pytest
from pytest_django import Settings

from accounts.models import User
from policies.models import Product
from releases.models import Edge
from releases.services.issue import latest
from tests.releases.releases_cast import cast, edge, live_product, says


@pytest.fixture(autouse=True)
def keys_folder(settings: Settings, tmp_path: Path) -> Path:
    settings.KEYS_DIR = tmp_path / "keys"
    return tmp_path / "keys"


@pytest.fixture
def people(db: None) -> dict[str, User]:
    return cast()


@pytest.fixture
def product(people: dict[str, User]) -> Product:
    return live_product()


@pytest.fixture
def gateway(product: Product) -> Edge:
    """The one edge of the product, which runs what is live."""
    found = edge(product, "edge-1")
    says(found, latest(product))
    return found
