"""What somebody had written when they were asked who they are, kept until they come back."""

import time
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest

PRESSED = "pressed"  # in the session
KEPT_FOR_S = 3600.0
MOST_CHARACTERS = 20_000
#: What a person writes, which they may write otherwise; the rest of a form is sent as it was.
WRITTEN = ("title", "rationale", "text", "reason")
#: What a page puts into a form to know later what was on it; nobody reads these.
UNSEEN = ("leaves", "expected_version", "expected_revision", "credential", "grant", "evaluation")
#: A form that asks for one of these is written anew.
SECRETS = frozenset({"password", "old_password", "new_password1", "code"})


@dataclass(frozen=True)
class Field:
    name: str
    value: str

    @property
    def label(self) -> str:
        return self.name.replace("_", " ").capitalize()

    @property
    def is_written(self) -> bool:
        return self.name in WRITTEN

    @property
    def is_unseen(self) -> bool:
        return self.name in UNSEEN or self.name.endswith("digest")


@dataclass(frozen=True)
class Pressed:
    """A form that was sent and not acted on: where to, from which page, and what it held."""

    action: str
    came_from: str
    button: str
    fields: tuple[Field, ...]


def keep(request: HttpRequest, came_from: str) -> bool:
    """Keep the form of this request in its session; False where it can't or shouldn't be kept."""
    pairs = [
        (name, value)
        for name, values in request.POST.lists()
        for value in values
        if name != "csrfmiddlewaretoken"
    ]
    length = sum(len(name) + len(str(value)) for name, value in pairs)
    if request.FILES or SECRETS & set(request.POST) or length > MOST_CHARACTERS:
        return False
    request.session[PRESSED] = {
        "action": request.get_full_path(),
        "came_from": came_from,
        "button": _button(request),
        "fields": pairs,
        "at": time.time(),
    }
    return True


def kept(session: Any) -> Pressed | None:
    """The form that waits to be sent again; None where there is none, or none any more."""
    found = session.get(PRESSED)
    if not found or time.time() - found["at"] > KEPT_FOR_S:
        return None
    fields = tuple(Field(name, value) for name, value in found["fields"])
    return Pressed(found["action"], found["came_from"], found["button"], fields)


def forget(request: HttpRequest) -> None:
    """The form that waited was sent and taken."""
    if request.session.get(PRESSED, {}).get("action") == request.get_full_path():
        del request.session[PRESSED]


def _button(request: HttpRequest) -> str:
    """What the button did, by the name of its address: "Approve stage", "Publish now"."""
    match = request.resolver_match
    name = (match.url_name or "") if match else ""
    return name.replace("-", " ").replace("_", " ").capitalize() or "Send it"
