"""A store that speaks S3's language, and answers nobody whose signature it can't reproduce."""

import hashlib
import hmac
import re
from urllib.parse import quote, unquote

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

SECRET = "store-secret"
AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<id>\w+)/(?P<day>\d{8})/(?P<region>[\w-]+)/s3/aws4_request,"
    r"SignedHeaders=(?P<names>[\w;-]+),Signature=(?P<signature>[0-9a-f]{64})"
)


class Store:
    """Objects by path, with the headers they were put with, in the order of their coming."""

    def __init__(self) -> None:
        self.objects: dict[str, tuple[bytes, dict[str, str]]] = {}
        self.puts: list[str] = []
        self.failures = 0  # so many requests fail before one is taken
        route = Route("/{path:path}", self.asked, methods=["GET", "PUT"])
        self.app = Starlette(routes=[route])

    async def asked(self, request: Request) -> Response:
        body = await request.body()
        if self.failures:
            self.failures -= 1
            return Response("<Error><Code>SlowDown</Code></Error>", 503)
        if not _genuine(request, body):
            answer = "<Error><Code>SignatureDoesNotMatch</Code><Message>No.</Message></Error>"
            return Response(answer, 403)
        path = request.url.path
        if request.method == "PUT":
            self.objects[path] = body, dict(request.headers)
            self.puts.append(path)
            return Response()
        if path not in self.objects:
            return Response("<Error><Code>NoSuchKey</Code></Error>", 404)
        return Response(self.objects[path][0])


def _genuine(request: Request, body: bytes) -> bool:
    """Worked out anew from what arrived, by the text of the specification."""
    found = AUTHORIZATION.fullmatch(request.headers.get("authorization", ""))
    digest = hashlib.sha256(body).hexdigest()
    if found is None or request.headers.get("x-amz-content-sha256") != digest:
        return False
    names = found["names"].split(";")
    if "host" not in names or "x-amz-date" not in names:
        return False
    lines = [f"{name}:{request.headers[name]}" for name in names]
    path = quote(unquote(request.url.path), safe="/-_.~")
    canonical = "\n".join(
        [request.method, path, request.url.query, *lines, "", found["names"], digest]
    )
    scope = f"{found['day']}/{found['region']}/s3/aws4_request"
    hashed = hashlib.sha256(canonical.encode()).hexdigest()
    to_sign = f"AWS4-HMAC-SHA256\n{request.headers['x-amz-date']}\n{scope}\n{hashed}"
    key = b"AWS4" + SECRET.encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    return hmac.digest(key, to_sign.encode(), "sha256").hex() == found["signature"]
