"""What the steps share: who asks, what was proposed, when which publication became active."""

import os
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from orchid.cli.client import Json
from orchid.cli.demo.check.browser import Windows
from orchid.cli.demo.check.doors import Machine, Person
from orchid.cli.demo.check.site import Site, StepError

PRODUCT = "orchid-demo"
AT = f"/api/v1/products/{PRODUCT}"
FOLLOWS_WITHIN_S = 2.0


@dataclass
class Story:
    """One telling. `proposal` is known from step 5 on, `activated` by publication number.

    `held` is the admission of a request that stays under way over the rollback.
    """

    site: Site
    windows: Windows
    proposal: int = 0
    held: Json = field(default_factory=dict)
    activated: dict[int, datetime] = field(default_factory=dict)
    _people: dict[str, Person] = field(default_factory=dict)

    def sign_in(self) -> None:
        """Wait for the product to answer, then speak as its CI."""
        status = self.site.var / "run" / "up.json"
        self.site.until("the web process", 180, lambda: _names(status, "edge"))
        token = self.site.secret("ci-token")
        os.environ |= {"ORCHID_URL": self.site.url, "ORCHID_TOKEN": token}
        self.ci = Machine(self.site, token)

    def person(self, name: str) -> Person:
        if name not in self._people:
            self._people[name] = Person(self.site, name)
        return self._people[name]

    def edge_on(self, number: int) -> Json | None:
        """The edge, once it is wanted on this publication and runs it."""
        for edge in self.ci.get(f"{AT}/edges")["items"]:
            if edge["standing"] == "active" and edge["wanted"] == edge["active"] == number:
                self.activated[number] = datetime.fromisoformat(edge["activated_at"])
                found: Json = edge
                return found
        return None

    def followed(self, number: int) -> str:
        """How fast the edge followed a publication, from its issue to the activation it told."""
        self.site.until(f"an edge on publication {number}", 15, lambda: self.edge_on(number))
        published = next(
            one for one in self.ci.get(f"{AT}/publications")["items"] if one["number"] == number
        )
        waited = self.activated[number] - datetime.fromisoformat(published["published_at"])
        seconds = waited.total_seconds()
        expect(seconds <= FOLLOWS_WITHIN_S, f"the edge took {seconds:.2f} s to follow")
        return f"the edge runs it {seconds:.2f} s after it was issued"


def expect(held: bool, otherwise: str) -> None:
    """StepError with what was found instead."""
    if not held:
        raise StepError(otherwise)


def _names(status: Path, name: str) -> bool | None:
    """Whether the supervisor's status file lists a process."""
    return (status.exists() and f'"{name}"' in status.read_text()) or None
