"""Windows open when a publication is active and close when the next one is."""

from datetime import datetime

from gates.models import Window
from policies.models import Product


def open_window(
    product: Product,
    digest: str,
    publication: int,
    cohort: str,
    opens_at: datetime,
    exposure: float,
) -> Window:
    """The window of one generation under one publication; opening it twice changes nothing."""
    window, _ = Window.objects.get_or_create(
        product=product,
        publication=publication,
        cohort=cohort,
        defaults={"digest": digest, "opens_at": opens_at, "exposure": exposure},
    )
    return window


def close_window(window: Window, at: datetime) -> Window:
    """End the window; the first end holds, and no window ends before it opened."""
    closes_at = max(at, window.opens_at)
    Window.objects.filter(pk=window.pk, closes_at=None).update(closes_at=closes_at)
    window.refresh_from_db()
    return window
