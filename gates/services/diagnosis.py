"""The generation that a diagnosis proposes, and the cases that a product declares."""

from django.db import transaction
from pydantic import ValidationError

from accounts.guard import Actor, Permission, require
from controlplane.errors import BadInput, Conflict
from gates.models import DeclaredCase
from gates.selectors.diagnosis import Diagnosis
from gates.services.drafting import draft_once
from orchid.engine.diagnosis.declared import read_case
from orchid.engine.diagnosis.proposal import applied
from policies.models import Product, Revision
from policies.selectors import given_of


def draft_change(
    actor: Actor, product: Product, found: Diagnosis | None, words: str = ""
) -> tuple[Revision, bool]:
    """The diagnosed generation with the proposed change, and whether it was drafted just now.

    Raises Conflict where nothing is proposed, or something else than the change that was seen
    (`words`).
    """
    require(actor, Permission.PROPOSE, product.slug)
    if found is None or found.proposal is None:
        raise Conflict("nothing_to_propose", "No change of policy makes this gate better.")
    if words and found.proposal.change.words != words:
        raise Conflict(
            "proposal_changed",
            f"By now another change is proposed: {found.proposal.change.words}. Look at it first.",
        )
    digest, change = found.after.window.digest, found.proposal.change
    document = applied(given_of(digest), change.edits)
    return draft_once(actor, product, digest, document, f"{found.metric.label}: {change.words}")


@transaction.atomic
def load_declared_case(product: Product, text: str) -> DeclaredCase:
    """Store an `orchid.diagnosis-case/v1` file; loading it again changes nothing."""
    try:
        case = read_case(text)
    except (ValidationError, ValueError) as fault:
        raise BadInput("not_a_case", f"This is no diagnosis case: {fault}") from fault
    if case.product != product.slug:
        raise BadInput("other_product", f"The case is of {case.product}.")
    stored, _ = DeclaredCase.objects.update_or_create(
        product=product, name=case.name, defaults={"text": text}
    )
    return stored
