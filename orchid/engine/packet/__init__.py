"""Packets: an answer with everything that it rests on, to be recomputed by anybody, anywhere.

`verify` needs no database, no network and no clock: it reads bytes and says which of them hold.
"""

from dataclasses import dataclass

from orchid.engine.packet.envelope import Check, PacketError, digests_hold, opened
from orchid.engine.packet.evaluation import evaluation_packet, verify_evaluation
from orchid.engine.packet.figures import Beside, figures_packet, verify_figures

__all__ = [
    "Beside",
    "Check",
    "PacketError",
    "Verified",
    "evaluation_packet",
    "figures_packet",
    "opened",
    "verify",
]

VERIFY = {"figures": verify_figures, "evaluation": verify_evaluation}


@dataclass(frozen=True, slots=True)
class Verified:
    """What a packet is, and everything that was held against it."""

    kind: str
    product: str
    digest: str
    checks: tuple[Check, ...]

    @property
    def holds(self) -> bool:
        return all(check.holds for check in self.checks)

    @property
    def faults(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if not check.holds)


def verify(data: bytes) -> Verified:
    """Recompute a packet; raises PacketError for bytes that are none."""
    content = opened(data)
    checks = (*digests_hold(data, content), *VERIFY[content["kind"]](content))
    return Verified(content["kind"], content["product"], content["digest"], checks)
