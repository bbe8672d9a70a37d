"""Bundles whose candidate is asked, or whose limits hold, while it answers nobody."""

from typing import Any

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from orchid.engine.document.load import load_document
from orchid.engine.wire.bundle import Bundle, Exposure, Generation, Generations
from orchid.engine.wire.contents import EarlyStage
from tests.edge.control_plane import bundle
from tests.small_policy import small_document

#: A candidate that refuses whatever holds more than a few tokens.
TIGHT: dict[str, Any] = {
    "admission__live_tokens": {"per_device": 4000, "per_tenant": 4000, "per_request": 8}
}


def early(
    kind: EarlyStage | UnsetType = UNSET,
    publication: int = 1,
    pool: str = "one",
    incumbent: dict[str, Any] | None = None,
    **changes: Any,
) -> Bundle:
    """The small document, and a candidate that differs from it by these changes."""
    plain = bundle(publication, **(incumbent or {}))
    loaded = load_document(small_document(**((incumbent or {}) | changes)))
    candidate = Generation(loaded.digest, loaded.given)
    return replace(
        plain,
        generations=Generations(plain.generations.incumbent, candidate),
        pools={**plain.pools, loaded.digest: pool},
        exposure=Exposure(0, 0.0, "salt", kind=kind),
    )
