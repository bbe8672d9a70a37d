"""What a rollback goes back to: content that came through its own rollout, never a stopped one."""

from controlplane.errors import Conflict, NotFound
from policies.models import Product
from releases.models import Publication, Rollout, SecondLook
from releases.states import PublicationKind, RolloutState, SecondLookState

#: What became everybody's content without a rollout of its own.
AT_ONCE = (PublicationKind.EMERGENCY, PublicationKind.PRICE_CHANGE)


def target(product: Product, current: Publication, to: int | None = None) -> str | None:
    """The digest that a rollback would restore; None when that is what is wanted already.

    Conflict `nothing_to_restore` where nothing was live before, `not_proven` where the content of
    publication `to` was stopped the last time it was tried; NotFound where there is no such number.
    """
    digest = _before(product, current) if to is None else _named(product, to)
    settled = current.candidate_digest is None and current.incumbent_digest == digest
    return None if settled else digest


def deciding(product: Product, current: Publication) -> Publication:
    """The publication that decided what is live: a change of prices decides no content."""
    found = current
    while found.kind == PublicationKind.PRICE_CHANGE and found.candidate_digest is None:
        earlier = _previous(product, found)
        if earlier is None or found.incumbent_digest not in (
            earlier.incumbent_digest,
            earlier.candidate_digest,
        ):
            break
        found = earlier
    return found


def _before(product: Product, current: Publication) -> str:
    decided = deciding(product, current)
    if decided.candidate_digest is not None:
        return decided.incumbent_digest
    if decided.kind == PublicationKind.ROLLBACK:
        return current.incumbent_digest
    earlier = _previous(product, decided) if decided.kind in AT_ONCE else None
    found = _stood(product, earlier) if earlier is not None else None
    if found is None:
        raise Conflict("nothing_to_restore", "No earlier content of this product was ever live.")
    return found


def _named(product: Product, to: int) -> str:
    chosen = Publication.objects.filter(product=product, number=to).first()
    if chosen is None:
        raise NotFound("not_found", f"There is no publication {to}.")
    digest = _stood(product, chosen)
    if digest is None:
        raise Conflict("not_proven", f"Nothing had been proven when publication {to} was made.")
    if _stopped(product, digest):
        raise Conflict(
            "not_proven",
            f"What publication {to} stood for was stopped when it was last rolled out. A rollback "
            "goes back to proven content only; publish this one by a proposal or as an emergency.",
        )
    return digest


def _stood(product: Product, publication: Publication) -> str | None:
    """What a publication stood for once it had been proven; None where nothing ever was.

    Of a candidate, only if it came through: one that was stopped on its way is no good content,
    even where it had everyone. What an emergency served counts once somebody else vouched for it.
    """
    found: Publication | None = publication
    while found is not None and found.kind == PublicationKind.EMERGENCY and not _confirmed(found):
        found = _previous(product, found)
    if found is None:
        return None
    candidate = found.candidate_digest
    if candidate is not None and found.fraction == 1.0 and not _stopped(product, candidate):
        return candidate
    return found.incumbent_digest


def _confirmed(emergency: Publication) -> bool:
    """Whether somebody else vouched for it: by the second look, or by approving what came over it.

    The approvals of a proposal bind the content that it was measured against.
    """
    looks = SecondLook.objects.filter(publication=emergency)
    if looks.filter(state=SecondLookState.REVERTED).exists():
        return False
    over = Publication.objects.filter(
        product=emergency.product_id,
        kind=PublicationKind.PUBLISH,
        number__gt=emergency.number,
        incumbent_digest=emergency.incumbent_digest,
    )
    return looks.filter(state=SecondLookState.CONFIRMED).exists() or over.exists()


def _stopped(product: Product, digest: str) -> bool:
    """Whether the last that is known of this content is that its rollout didn't come through."""
    last = Rollout.objects.filter(product=product, candidate_digest=digest).order_by("-id").first()
    if last is None or last.state == RolloutState.COMPLETED:
        return False
    since = Publication.objects.filter(
        product=product,
        kind=PublicationKind.EMERGENCY,
        incumbent_digest=digest,
        number__gt=last.first.number,
    )
    return not any(_confirmed(one) for one in since)


def _previous(product: Product, publication: Publication) -> Publication | None:
    earlier = Publication.objects.filter(product=product, number__lt=publication.number)
    return earlier.order_by("-number").first()
