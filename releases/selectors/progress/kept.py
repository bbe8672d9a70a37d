"""What keeps a rollout where it stands, as it keeps all else from going out."""

from collections.abc import Iterator, Sequence

from policies.selectors import document_of
from releases.selectors.progress.condition import Condition, Stand
from releases.selectors.progress.places import Place
from releases.services.in_force import freeze_of
from releases.services.second_look import overdue
from releases.states import RolloutState

#: The names of these conditions.
KEEPING = ("freeze", "second_look")


def kept(stand: Stand, stands: Sequence[Place]) -> Iterator[Condition]:
    """Asked where a step would publish something: to complete a rollout takes no number."""
    last = len(stand.document.rollout.stages) - 1
    is_whole = all(place.stage == last for place in stands)
    if is_whole and stand.rollout.state == RolloutState.RUNNING:
        return
    yield from _freeze(stand)
    yield from _second_look(stand)


def _freeze(stand: Stand) -> Iterator[Condition]:
    """Of what is live."""
    rules = document_of(stand.publication.incumbent_digest).rollout
    if not rules.freezes:
        return
    found = freeze_of(rules, stand.now)
    if found is None:
        yield Condition("freeze", True, "No freeze of what is live holds now.", "none", "none")
    else:
        yield Condition("freeze", False, found.said, "frozen", "none", found.until)


def _second_look(stand: Stand) -> Iterator[Condition]:
    """Of an emergency that nobody has looked at in time; where none is overdue it says nothing."""
    said = overdue(stand.product)
    if said:
        yield Condition("second_look", False, said, "overdue", "taken")
