"""Machines that are known by a client certificate, which a proxy of ours has verified.

The proxy ends TLS, checks the certificate against its own authority, strips these headers from what
clients send and sets them itself. It proves itself by a secret that it shares with us, since an
address can be anybody's behind another proxy. Without a secret in our settings this is off.
"""

import re
from collections.abc import Mapping
from hmac import compare_digest
from urllib.parse import unquote

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509 import load_pem_x509_certificate

CERTIFICATE = "Orchid-Client-Certificate"
PROXY_SECRET = "Orchid-Proxy-Secret"  # noqa: S105 - the name of a header
MARK = "cert:"
KEPT = 59  # of 64 digits: with the mark as long as a token's hash, and never equal to one
_NAMED = re.compile(r"(?:^|[;,])\s*(?:Hash=)?\"?([0-9A-Fa-f]{64})\"?\s*(?:$|[;,])")


def certificate_shown(headers: Mapping[str, str], secret: str) -> str | None:
    """What stands for the verified certificate of a request, if there is one to believe."""
    given = headers.get(PROXY_SECRET, "")
    if not secret or not compare_digest(given.encode(), secret.encode()):
        return None
    fingerprint = fingerprint_of(headers.get(CERTIFICATE, ""))
    return marked(fingerprint) if fingerprint else None


def marked(fingerprint: str) -> str:
    """How a certificate stands where tokens have their hash."""
    return MARK + fingerprint.lower()[:KEPT]


def is_certificate(shown: str) -> bool:
    """Whether this stands for a certificate, and isn't the hash of a token."""
    return shown.startswith(MARK)


def fingerprint_of(given: str) -> str | None:
    """The SHA-256 of a certificate's DER form.

    Given bare or with colons as `openssl x509 -fingerprint` prints it, as `Hash=` in Envoy's
    header, or as the PEM itself, escaped or not, as nginx passes it on.
    """
    plain = unquote(given)
    found = _NAMED.search(plain.rpartition("Fingerprint=")[2].replace(":", ""))
    if found:
        return found[1].lower()
    try:
        return load_pem_x509_certificate(plain.encode()).fingerprint(SHA256()).hex()
    except ValueError:
        return None
