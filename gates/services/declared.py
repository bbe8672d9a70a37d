"""Points that a product declares beside its measurements."""

from typing import Any

import yaml
from django.db import transaction

from controlplane.errors import BadInput
from gates.models import DeclaredPoint
from policies.models import Product

_FIGURES = (
    "utility",
    "p95_ms",
    "success_per_s",
    "attainment",
    "cost_per_success_usd",
    "ledger_usd_per_h",
)


@transaction.atomic
def load_declared_points(product: Product, text: str) -> list[DeclaredPoint]:
    """Store the points of an `orchid.declared-points/v1` file; loading it again changes nothing."""
    data = yaml.safe_load(text)
    if not isinstance(data, dict) or data.get("schema") != "orchid.declared-points/v1":
        raise BadInput("not_declared_points", "The file's schema is orchid.declared-points/v1.")
    if data.get("product") != product.slug:
        raise BadInput("other_product", f"The file is for {data.get('product')}.")
    selected = data.get("selected")
    policies = [
        _store(product, point, is_selected=point["name"] == selected) for point in data["points"]
    ]
    trials = [
        _store(product, trial, condition=trial["name"]) for trial in data.get("degraded_trials", ())
    ]
    return [*policies, *trials]


def _store(product: Product, point: dict[str, Any], **said: Any) -> DeclaredPoint:
    figures = {name: point.get(name) for name in _FIGURES}
    observed = {name: point[name] for name in ("devices", "observed") if name in point}
    stored, _ = DeclaredPoint.objects.update_or_create(
        product=product,
        name=point["name"],
        defaults={
            **figures,
            "outcome": point.get("outcome", ""),
            "is_own_choice": point.get("own_choice", False),
            "observed": observed,
            **said,
        },
    )
    return stored
