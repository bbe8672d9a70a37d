"""The documents that the project ships, as the rules' first inputs."""

from collections.abc import Callable
from pathlib import Path

import pytest

from orchid.engine.document.load import LoadedDocument, load_document
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.parse import parse
from orchid.engine.packet import Beside, figures_packet

EXAMPLES = Path(__file__).parents[2] / "examples"


def shipped(product: str, generation: int) -> LoadedDocument:
    return load_document((EXAMPLES / product / f"generation-{generation}.yaml").read_bytes())


@pytest.fixture(scope="session")
def loaded_reference() -> LoadedDocument:
    return shipped("orchid-serve", 1)


@pytest.fixture(scope="session")
def reference(loaded_reference: LoadedDocument) -> PolicyDocument:
    return loaded_reference.document


@pytest.fixture(scope="session")
def demo() -> tuple[LoadedDocument, LoadedDocument]:
    """The two generations that the demo decides between."""
    return shipped("orchid-demo", 1), shipped("orchid-demo", 2)


@pytest.fixture(scope="session")
def reference_packet(loaded_reference: LoadedDocument) -> Callable[[], bytes]:
    """Make the packet of the reference product's figures, with what is declared beside it."""
    place = EXAMPLES / "orchid-serve"
    declared, asked, diagnosis = (
        parse((place / name).read_bytes(), "yaml")
        for name in ("declared-points.yaml", "figures.yaml", "diagnosis.yaml")
    )
    return lambda: figures_packet(loaded_reference, Beside(declared, asked, diagnosis))


@pytest.fixture(scope="session")
def packet(reference_packet: Callable[[], bytes]) -> bytes:
    return reference_packet()
