"""Writes of the room: the audit trail, credentials, grants."""

from accounts.services.audit import record, seal_audit
from accounts.services.credentials import issue_credential, revoke_credential, token_hash
from accounts.services.grants import grant, revoke_grant

__all__ = [
    "grant",
    "issue_credential",
    "record",
    "revoke_credential",
    "revoke_grant",
    "seal_audit",
    "token_hash",
]
