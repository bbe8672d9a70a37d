"""A provider of OpenID Connect on this machine: discovery, codes, tokens, who somebody is."""

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, SECRET = "orchid", "a-secret-of-the-client"


class OpenIdServer:
    """Keeps what it gave out, and checks what comes back as a real one does."""

    def __init__(self) -> None:
        self.key = RSAKey.generate_key(2048, {"kid": "one"}, auto_kid=False)
        self.codes: dict[str, tuple[dict[str, Any], dict[str, str]]] = {}
        self.tokens: dict[str, dict[str, Any]] = {}
        self.issuer = ""

    def approve(self, url: str, claims: dict[str, Any]) -> dict[str, str]:
        """What the browser brings back after somebody with these claims agreed at `url`."""
        asked = dict(parse_qsl(urlsplit(url).query))
        assert url.startswith(f"{self.issuer}/authorize?")
        assert (asked["client_id"], asked["response_type"]) == (CLIENT, "code")
        assert asked["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe()
        self.codes[code] = claims, asked
        return {"code": code, "state": asked["state"]}

    def described(self) -> dict[str, Any]:
        names = ("authorize", "token", "userinfo", "jwks")
        authorize, token, userinfo, jwks = (f"{self.issuer}/{name}" for name in names)
        return {
            "issuer": self.issuer,
            "authorization_endpoint": authorize,
            "token_endpoint": token,
            "userinfo_endpoint": userinfo,
            "jwks_uri": jwks,
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
        }

    def exchanged(self, form: dict[str, str]) -> dict[str, Any] | None:
        """Tokens for a code, which counts once and for whoever asked for it alone."""
        claims, asked = self.codes.pop(form.get("code", ""), ({}, {}))
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        proved = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        known = (form.get("client_id"), form.get("client_secret")) == (CLIENT, SECRET)
        if not known or asked.get("code_challenge") != proved:
            return None
        if asked["redirect_uri"] != form.get("redirect_uri"):
            return None
        token, now = secrets.token_urlsafe(), int(time.time())
        self.tokens[token] = claims
        told = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 300, **claims}
        id_token = jwt.encode({"alg": "RS256", "kid": "one"}, told, self.key)
        return {"access_token": token, "token_type": "Bearer", "id_token": id_token}


def handler(server: OpenIdServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            token = self.headers.get("Authorization", "").removeprefix("Bearer ")
            answers: dict[str, Any] = {
                "/.well-known/openid-configuration": server.described(),
                "/jwks": {"keys": [server.key.as_dict(private=False)]},
                "/userinfo": server.tokens.get(token),
                "/authorize": {"says": "Who are you?"},
                "/favicon.ico": {"is": "no picture"},
            }
            self.answer(answers.get(self.path.partition("?")[0]))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self.answer(
                server.exchanged({name: value[0] for name, value in parse_qs(body).items()})
            )

        def answer(self, found: Any) -> None:
            self.send_response(200 if found else 400)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(found or {"error": "invalid_grant"}).encode())

        def log_message(self, *_: Any) -> None:
            """The test says what matters."""

    return Handler


@contextmanager
def running() -> Iterator[OpenIdServer]:
    server = OpenIdServer()
    with ThreadingHTTPServer(("127.0.0.1", 0), handler(server)) as http:
        server.issuer = f"http://127.0.0.1:{http.server_port}"
        thread = threading.Thread(target=http.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            http.shutdown()
            thread.join()
