"""Every enumeration of the room, with its label, its colour and its named groups."""

from django.db.models import TextChoices


class ProposalState(TextChoices):
    """Where a proposal stands between its first draft and what became of it."""

    DRAFT = "draft", "Draft"
    IN_REVIEW = "in_review", "In review"
    APPROVED = "approved", "Approved"
    REJECTED = "rejected", "Rejected"
    WITHDRAWN = "withdrawn", "Withdrawn"
    PUBLISHED = "published", "Published"
    SUPERSEDED = "superseded", "Superseded"

    @property
    def badge(self) -> str:
        """The class of the badge that shows this state."""
        return _PROPOSAL_BADGES.get(self, "badge")


class RolloutState(TextChoices):
    """Where a rollout stands; only the first two are open."""

    RUNNING = "running", "Running"
    PAUSED = "paused", "Paused"
    COMPLETED = "completed", "Completed"
    ROLLED_BACK = "rolled_back", "Rolled back"

    @property
    def badge(self) -> str:
        """The class of the badge that shows this state."""
        return _ROLLOUT_BADGES[self]


class PublicationKind(TextChoices):
    """What an admission generation number was taken for."""

    PUBLISH = "publish", "Publish"
    ADVANCE = "advance", "Advance"
    PAUSE = "pause", "Pause"
    RESUME = "resume", "Resume"
    ROLLBACK = "rollback", "Rollback"
    PRICE_CHANGE = "price_change", "Price change"
    EMERGENCY = "emergency", "Emergency"


class SecondLookKind(TextChoices):
    """What was done alone and so has to be looked at by somebody else."""

    EMERGENCY_PUBLISH = "emergency_publish", "Emergency publish"
    EMERGENCY_CAP = "emergency_cap", "Emergency cap on a tenant"


class SecondLookState(TextChoices):
    """Where a forced second look stands; the first two still wait for a person."""

    OPEN = "open", "Waits for a second look"
    OVERDUE = "overdue", "Second look overdue"
    CONFIRMED = "confirmed", "Confirmed"
    REVERTED = "reverted", "Reverted"

    @property
    def badge(self) -> str:
        """The class of the badge that shows this state."""
        return _SECOND_LOOK_BADGES[self]


class OverrideState(TextChoices):
    """Whether a second person stands behind an override."""

    ASKED = "asked", "Waits for a second person"
    CONFIRMED = "confirmed", "Confirmed by a second person"

    @property
    def badge(self) -> str:
        """The class of the badge that shows this state."""
        return _OVERRIDE_BADGES[self]


class ActivationState(TextChoices):
    """What an edge answered to a publication."""

    ACTIVE = "active", "Active"
    REFUSED = "refused", "Refused"


class DrillAnswerState(TextChoices):
    """What an edge made of a rehearsed rollback."""

    READY = "ready", "Could activate it"
    REFUSED = "refused", "Would refuse it"


class DrillState(TextChoices):
    """How a rehearsal stands, by its answers and its deadline; nothing stores it."""

    RUNNING = "running", "Running"
    PASSED = "passed", "Passed"
    FAILED = "failed", "Failed"
    INCOMPLETE = "incomplete", "Not every edge answered"

    @property
    def badge(self) -> str:
        """The class of the badge that shows this state."""
        return _DRILL_BADGES[self]


class Readiness(TextChoices):
    """Whether a rollback could serve at once, the worst first: what isn't known isn't ready."""

    NOT_READY = "not_ready", "Not ready"
    UNKNOWN = "unknown", "Not known"
    READY = "ready", "Ready"

    @property
    def badge(self) -> str:
        """The class of the badge that shows it."""
        return _READINESS_BADGES[self]


class PoolRole(TextChoices):
    """What a pool is to a product; it is let go by an act, never by leaving a list."""

    SERVING = "serving", "Serving"
    CANDIDATE = "candidate", "Candidate"
    DRAINING = "draining", "Draining"
    WARM = "warm", "Kept warm"
    RELEASED = "released", "Released"
    UNKNOWN = "unknown", "Never named"

    @property
    def badge(self) -> str:
        """The class of the badge that shows this role."""
        return _POOL_BADGES.get(self, "badge")


class AlarmKind(TextChoices):
    """What is wrong with the edges of a product; each is open at most once."""

    SPLIT_BRAIN = "split_brain", "Two generations stay live"
    SILENT = "silent", "Edges are silent"
    REFUSING = "refusing", "Edges refuse"


class NoticeKind(TextChoices):
    """What somebody is told of."""

    WAITS = "waits", "Waits for you"
    BREACH = "breach", "Breach"
    ROLLBACK = "rollback", "Rollback"
    ALARM = "alarm", "Alarm of edges"


class DeliveryState(TextChoices):
    """Where a notice stands on its way to one address."""

    WAITING = "waiting", "Waiting"
    DELIVERED = "delivered", "Delivered"
    GIVEN_UP = "given_up", "Given up"

    @property
    def badge(self) -> str:
        """The class of the badge that shows this state."""
        return _DELIVERY_BADGES[self]


class Part(TextChoices):
    """How a person contributed to a proposal, which bars that person from voting on it."""

    AUTHOR = "author", "the author"
    CO_EDITOR = "co_editor", "a co-editor"
    TOKEN_OWNER = "token_owner", "the owner of the service token that wrote it"
    SCHEDULER = "scheduler", "who set the time"
    RECORDER = "recorder", "who wrote in its decision record"


class Choice(TextChoices):
    """The two votes there are."""

    APPROVE = "approve", "Approve"
    REJECT = "reject", "Reject"


OPEN_PROPOSALS = (ProposalState.DRAFT, ProposalState.IN_REVIEW, ProposalState.APPROVED)
DECIDED_PROPOSALS = (ProposalState.PUBLISHED, ProposalState.SUPERSEDED)
WAITING_PROPOSALS = (ProposalState.IN_REVIEW, ProposalState.APPROVED)
OPEN_ROLLOUTS = (RolloutState.RUNNING, RolloutState.PAUSED)
OPEN_SECOND_LOOKS = (SecondLookState.OPEN, SecondLookState.OVERDUE)

_PROPOSAL_BADGES = {
    ProposalState.APPROVED: "badge badge--pass",
    ProposalState.PUBLISHED: "badge badge--pass",
    ProposalState.REJECTED: "badge badge--fail",
    ProposalState.IN_REVIEW: "badge badge--inconclusive",
    ProposalState.DRAFT: "badge badge--no-data",
}
_ROLLOUT_BADGES = {
    RolloutState.RUNNING: "badge badge--inconclusive",
    RolloutState.PAUSED: "badge badge--no-data",
    RolloutState.COMPLETED: "badge badge--pass",
    RolloutState.ROLLED_BACK: "badge badge--fail",
}
_OVERRIDE_BADGES = {
    OverrideState.ASKED: "badge badge--no-data",
    OverrideState.CONFIRMED: "badge badge--inconclusive",
}
_SECOND_LOOK_BADGES = {
    SecondLookState.OPEN: "badge badge--inconclusive",
    SecondLookState.OVERDUE: "badge badge--fail",
    SecondLookState.CONFIRMED: "badge badge--pass",
    SecondLookState.REVERTED: "badge badge--no-data",
}
_DRILL_BADGES = {
    DrillState.RUNNING: "badge badge--no-data",
    DrillState.PASSED: "badge badge--pass",
    DrillState.FAILED: "badge badge--fail",
    DrillState.INCOMPLETE: "badge badge--inconclusive",
}
_POOL_BADGES = {
    PoolRole.SERVING: "badge badge--pass",
    PoolRole.CANDIDATE: "badge badge--inconclusive",
    PoolRole.DRAINING: "badge badge--inconclusive",
    PoolRole.UNKNOWN: "badge badge--fail",
}
_READINESS_BADGES = {
    Readiness.NOT_READY: "badge badge--fail",
    Readiness.UNKNOWN: "badge badge--no-data",
    Readiness.READY: "badge badge--pass",
}


class ShadowNear(TextChoices):
    """What a request was close to: little was left, or little is known."""

    DEADLINE = "deadline", "Near deadlines"
    FLOOR = "floor", "Near floors"
    LONG_CONTEXT = "long_context", "Long contexts"
    BUDGET = "budget", "Near budgets"


_DELIVERY_BADGES = {
    DeliveryState.WAITING: "badge badge--no-data",
    DeliveryState.DELIVERED: "badge badge--pass",
    DeliveryState.GIVEN_UP: "badge badge--fail",
}
