"""Who decided, what is live, and what each edge says about it."""

from releases.models.edges import Activation, Edge, EdgeSeen
from releases.models.proposals import Contributor, Proposal, Vote
from releases.models.publications import DIGEST, Publication
from releases.models.rollouts import Rollout

__all__ = [
    "DIGEST",
    "Activation",
    "Contributor",
    "Edge",
    "EdgeSeen",
    "Proposal",
    "Publication",
    "Rollout",
    "Vote",
]
