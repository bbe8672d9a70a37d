"""The words of this room: verdicts, metrics, kinds of evidence."""

from django.db import models


class VerdictState(models.TextChoices):
    PASS = "pass", "Pass"
    FAIL = "fail", "Fail"
    INCONCLUSIVE = "inconclusive", "Inconclusive"
    NO_DATA = "no_data", "No data"


class Action(models.TextChoices):
    """What the policy does about a verdict; the words are those of the engine."""

    HOLD = "hold", "Hold"
    ADVANCE = "advance", "Advance"
    PAUSE = "pause", "Pause"
    ROLL_BACK = "roll_back", "Roll back"


class Metric(models.TextChoices):
    """Every gate that a document can name; an unknown one is refused when it is proposed."""

    COMPLETION = "completion_p95_ms", "Completion p95"
    FIRST_TOKEN = "first_token_p95_ms", "First token p95"
    OUTPUT_TOKEN = "time_per_output_token_p95_ms", "Time per output token p95"
    TOKEN_GAP = "inter_token_gap_p95_ms", "Longest token gap p95"
    COST = "cost_per_success_usd", "Cost per success"
    UTILITY = "utility", "Utility index"
    ATTAINMENT = "attainment", "Attainment"
    VIOLATIONS = "violations", "Violations"


class EvidenceKind(models.TextChoices):
    FROZEN_SUITE = "frozen_suite", "Frozen suite"
    ADVERSARIAL = "adversarial", "Adversarial suite"
    POLICY = "policy", "Policy suite"
    SHADOW = "shadow", "Shadow comparison"
    ONLINE = "online", "Online outcomes"
    HUMAN = "human", "Human evaluation"


class Standing(models.TextChoices):
    """How a cell of the traffic stands on its evidence, worst first."""

    GAP = "gap", "No evidence"
    BELOW = "below", "Below its floor"
    NARROW = "narrow", "Floor within its error"
    NO_FLOOR = "no_floor", "No floor set"
    PARTS = "parts", "Covered in parts"
    MET = "met", "Floor met"

    @property
    def badge(self) -> str:
        """The class of its mark."""
        return {"gap": "no-data", "below": "fail", "narrow": "inconclusive", "met": "pass"}.get(
            self, "accent"
        )

    @property
    def sign(self) -> str:
        """A shape beside the colour."""
        return {"gap": "–", "below": "✕", "narrow": "≈", "met": "✓"}.get(self, "·")


class DiffStatus(models.TextChoices):
    """Where a decision diff over recorded requests stands."""

    QUEUED = "queued", "Waits for a worker"
    RUNNING = "running", "Being compared"
    DONE = "done", "Compared"
    FAILED = "failed", "Failed"

    @classmethod
    def open(cls) -> tuple["DiffStatus", ...]:
        return cls.QUEUED, cls.RUNNING


class RevisitState(models.TextChoices):
    """Where an item stands that reopened a decision."""

    OPEN = "open", "Open"
    ACKNOWLEDGED = "acknowledged", "Acknowledged"
    RESOLVED = "resolved", "Resolved"

    @property
    def badge(self) -> str:
        """The class of the badge that shows this state."""
        return {"open": "badge badge--fail", "acknowledged": "badge badge--inconclusive"}.get(
            self, "badge badge--pass"
        )

    @classmethod
    def waiting(cls) -> tuple["RevisitState", ...]:
        return cls.OPEN, cls.ACKNOWLEDGED
