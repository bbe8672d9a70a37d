"""An emergency cap on one tenant: what is live with one budget more, published at once."""

import copy
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from pydantic import TypeAdapter, ValidationError

from accounts.guard import Actor, Permission, require
from controlplane.errors import BadInput, Conflict, Invalid
from orchid.engine.document.money import EVERY_TENANT
from orchid.engine.document.values import DurationMs, duration_words
from policies.models import Product
from policies.selectors import given_of, revision_by_digest
from policies.services import draft_generation
from releases.lifecycle import lock_product
from releases.models import Proposal
from releases.services.emergency import Seen, publish_in_emergency
from releases.services.in_force import settled_digest
from releases.services.issue import latest
from releases.services.propose import propose
from releases.states import SecondLookKind

#: What a cap may bound, as the keys of a document's budget.
LIMITS = ("max_teu", "max_live_token_ms", "max_output_tokens", "max_external_calls", "max_usd")


@transaction.atomic
def cap_tenant(
    actor: Actor,
    product: Product,
    tenant: str,
    window: str,
    limits: dict[str, Any],
    reason: str,
    *,
    now: datetime | None = None,
) -> Proposal:
    """Draft what is live with a tighter budget of one tenant and publish it in an emergency.

    Raises 422 `not_a_cap` where the tenant has a tighter one already, 400 for no limit at all.
    """
    require(actor, Permission.EMERGENCY, product.slug)
    lock_product(product.pk)  # or a second cap at the same moment would be made without the first
    given = {key: value for key, value in limits.items() if key in LIMITS and value is not None}
    _check_named(tenant, given)
    live = latest(product)
    if live is None:
        raise Conflict("not_live", "Nothing is live yet, so there is nothing to cap.")
    window_ms = _window_ms(window)
    base = revision_by_digest(product, settled_digest(product, live))
    document = capped(given_of(base.digest), tenant, window_ms, given)
    title = f"Emergency cap on {tenant}"
    revision = draft_generation(actor, product, document, title, base)
    proposal = propose(actor, product, revision.generation.number, title, reason)
    seen = Seen(revision.digest, base.digest)
    kind = SecondLookKind.EMERGENCY_CAP
    return publish_in_emergency(actor, proposal, reason, seen, kind=kind, now=now)


def capped(
    document: dict[str, Any], tenant: str, window_ms: int, limits: dict[str, Any]
) -> dict[str, Any]:
    """The document with these limits in the tenant's budget of that window; the rest as it was."""
    found = copy.deepcopy(document)
    budgets = list(found.get("budgets") or [])
    own = _budgets_of(budgets, tenant, window_ms)
    in_force: dict[str, Any] = {}
    for budget in [*_budgets_of(budgets, EVERY_TENANT, window_ms), *own]:
        in_force |= budget
    _refuse_looser(tenant, window_ms, in_force, limits)
    entry = own[0] if own else {"tenant": tenant, "window": window_ms}
    for key, value in limits.items():  # each where it stands: a limit in two budgets is ambiguous
        next((budget for budget in own if key in budget), entry)[key] = value
    found["budgets"] = budgets if own else [*budgets, entry]
    return found


def _budgets_of(budgets: list[dict[str, Any]], tenant: str, window_ms: int) -> list[dict[str, Any]]:
    """All of a tenant and window: a document may spread its limits over several."""
    return [b for b in budgets if (b["tenant"], b["window"]) == (tenant, window_ms)]


def _refuse_looser(
    tenant: str, window_ms: int, in_force: dict[str, Any], limits: dict[str, Any]
) -> None:
    """A tenant's own budget takes the place of each tenant's: it may not give more than that."""
    for key, value in limits.items():
        if key in in_force and Decimal(str(in_force[key])) <= Decimal(str(value)):
            raise Invalid(
                "not_a_cap",
                f"{tenant} has at most {in_force[key]} for {key} in {duration_words(window_ms)} "
                "already; a cap in an emergency is below that. To give more is a proposal.",
            )


def _window_ms(window: str) -> int:
    try:
        return TypeAdapter(DurationMs).validate_python(window)
    except ValidationError as error:
        raise BadInput("bad_window", "A window is a duration such as 10s, 15m or 1d.") from error


def _check_named(tenant: str, limits: dict[str, Any]) -> None:
    if not tenant.strip() or tenant == EVERY_TENANT:
        raise BadInput("tenant_missing", "Name the one tenant that is capped.")
    if not limits:
        raise BadInput("limit_missing", f"Give at least one of {', '.join(LIMITS)}.")
