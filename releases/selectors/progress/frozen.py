"""A freeze of what is live keeps a rollout where it stands, as it keeps all else from going out."""

from collections.abc import Iterator, Sequence

from policies.selectors import document_of
from releases.selectors.progress.condition import Condition, Stand
from releases.selectors.progress.places import Place
from releases.services.in_force import freeze_of
from releases.states import RolloutState


def freeze(stand: Stand, stands: Sequence[Place]) -> Iterator[Condition]:
    """Asked where a step would publish something: to complete a rollout takes no number."""
    rules = document_of(stand.publication.incumbent_digest).rollout
    last = len(stand.document.rollout.stages) - 1
    is_whole = all(place.stage == last for place in stands)
    if not rules.freezes or (is_whole and stand.rollout.state == RolloutState.RUNNING):
        return
    found = freeze_of(rules, stand.now)
    if found is None:
        yield Condition("freeze", True, "No freeze of what is live holds now.", "none", "none")
    else:
        yield Condition("freeze", False, found.said, "frozen", "none", found.until)
