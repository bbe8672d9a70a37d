"""Who decided, what is live, and what each edge says about it."""

from releases.models.drills import Drill, DrillAnswer
from releases.models.edges import Activation, Alarm, Edge, EdgeSeen
from releases.models.notices import Delivery, Notice, Webhook
from releases.models.overrides import Override
from releases.models.pools import PoolRelease, Reconciliation
from releases.models.proposals import Comment, Contributor, Proposal, Vote
from releases.models.publications import DIGEST, Publication
from releases.models.records import RecordRevision
from releases.models.rollouts import Rollout, StageApproval
from releases.models.second_looks import SecondLook

__all__ = [
    "DIGEST",
    "Activation",
    "Alarm",
    "Comment",
    "Contributor",
    "Delivery",
    "Drill",
    "DrillAnswer",
    "Edge",
    "EdgeSeen",
    "Notice",
    "Override",
    "PoolRelease",
    "Proposal",
    "Publication",
    "Reconciliation",
    "RecordRevision",
    "Rollout",
    "SecondLook",
    "StageApproval",
    "Vote",
    "Webhook",
]
