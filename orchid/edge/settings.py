"""How one edge is started."""

from dataclasses import dataclass, field
from pathlib import Path

from orchid.edge.tls import Tls


@dataclass(frozen=True)
class EdgeSettings:
    """Which edge of which product this is, where its control plane is, where it keeps its state.

    It is known by its token, or by the certificate of `tls` where the token is empty.
    """

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
    tls: Tls = field(default_factory=Tls)

    @property
    def headers(self) -> dict[str, str]:
        """Who asks, on every call to the control plane."""
        shown = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        return {**shown, "Orchid-Edge": self.name}
