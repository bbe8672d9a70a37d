import pytest

from policies.models import Product
from tests.releases.hostile.doors import Place
from tests.releases.hostile.place import whole_place


@pytest.fixture
def place(product: Product) -> Place:
    return whole_place(product)
