"""Who decided, what is live, and what each edge says about it."""

from releases.models.drills import Drill, DrillAnswer
from releases.models.edges import Activation, Alarm, Edge, EdgeSeen
from releases.models.pools import PoolRelease, Reconciliation
from releases.models.proposals import Comment, Contributor, Proposal, Vote
from releases.models.publications import DIGEST, Publication
from releases.models.rollouts import Rollout
from releases.models.second_looks import SecondLook

__all__ = [
    "DIGEST",
    "Activation",
    "Alarm",
    "Comment",
    "Contributor",
    "Drill",
    "DrillAnswer",
    "Edge",
    "EdgeSeen",
    "PoolRelease",
    "Proposal",
    "Publication",
    "Reconciliation",
    "Rollout",
    "SecondLook",
    "Vote",
]
