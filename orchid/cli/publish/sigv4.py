"""AWS Signature Version 4 for one request whose body is at hand, as S3-like stores want it.

https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
"""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote, unquote, urlsplit

ALGORITHM = "AWS4-HMAC-SHA256"
SERVICE = "s3"


@dataclass(frozen=True)
class Credentials:
    """Who asks a store, and in which region it is."""

    key_id: str
    secret: str
    region: str
    session_token: str = ""


def signed_headers(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes,
    credentials: Credentials,
    now: datetime,
) -> dict[str, str]:
    """The headers to send: those given, and those by which the store knows who asks for what."""
    moment = now.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    sent = {name.lower(): value.strip() for name, value in headers.items()}
    sent |= {
        "host": urlsplit(url).netloc,
        "x-amz-content-sha256": hashlib.sha256(body).hexdigest(),
        "x-amz-date": moment,
    }
    if credentials.session_token:
        sent["x-amz-security-token"] = credentials.session_token
    names = ";".join(sorted(sent))
    scope = f"{moment[:8]}/{credentials.region}/{SERVICE}/aws4_request"
    request = canonical_request(method, url, sent)
    to_sign = "\n".join((ALGORITHM, moment, scope, _sha256(request)))
    signature = hmac.new(_key(credentials, moment[:8]), to_sign.encode(), hashlib.sha256)
    authorization = (
        f"{ALGORITHM} Credential={credentials.key_id}/{scope},SignedHeaders={names},"
        f"Signature={signature.hexdigest()}"
    )
    return {**sent, "authorization": authorization}


def canonical_request(method: str, url: str, headers: Mapping[str, str]) -> str:
    """The request in the one spelling that both sides hash."""
    parts = urlsplit(url)
    lines = "".join(f"{name}:{headers[name]}\n" for name in sorted(headers))
    path = quote(unquote(parts.path) or "/", safe="/-_.~")
    names = ";".join(sorted(headers))
    return "\n".join((method, path, parts.query, lines, names, headers["x-amz-content-sha256"]))


def _key(credentials: Credentials, day: str) -> bytes:
    """The key of one day, region and service; the secret itself signs nothing."""
    key = f"AWS4{credentials.secret}".encode()
    for part in (day, credentials.region, SERVICE, "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
