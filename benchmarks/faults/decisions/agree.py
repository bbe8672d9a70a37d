"""Do state, bundle and audit agree? Every sentence is a place where they do not."""

import time
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import httpx

from accounts.models import ActorKind, AuditEvent
from accounts.sealing import verify as verify_chain
from benchmarks.faults.decisions.people import SLUG, product
from orchid.engine.wire.bundle import verify
from releases.keys import public_keys
from releases.models import EdgeSeen, Proposal, Publication, Rollout
from releases.states import OPEN_ROLLOUTS

#: The audited acts that take a number, by the kind of publication that they make.
TAKERS = {
    "publish": ("publication.bootstrap", "proposal.publish"),
    "advance": ("rollout.advance",),
    "pause": ("rollout.pause",),
    "resume": ("rollout.resume",),
    "rollback": ("rollout.rollback", "publication.rollback"),
}
COMES_AGAIN_S = 30.0
#: What a person's click is called in the audit trail.
CLICKS = {
    "publish": ("proposal.publish",),
    "advance": ("rollout.advance",),
    "pause": ("rollout.pause",),
    "resume": ("rollout.resume",),
    "rollback": ("rollout.rollback", "publication.rollback"),
}


def disagreements(url: str, edge_token: str, acknowledged: Counter[str]) -> list[str]:
    """All that is wrong at rest; `acknowledged` counts the clicks that were answered with yes."""
    published = list(Publication.objects.filter(product__slug=SLUG).order_by("number"))
    return [
        *_numbers(published),
        *_bundles(published),
        *_audited(published),
        *_histories(),
        *_rollouts(published[-1]),
        *_clicks(acknowledged),
        *_served(url, edge_token, published[-1]),
        *_chain(),
    ]


def edge_is_on_the_newest() -> bool:
    newest = Publication.objects.filter(product__slug=SLUG).latest("number")
    return EdgeSeen.objects.filter(active_publication=newest.number).exists()


def sealed() -> bool:
    """Whether the sealer has chained every event, as it does within a second."""
    return verify_chain().pending == 0


def _numbers(published: list[Publication]) -> Iterator[str]:
    numbers = [row.number for row in published]
    if numbers != list(range(1, len(numbers) + 1)):
        yield f"publications are numbered {numbers}"


def _bundles(published: list[Publication]) -> Iterator[str]:
    """Every signed bundle says what its row says."""
    keys = public_keys()
    for row in published:
        bundle = verify(
            row.token, keys, product=SLUG, floor_publication=row.number, now=row.issued_at
        )
        candidate = bundle.generations.candidate
        said = (
            bundle.publication,
            bundle.generations.incumbent.digest,
            candidate.digest if candidate else None,
            bundle.exposure.fraction if bundle.exposure else 0.0,
            dict(bundle.pools),
        )
        kept = row.number, row.incumbent_digest, row.candidate_digest, row.fraction, row.pools
        if said != kept:
            yield f"the bundle of publication {row.number} says {said}, its row {kept}"


def _audited(published: list[Publication]) -> Iterator[str]:
    """Every number was taken by exactly one audited act, and no act tells of another number."""
    takers = [name for names in TAKERS.values() for name in names]
    events = AuditEvent.objects.filter(product_slug=SLUG, action__in=takers)
    told = Counter((event.action, _number(event)) for event in events)
    for row in published:
        found = sum(told.pop((action, row.number), 0) for action in TAKERS[row.kind])
        if found != 1:
            yield f"publication {row.number} ({row.kind}) has {found} audited acts"
    for (action, number), count in told.items():
        yield f"{count} times {action} tells of publication {number}, which it did not make"


def _number(event: AuditEvent) -> int:
    """A bootstrap has its publication as its object; every other act names it."""
    return int(event.data.get("publication") or event.object_id)


def _histories() -> Iterator[str]:
    """The audited moves of a row lead from its first state to the one that it has."""
    for kind in (Proposal, Rollout):
        name = kind.__name__.lower()
        for row in kind.objects.filter(product__slug=SLUG):
            events = AuditEvent.objects.filter(object_type=name, object_id=str(row.pk))
            moves = [event for event in events.order_by("id") if "to" in event.data]
            if any(one.data["to"] != two.data["from"] for one, two in pairwise(moves)):
                yield f"the audited moves of {name} {row.pk} are no way through its states"
            if moves and moves[-1].data["to"] != row.state:
                yield f"{name} {row.pk} is {row.state}; its last audited move says otherwise"
            if row.version != 1 + len(moves):
                yield f"{name} {row.pk} is at version {row.version} after {len(moves)} moves"


def _rollouts(newest: Publication) -> Iterator[str]:
    running = list(Rollout.objects.filter(product__slug=SLUG, state__in=OPEN_ROLLOUTS))
    if len(running) > 1:
        yield f"{len(running)} rollouts are open"
    for rollout in running:
        if rollout.publication_id != newest.pk:
            yield f"the open rollout {rollout.pk} is not at the newest publication"


def _clicks(acknowledged: Counter[str]) -> Iterator[str]:
    """What was answered with yes happened once, and nothing else was done in a person's name."""
    people = AuditEvent.objects.filter(product_slug=SLUG, actor_kind=ActorKind.PERSON)
    done = Counter(people.values_list("action", flat=True))
    for click, names in CLICKS.items():
        found = sum(done[name] for name in names)
        if found != acknowledged[click]:
            yield f"{acknowledged[click]} times {click} was acknowledged, {found} times done"


def _served(url: str, edge_token: str, newest: Publication) -> Iterator[str]:
    answer = _offered(url, edge_token)
    if answer.text != newest.token:
        yield f"edges are served another bundle ({answer.status_code}) than the newest row's"
    if not edge_is_on_the_newest():
        seen = EdgeSeen.objects.filter(edge__product=product()).first()
        yield f"the edge runs {seen.active_publication if seen else None}, not {newest.number}"


def _offered(url: str, edge_token: str) -> httpx.Response:
    """What an edge is served. One that is turned away for a moment comes again, as edges do: the
    web process may find only now that its connections were cut."""
    headers = {"Authorization": f"Bearer {edge_token}", "Orchid-Edge": "edge-1"}
    until = time.monotonic() + COMES_AGAIN_S
    while True:
        answer = httpx.get(f"{url}/edge/v1/products/{SLUG}/bundle", headers=headers, timeout=20)
        if answer.status_code != 503 or time.monotonic() > until:
            return answer
        time.sleep(0.5)


def _chain() -> Iterator[str]:
    chain = verify_chain()
    if not chain.intact:
        yield f"the audit chain: {chain.fault}"
