"""People, their roles, the credentials of machines, and what everybody did."""

from accounts.models.answers import IdempotentAnswer
from accounts.models.audit import ActorKind, AuditEvent, AuditHead, AuditPending, AuditSeal
from accounts.models.machines import KIND_CHOICES, Credential
from accounts.models.people import (
    ROLE_CHOICES_OF_PEOPLE,
    FailedSignIn,
    Grant,
    Invitation,
    ResetAsked,
    User,
)

__all__ = [
    "KIND_CHOICES",
    "ROLE_CHOICES_OF_PEOPLE",
    "ActorKind",
    "AuditEvent",
    "AuditHead",
    "AuditPending",
    "AuditSeal",
    "Credential",
    "FailedSignIn",
    "Grant",
    "IdempotentAnswer",
    "Invitation",
    "ResetAsked",
    "User",
]
