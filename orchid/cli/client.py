"""The REST client of the command line: who asks, what went wrong, and trying again safely."""

import os
import time
import uuid
from collections.abc import Callable, Mapping
from typing import Any

import click
import httpx

from orchid.cli.address import address
from orchid.cli.session import sent_by, session_of

TRIES, PAUSE_S, TIMEOUT_S = 3, 0.5, 30.0
#: A delivery that is to come again later waits so long in all, and so long at once.
PATIENCE_S, LONGEST_PAUSE_S = 600.0, 60.0
BUSY = (429, 503)
#: What to type next, by the code of a problem.
HINTS = {
    "confirmation_needed": "At a terminal: orchid sign-in NAME, then the command again.",
    "second_factor_needed": "Set it up on the page of your account, in a browser.",
    "person_needed": "A person: unset ORCHID_TOKEN, then orchid sign-in NAME.",
    "forbidden": "ORCHID_TOKEN says who asks, else the person of orchid sign-in.",
    "unauthenticated": "Set ORCHID_TOKEN anew, or unset it and sign in: orchid sign-in NAME.",
}
Json = dict[str, Any]


class Api:
    """One control plane. Every failure becomes a click.ClickException that says what to do."""

    def __init__(
        self,
        transport: httpx.BaseTransport | None = None,
        pause: Callable[[float], object] = time.sleep,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self.pause = pause
        self.url = address()
        headers, cookies = _who(self.url)
        self.client = httpx.Client(
            base_url=self.url,
            headers=headers,
            cookies=cookies,
            timeout=timeout_s,
            transport=transport,
        )

    def get(self, path: str, **query: Any) -> Json:
        asked = {name: value for name, value in query.items() if value is not None}
        return self._answer("GET", path, params=asked)

    def fetch(self, path: str, **query: Any) -> bytes:
        """The very bytes of an answer, whose spelling matters."""
        asked = {name: value for name, value in query.items() if value is not None}
        response = self._sent("GET", path, params=asked)
        if not response.is_success:
            raise click.ClickException(told(response))
        return response.content

    def post(self, path: str, body: Mapping[str, Any]) -> Json:
        """An act. Sent again under the same key when the line breaks, so it happens once."""
        return self._answer("POST", path, json=body, headers={"Idempotency-Key": uuid.uuid4().hex})

    def patch(self, path: str, body: Mapping[str, Any]) -> Json:
        """A change of what is named; sent twice it is the same change."""
        return self._answer("PATCH", path, json=body)

    def deliver(self, path: str, content: bytes, headers: Mapping[str, str], **query: Any) -> Json:
        """A batch; its Batch-Id header makes a second sending harmless.

        An inbox that is full or away says when to come again, and is asked again then, for
        PATIENCE_S in all.
        """
        asked = {name: value for name, value in query.items() if value is not None}
        left = PATIENCE_S
        while True:
            response = self._sent("POST", path, params=asked, content=content, headers=headers)
            wait = asked_to_wait(response)
            if wait is None or wait > left or self.pause(wait) is True:
                return self._read(response)
            left -= wait

    def _answer(self, method: str, path: str, **parts: Any) -> Json:
        return self._read(self._sent(method, path, **parts))

    def _read(self, response: httpx.Response) -> Json:
        if not response.is_success:
            raise click.ClickException(told(response))
        try:
            body: Json = response.json() if response.content else {}
        except ValueError as error:
            raise click.ClickException(no_control_plane(response)) from error
        return body

    def _sent(self, method: str, path: str, **parts: Any) -> httpx.Response:
        for left in reversed(range(TRIES)):
            try:
                return self.client.request(method, path, **parts)
            except httpx.TransportError as error:
                if not left:
                    raise click.ClickException(unreachable(self.url, error)) from error
                self.pause(PAUSE_S)
        raise AssertionError("unreachable: the last try returns or raises")


def asked_to_wait(response: httpx.Response) -> float | None:
    """Seconds until a busy control plane wants to be asked again; None when it is not busy."""
    if response.status_code not in BUSY:
        return None
    try:
        said = float(response.headers.get("Retry-After", "1"))
    except ValueError:
        said = 1.0
    return min(max(said, PAUSE_S), LONGEST_PAUSE_S)


def _who(url: str) -> tuple[dict[str, str], dict[str, str]]:
    """Headers and cookies that say who asks: a token, else the person who signed in from here."""
    token = os.environ.get("ORCHID_TOKEN", "").strip()
    if token:
        return {"Authorization": f"Bearer {token}"}, {}
    cookies = session_of(url)
    if cookies:
        return sent_by(url, cookies), cookies
    raise click.ClickException(
        "ORCHID_TOKEN is not set, so the control plane can't know who asks.\nSet it to a CI"
        " credential of the product (in the demo: export ORCHID_TOKEN=$(cat var/secrets/ci-token)),"
        " or be asked yourself: orchid sign-in NAME."
    )


def unreachable(url: str, error: Exception) -> str:
    return (
        f"No control plane answers at {url} ({error}).\nIs it running (`orchid up`)? Another"
        " address goes into ORCHID_URL."
    )


def told(response: httpx.Response) -> str:
    """A problem document in words: what it is, what to do, and each place that is wrong."""
    try:
        problem = response.json()
    except ValueError:
        problem = None
    if not isinstance(problem, dict) or "title" not in problem:
        return no_control_plane(response)
    lines = [f"{problem['title']} ({problem.get('code', response.status_code)})."]
    if problem.get("detail"):
        lines.append(str(problem["detail"]))
    lines += places(problem.get("errors"))
    hint = HINTS.get(problem.get("code", ""))
    return "\n".join([*lines, hint] if hint else lines)


def no_control_plane(response: httpx.Response) -> str:
    return f"{response.request.url} answered {response.status_code}, not as a control plane."


def places(errors: Any) -> list[str]:
    """The wrong places of a problem, in either form the API gives them."""
    if isinstance(errors, dict):
        return [f"  {name}: {'; '.join(map(str, _many(texts)))}" for name, texts in errors.items()]
    return [f"  {place(one)}" for one in _many(errors)]


def place(error: Any) -> str:
    if not isinstance(error, dict):
        return str(error)
    if "found" in error:
        text = f"found {error['found']}, allowed is {error.get('allowed')}"
    else:
        text = str(error.get("text", ""))
    hint = f" ({error['hint']})" if error.get("hint") else ""
    return f"{error.get('pointer') or 'the document'}: {text}{hint}"


def _many(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]
