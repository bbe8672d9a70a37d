"""How the story asks the product: as a machine by token, as a person by the login form."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import httpx

from orchid.cli.client import Json, told
from orchid.cli.demo.check.site import Site, StepError

TIMEOUT_S = 30.0
CSRF = "csrfmiddlewaretoken"


class Machine:
    """One credential at the REST API."""

    def __init__(self, site: Site, token: str) -> None:
        headers = {"Authorization": f"Bearer {token}"}
        self.client = httpx.Client(base_url=site.url, headers=headers, timeout=TIMEOUT_S)

    def get(self, path: str, **query: Any) -> Json:
        answer: Json = succeeded(self.client.get(path, params=query)).json()
        return answer

    def post(self, path: str, body: Json) -> httpx.Response:
        return self.client.post(path, json=body)

    def deliver(self, path: str, content: bytes, batch_id: str, **query: Any) -> Json:
        headers = {"Batch-Id": batch_id, "Content-Type": "application/octet-stream"}
        answer = self.client.post(path, params=query, content=content, headers=headers)
        accepted: Json = succeeded(answer).json()
        return accepted

    def pages(self, path: str, most: int, **query: Any) -> Iterator[Json]:
        """Up to `most` rows of a list, newest first."""
        while most > 0:
            answer = self.get(path, **query)
            yield from answer["results"][:most]
            most -= len(answer["results"])
            if not answer["next_cursor"]:
                return
            query["cursor"] = answer["next_cursor"]


class Person:
    """One person's session, begun by the login form, without JavaScript."""

    def __init__(self, site: Site, name: str) -> None:
        self.name = name
        self.client = httpx.Client(base_url=site.url, timeout=TIMEOUT_S)
        signed_in = self.submit("/login", username=name, password=site.password(name))
        if signed_in.status_code != 302:
            raise StepError(f"{name} can't sign in ({signed_in.status_code})")

    def page(self, path: str) -> str:
        return succeeded(self.client.get(path)).text

    def submit(self, path: str, *, to: str = "", **fields: str) -> httpx.Response:
        """Fill in the form of the page at `path` and send it (to another address, `to`)."""
        form = hidden_fields(self.page(path))
        headers = {"Referer": str(self.client.base_url)}
        return self.client.post(to or path, data=form | fields, headers=headers)

    def post(self, path: str, body: Json) -> httpx.Response:
        """The REST API with the session of the browser."""
        headers = {"X-CSRFToken": hidden_fields(self.page("/"))[CSRF]}
        return self.client.post(path, json=body, headers=headers)


class _Hidden(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.fields: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "input" and given.get("type") == "hidden" and given.get("name"):
            self.fields[str(given["name"])] = given.get("value") or ""


def hidden_fields(page: str) -> dict[str, str]:
    """Names and values of a page's hidden inputs."""
    parser = _Hidden()
    parser.feed(page)
    return parser.fields


def succeeded(answer: httpx.Response) -> httpx.Response:
    if answer.is_success:
        return answer
    where = f"{answer.request.method} {answer.request.url.path}: {answer.status_code}"
    raise StepError(f"{where}. {told(answer)}")


def words(page: str) -> str:
    """The text of a page without its tags, each run of white space one space."""
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())
