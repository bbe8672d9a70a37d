"""The shape of the review card: questions with computed answers, and proofs that may be asked."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from releases.selectors.card.case import Link


class Standing(StrEnum):
    """How a question stands, with the badge and the sign that show it."""

    ANSWERED = "answered"
    LOOK = "look"
    MISSING = "missing"

    @property
    def badge(self) -> str:
        return _BADGES[self]

    @property
    def label(self) -> str:
        return _LABELS[self]


_BADGES = {
    Standing.ANSWERED: "badge badge--pass",
    Standing.LOOK: "badge badge--inconclusive",
    Standing.MISSING: "badge badge--no-data",
}
_LABELS = {
    Standing.ANSWERED: "answered",
    Standing.LOOK: "look at it",
    Standing.MISSING: "missing",
}


@dataclass(frozen=True)
class Answer:
    """One question, what the facts say to it, and the pages that prove it."""

    key: str
    question: str
    said: str
    standing: Standing
    links: Sequence[Link] = ()


@dataclass(frozen=True)
class Proof:
    """One kind of evidence that a policy can require before anybody approves."""

    name: str
    label: str
    there: bool
    said: str
    links: Sequence[Link] = ()
    required: bool = False

    @property
    def blocks(self) -> bool:
        """Whether its absence stops an approval."""
        return self.required and not self.there


@dataclass(frozen=True)
class Card:
    """The whole card of one proposal."""

    answers: Sequence[Answer]
    proofs: Sequence[Proof] = field(default=())

    @property
    def missing(self) -> list[Answer]:
        """Questions that the facts don't answer."""
        return [answer for answer in self.answers if answer.standing is Standing.MISSING]

    @property
    def blockers(self) -> list[Proof]:
        """What is required and not there: each stops an approval by its name."""
        return [proof for proof in self.proofs if proof.blocks]

    @property
    def absent(self) -> list[Proof]:
        """What is not there, required or not."""
        return [proof for proof in self.proofs if not proof.there]


def answered(
    key: str,
    question: str,
    said: str,
    links: Sequence[Link] = (),
    *,
    against: Sequence[str] = (),
) -> Answer:
    """An answer that the facts give; `against` is what speaks against it and wants a look."""
    standing = Standing.LOOK if against else Standing.ANSWERED
    return Answer(key, question, " ".join([said, *map(_sentence, against)]), standing, links)


def missing(key: str, question: str, said: str, links: Sequence[Link] = ()) -> Answer:
    """A question that nothing answers yet; `said` is what would."""
    return Answer(key, question, said, Standing.MISSING, links)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."
