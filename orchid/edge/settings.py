"""How one edge is started."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class EdgeSettings:
    """Which edge of which product this is, where its control plane is, where it keeps its state."""

    product: str
    name: str
    url: str
    token: str
    state_dir: Path
    pools_dir: Path  # holds triton-<pool>.json, one for each pool that is ready
    host: str = "127.0.0.1"
    port: int = 8471
    bundle_url: str = ""  # of a static bundle that is followed in place of the control plane's
    bundle_keys: Path | None = None  # the keys to pin first, where no control plane can be asked

    @property
    def headers(self) -> dict[str, str]:
        """Who asks, on every call to the control plane."""
        return {"Authorization": f"Bearer {self.token}", "Orchid-Edge": self.name}
