"""Random histories of a product, with a model of what each of them has proven."""

import random
from dataclasses import dataclass, field
from datetime import datetime

import pytest
from django.utils import timezone

from accounts.guard import SYSTEM_ACTOR
from controlplane.errors import Conflict
from policies.models import Generation, Product, Revision
from policies.services import draft_generation
from releases.models import Proposal, Publication, Rollout, SecondLook
from releases.services.issue import Serving, issue, latest
from releases.services.rollback import roll_back
from releases.states import (
    OPEN_ROLLOUTS,
    PublicationKind,
    RolloutState,
    SecondLookKind,
    SecondLookState,
)
from tests.releases.releases_cast import document

STEPS = (0.0, 0.1, 1.0)


def contents(product: Product, count: int) -> list[Revision]:
    """Different documents that could each be published."""
    found = []
    for number in range(count):
        given = document(2)
        given["admission"]["max_queued_teu"] = 7000 + number
        found.append(draft_generation(SYSTEM_ACTOR, product, given, f"Content {number}"))
    return found


@dataclass
class History:
    """A product that is moved about; the last of `good` is what was proven before what is live.

    `word` is the last that is known of a content: `good`, or that it was tried and `stopped`.
    `taking` is what the next rollback takes away: `""` on a first publication, else `open`,
    `whole`, `emergency`, `confirmed` or `rollback`.
    """

    product: Product
    revisions: list[Revision]
    first: str
    good: list[str] = field(default_factory=list)
    taking: str = ""
    done: list[str] = field(default_factory=list)
    word: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.good = [self.first]
        self.word = {self.first: "good"}

    @property
    def current(self) -> Publication:
        found = latest(self.product)
        assert found is not None
        return found

    def step(self, chance: random.Random) -> None:
        """One move that is allowed now."""
        moves = {
            "open": [self.advance, self.pause, self.emergency, self.rollback],
            "whole": [self.publish, self.emergency, self.rollback, self.reprice],
            "emergency": [self.confirm, self.publish, self.emergency, self.rollback],
            "confirmed": [self.publish, self.emergency, self.rollback],
            "rollback": [self.publish, self.publish, self.emergency, self.rollback],
            "": [self.publish, self.emergency, self.rollback],
        }
        move = chance.choice(moves[self.taking])
        self.done.append(move.__name__)
        move(chance)

    def publish(self, chance: random.Random) -> None:
        digest = self._other(chance)
        live = self._settled()
        if self.taking in ("whole", "emergency", "confirmed"):
            self.good.append(live)
            self.word[live] = "good"  # whoever approved what comes next, approved it over this
        made = self._issue(PublicationKind.PUBLISH, Serving(live, digest, STEPS[0]))
        Rollout.objects.create(
            product=self.product,
            proposal=self._proposal(digest),
            first=made,
            publication=made,
            candidate_digest=digest,
            created_at=timezone.now(),
        )
        self.word[digest] = "tried"
        self.taking = "open"

    def advance(self, chance: random.Random) -> None:
        """One stage on; from the last one it is completed."""
        current, rollout = self.current, Rollout.objects.get(state__in=OPEN_ROLLOUTS)
        place = STEPS.index(current.fraction)
        if place == len(STEPS) - 1:
            Rollout.objects.filter(pk=rollout.pk).update(state=RolloutState.COMPLETED)
            self.word[rollout.candidate_digest] = "good"
            self.taking = "whole"
            return
        self._restated(PublicationKind.ADVANCE, STEPS[place + 1])

    def pause(self, chance: random.Random) -> None:
        self._restated(PublicationKind.PAUSE, self.current.fraction)

    def reprice(self, chance: random.Random) -> None:
        """The same content again: prices beside it have changed."""
        live = self._settled()
        self._issue(PublicationKind.PRICE_CHANGE, Serving(live))

    def emergency(self, chance: random.Random) -> None:
        """Somebody alone serves other content whole; a rollout under way ends."""
        digest, live = self._other(chance), self._settled()
        if self.taking in ("whole", "confirmed"):
            self.good.append(live)
        if self.taking == "open":
            Rollout.objects.filter(state__in=OPEN_ROLLOUTS).update(state=RolloutState.ROLLED_BACK)
            self.word[self.current.target_digest] = "stopped"
        made = self._issue(PublicationKind.EMERGENCY, Serving(digest))
        SecondLook.objects.create(
            product=self.product,
            kind=SecondLookKind.EMERGENCY_PUBLISH,
            publication=made,
            actor="dee",
            reason="an outage",
            opened_at=timezone.now(),
            due_at=timezone.now(),
        )
        self.taking = "emergency"

    def confirm(self, chance: random.Random) -> None:
        SecondLook.objects.filter(publication=self.current).update(
            state=SecondLookState.CONFIRMED,
            looked_by="ben",
            looked_at=timezone.now(),
            words="it had to be",
        )
        self.word[self.current.incumbent_digest] = "good"
        self.taking = "confirmed"

    def rollback(self, chance: random.Random) -> None:
        """What the model expects of it is asserted here."""
        before, tried = self.current.number, self._tried()
        if not self.taking:
            with pytest.raises(Conflict, match="ever live"):
                roll_back(SYSTEM_ACTOR, self.product, "it went wrong")
            return
        made, new = roll_back(SYSTEM_ACTOR, self.product, "it went wrong")
        again, twice = roll_back(SYSTEM_ACTOR, self.product, "it went wrong")
        assert (again.number, twice) == (made.number, False), self.done
        assert new == (made.number > before)
        assert made.incumbent_digest == self.good[-1], self.done
        assert made.candidate_digest is None
        assert not Rollout.objects.filter(state__in=OPEN_ROLLOUTS).exists()
        if self.taking in ("open", "whole") and tried:
            self.word[tried] = "stopped"
        self.taking = "rollback"

    def _tried(self) -> str | None:
        """The candidate of what is live, before prices changed beside it too."""
        newest = Publication.objects.filter(product=self.product).order_by("-number")
        decided = newest.exclude(kind=PublicationKind.PRICE_CHANGE).first()
        return decided.candidate_digest if decided else None

    def _other(self, chance: random.Random) -> str:
        current = self.current
        served = {current.incumbent_digest, current.candidate_digest, self.good[-1]}
        return chance.choice([one.digest for one in self.revisions if one.digest not in served])

    def _settled(self) -> str:
        current = self.current
        return current.target_digest if self.taking != "open" else current.incumbent_digest

    def _restated(self, kind: PublicationKind, fraction: float) -> None:
        current = self.current
        serving = Serving(current.incumbent_digest, current.candidate_digest, fraction)
        made = self._issue(kind, serving)
        Rollout.objects.filter(state__in=OPEN_ROLLOUTS).update(publication=made)

    def _issue(self, kind: PublicationKind, serving: Serving) -> Publication:
        now: datetime = timezone.now()
        return issue(self.product, kind, serving, actor="orchid", reason=str(kind), now=now)

    def _proposal(self, digest: str) -> Proposal:
        generation = Generation.objects.get(revisions__digest=digest)
        return Proposal.objects.create(
            product=self.product,
            generation=generation,
            revision_digest=digest,
            state="published",
            title="Another content",
            author="ana",
            created_at=timezone.now(),
        )
