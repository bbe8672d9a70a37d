"""An edge with its control plane, both on loopback, and a pool that says it is ready."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.edge.control_plane import ControlPlane
from tests.edge.edge_site import Site


@pytest.fixture
async def plane() -> AsyncIterator[ControlPlane]:
    plane = ControlPlane()
    async with plane.serving():
        yield plane


@pytest.fixture
def site(tmp_path: Path, plane: ControlPlane) -> Site:
    return Site(tmp_path, plane)
