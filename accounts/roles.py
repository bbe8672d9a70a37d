"""Who may do what: the whole of it, on one screen."""

from enum import StrEnum

from django.db import models


class Permission(StrEnum):
    VIEW = "view"
    PROPOSE = "propose"
    EVIDENCE_PUSH = "evidence_push"
    APPROVE = "approve"
    PUBLISH = "publish"
    ROLLBACK = "rollback"
    EMERGENCY = "emergency"
    OVERRIDE = "override"
    INGEST = "ingest"
    EDGE = "edge"
    AUDIT = "audit"
    ADMINISTER = "administer"


class Role(models.TextChoices):
    PRODUCT_OWNER = "product_owner", "Product owner"
    ENGINEER = "engineer", "Platform engineer"
    SRE = "sre", "SRE"
    AUDITOR = "auditor", "Auditor"
    CI = "ci", "CI"
    EDGE = "edge", "Edge"
    OTEL = "otel", "OpenTelemetry sender"
    AUDIT = "audit", "Audit reader"
    OPS = "ops", "Operations"


_P = Permission
PERMISSIONS: dict[str, frozenset[Permission]] = {
    Role.PRODUCT_OWNER: frozenset(
        {
            _P.VIEW,
            _P.PROPOSE,
            _P.APPROVE,
            _P.PUBLISH,
            _P.ROLLBACK,
            _P.OVERRIDE,
            _P.AUDIT,
            _P.ADMINISTER,
        }
    ),
    Role.ENGINEER: frozenset({_P.VIEW, _P.PROPOSE, _P.EVIDENCE_PUSH, _P.INGEST}),
    Role.SRE: frozenset(
        {
            _P.VIEW,
            _P.PROPOSE,
            _P.APPROVE,
            _P.PUBLISH,
            _P.ROLLBACK,
            _P.EMERGENCY,
            _P.OVERRIDE,
            _P.INGEST,
            _P.AUDIT,
        }
    ),
    Role.AUDITOR: frozenset({_P.VIEW, _P.AUDIT}),
    Role.CI: frozenset({_P.VIEW, _P.PROPOSE, _P.EVIDENCE_PUSH, _P.INGEST}),
    Role.EDGE: frozenset({_P.EDGE, _P.INGEST}),
    Role.OTEL: frozenset({_P.INGEST}),
    Role.AUDIT: frozenset({_P.VIEW, _P.AUDIT}),
    # A terminal at three in the morning, or an alarm that goes back by itself.
    Role.OPS: frozenset({_P.VIEW, _P.ROLLBACK}),
}

# Roles that a person may hold; the rest belong to credentials.
PEOPLE: tuple[Role, ...] = (Role.PRODUCT_OWNER, Role.ENGINEER, Role.SRE, Role.AUDITOR)
MACHINES: tuple[Role, ...] = (Role.CI, Role.EDGE, Role.OTEL, Role.AUDIT, Role.OPS)

# The product itself, acting from a tick: everything but a person's judgement.
SYSTEM: frozenset[Permission] = frozenset(Permission) - {
    Permission.APPROVE,
    Permission.EMERGENCY,
    Permission.OVERRIDE,
}

EVERY_PRODUCT = "*"
