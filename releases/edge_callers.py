"""Who asks: by a token, or by a client certificate that a trusted proxy has verified.

A credential that was found is kept in memory. The database says at once when one changes, by a
trigger and `NOTIFY`; while nobody listens to that, nothing is believed and each is asked for.
"""

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from hmac import compare_digest
from re import compile as pattern
from urllib.parse import unquote

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509 import load_pem_x509_certificate
from starlette.datastructures import Headers

from releases.edge_store import Caller, EdgeStore

BELIEVED_S = 60.0  # a bound on memory, not on revocation: that one is told at once
CERTIFICATE = "Orchid-Client-Certificate"
PROXY_SECRET = "Orchid-Proxy-Secret"  # noqa: S105 - the name of a header
#: Envoy's and HAProxy's ways of naming a certificate by the SHA-256 of its DER form.
FINGERPRINT = pattern(r"(?:^|[;,])\s*(?:Hash=)?\"?([0-9A-Fa-f]{64})\"?\s*(?:$|[;,])")
FINGERPRINT_MARK = "cert:"
KEPT_OF_FINGERPRINT = 59  # with the mark as long as a token's hash, and never equal to one


@dataclass(frozen=True)
class _Known:
    caller: Caller
    until_s: float  # of the steady clock


class Callers:
    """Live credentials by what they show, asked of the store when they aren't in memory."""

    def __init__(self, store: EdgeStore) -> None:
        self._store = store
        self._known: dict[str, _Known] = {}
        self._changes = 0
        self.believing = False

    def __len__(self) -> int:
        return len(self._known)

    async def caller(self, shown: str) -> Caller | None:
        """The live credential that shows this; None when there is none."""
        known = self._known.get(shown)
        if known and known.until_s > time.monotonic():
            return known.caller if is_live(known.caller) else None
        while True:
            changes = self._changes
            found = await self._store.caller(shown)
            if found is None:
                self._known.pop(shown, None)
                return None
            if changes == self._changes:  # else it may be revoked since it was read
                break
        if self.believing:
            self._known[shown] = _Known(found, time.monotonic() + BELIEVED_S)
        return found

    def forget(self, credential_id: int) -> None:
        """This credential is not as it was."""
        self._changes += 1
        for shown in [s for s, k in self._known.items() if k.caller.credential_id == credential_id]:
            del self._known[shown]

    def forget_all(self) -> None:
        self._changes += 1
        self._known.clear()

    def forget_old(self) -> None:
        """Let go of who came no more."""
        now = time.monotonic()
        self._known = {shown: known for shown, known in self._known.items() if known.until_s > now}


def is_live(caller: Caller) -> bool:
    return caller.expires_at is None or caller.expires_at > datetime.now(UTC)


def shown_by(headers: Headers, proxy_secret: str) -> str | None:
    """What is to be looked up: the hash of a bearer token, or the mark of a certificate.

    A certificate counts only beside the secret that the proxy shares with us; without one in our
    settings no certificate counts at all.
    """
    scheme, _, token = headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return sha256(token.strip().encode()).hexdigest()
    given = headers.get(PROXY_SECRET, "")
    if not proxy_secret or not compare_digest(given.encode(), proxy_secret.encode()):
        return None
    fingerprint = fingerprint_of(headers.get(CERTIFICATE, ""))
    return marked(fingerprint) if fingerprint else None


def marked(fingerprint: str) -> str:
    """How a certificate stands where tokens have their hash: no token's hash can equal it."""
    return FINGERPRINT_MARK + fingerprint.lower()[:KEPT_OF_FINGERPRINT]


def fingerprint_of(given: str) -> str | None:
    """SHA-256 of a certificate: bare, as `Hash=` of Envoy's header, or of nginx's escaped PEM."""
    if "BEGIN%20CERTIFICATE" in given or "BEGIN CERTIFICATE" in given:
        try:
            return load_pem_x509_certificate(unquote(given).encode()).fingerprint(SHA256()).hex()
        except ValueError:
            return None
    found = FINGERPRINT.search(given)
    return found[1].lower() if found else None
