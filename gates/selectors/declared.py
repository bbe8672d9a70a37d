"""The points that a product declares, in the form of the file that they came in."""

from typing import Any

from gates.models import DeclaredPoint
from orchid.engine.declared import FIGURES, SCHEMA
from orchid.engine.document.values import decimal_text
from policies.models import Product


def declared_content(product: Product) -> dict[str, Any] | None:
    """Policies and degraded trials in their order; None where nothing is declared."""
    rows = list(DeclaredPoint.objects.filter(product=product).order_by("id"))
    if not rows:
        return None
    return {
        "schema": SCHEMA,
        "product": product.slug,
        "points": [_stated(row) for row in rows if not row.condition],
        "degraded_trials": [_stated(row) for row in rows if row.condition],
    }


def _stated(row: DeclaredPoint) -> dict[str, Any]:
    figures = {name: getattr(row, name) for name in FIGURES}
    return {
        "name": row.name,
        "observed": row.observed.get("observed", {}),
        **{
            name: value if isinstance(value, float) else decimal_text(value)
            for name, value in figures.items()
            if value is not None
        },
    }
