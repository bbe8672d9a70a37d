"""Tags and filters that every template may use without loading them."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from accounts.roles import Role
from controlplane import figures
from orchid.engine.document.wording import selector_words

register = template.Library()

VERDICT_LABELS = {
    "pass": "Pass",
    "fail": "Fail",
    "inconclusive": "Inconclusive",
    "no_data": "No data",
}
VERDICT_SIGNS = {"pass": "✓", "fail": "✕", "inconclusive": "≈", "no_data": "–"}


@register.filter
def verdict_label(verdict: str) -> str:
    return VERDICT_LABELS.get(verdict, verdict)


@register.filter
def verdict_sign(verdict: str) -> str:
    """A shape beside the colour, for those who don't see the colour."""
    return VERDICT_SIGNS.get(verdict, "·")


@register.filter
def verdict_class(verdict: str) -> str:
    return f"badge--{verdict.replace('_', '-')}" if verdict in VERDICT_LABELS else "badge--no-data"


@register.filter
def short_digest(digest: str) -> str:
    """The first characters of a digest, as people name one to each other."""
    return digest.removeprefix("sha256:")[:12] if digest.startswith("sha256:") else digest


@register.filter
def duration(milliseconds: int | None) -> str:
    """900000 -> `15 min`; the largest unit that keeps it whole."""
    if milliseconds is None:
        return "not set"
    for unit, name in ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s")):
        if milliseconds >= unit and milliseconds % unit == 0:
            return f"{milliseconds // unit} {name}"
    return f"{milliseconds:,} ms"


@register.filter
def grouped(value: int | float | Decimal | None) -> str:
    """Thousands in groups; an unknown figure is said to be unknown and never shown as 0."""
    if value is None:
        return figures.UNKNOWN
    if isinstance(value, float):
        return f"{value:,.10g}"
    text = f"{value:,f}" if isinstance(value, Decimal) else f"{value:,}"
    return text.rstrip("0").rstrip(".") if "." in text else text


@register.filter
def percent(value: float | Decimal | None, places: int = 1) -> str:
    """A share; one that is not 0 is never written as 0."""
    if value is None:
        return figures.UNKNOWN
    return figures.percent(Decimal(str(value)), places, Decimal(0))


@register.filter
def usd(value: Decimal | str | None) -> str:
    """A declared price, with every digit there is."""
    return figures.UNKNOWN if value is None else figures.usd(Decimal(value))


@register.filter
def ledger_usd(value: Decimal | str | None) -> str:
    """A sum of dollars."""
    return figures.UNKNOWN if value is None else figures.ledger_usd(Decimal(value))


@register.filter
def decimals(value: float | Decimal | None, places: int) -> str:
    """A measured number with so many decimals, thousands in groups."""
    return figures.UNKNOWN if value is None else figures.decimals(Decimal(str(value)), places)


@register.filter
def measured(value: float | Decimal | None, places: int) -> str:
    """A time that may not have been measured: `none` says that the phase never was."""
    return "none" if value is None else figures.decimals(Decimal(str(value)), places)


@register.filter
def ago(at: datetime | None, now: datetime | None = None) -> str:
    """`12 s ago`: coarse on purpose, the exact time is in the element's own attribute."""
    if at is None:
        return "never"
    from django.utils import timezone

    passed = (now or timezone.now()) - at
    if passed < timedelta(seconds=1):
        return "just now"
    for unit, name in ((86_400, "d"), (3600, "h"), (60, "min"), (1, "s")):
        if passed.total_seconds() >= unit:
            return f"{int(passed.total_seconds() // unit)} {name} ago"
    return "just now"


@register.filter
def selector(where: dict[str, Any]) -> str:
    """A selector in words: `task is extraction, tenant class is standard or trial`."""
    return selector_words(where)


@register.filter
def segment(key: str) -> str:
    """A segment's key in the words of its selector: `task=x|tenant_class=y,z`."""
    pairs = (part.partition("=") for part in key.split("|") if part)
    return selector_words({name: values.split(",") for name, _, values in pairs})


@register.simple_tag
def embedded_json(value: Any, element_id: str) -> SafeString:
    """JSON inside the page for our own script; `<` is escaped, so it can't end the element."""
    text = value if isinstance(value, str) else json.dumps(value)
    escaped = text.replace("<", "\\u003C").replace(">", "\\u003E").replace("&", "\\u0026")
    return format_html(
        '<script type="application/json" id="{}">{}</script>', element_id, SafeString(escaped)
    )


@register.filter
def beside(row: Sequence[Any], columns: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Each cell with its column."""
    return list(zip(columns, row, strict=True))


@register.filter
def words(identifier: str) -> str:
    """`stop_shadow` -> `stop shadow`."""
    return identifier.replace("_", " ")


@register.filter
def role_label(role: str) -> str:
    """`product_owner` -> `Product owner`."""
    return str(Role(role).label) if role in Role.values else role


@register.filter
def role_labels(roles: Sequence[str]) -> str:
    return ", ".join(map(role_label, roles)) or "nobody"
