"""Windows open when a publication is active and close when the next one is."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from gates.models import Watch, Window
from ingest.services.units import follow_units, unfollow_units
from orchid.engine.verdict.action import STOPS
from policies.models import Product
from policies.selectors import document_of


def open_window(
    product: Product,
    digest: str,
    publication: int,
    cohort: str,
    opens_at: datetime,
    exposure: float,
    hold_ms: int | None = None,
    accepted: Mapping[str, Any] | None = None,
    by_segment: Sequence[Mapping[str, Any]] = (),
) -> Window:
    """The window of one generation under one publication; opening it twice changes nothing.

    A candidate's is a stage, which is watched for `hold_ms` before it may go on and is held to what
    was `accepted` of it (the form is `Window.accepted`'s); an incumbent's is live. Without
    `hold_ms` a stage can only be stopped: it begins anew once it is opened with one.
    `by_segment` has the candidate's part of segments that stand at another stage than the rest.
    """
    is_stage = cohort == "candidate"
    window, opened = Window.objects.get_or_create(
        product=product,
        publication=publication,
        cohort=cohort,
        defaults={
            "digest": digest,
            "opens_at": opens_at,
            "exposure": exposure,
            "by_segment": [{"where": s["where"], "fraction": s["fraction"]} for s in by_segment],
            "live_from": None if is_stage else opens_at,
            "hold_until": _held(opens_at, hold_ms) if is_stage else None,
            "accepted": dict(accepted or {}) if is_stage else {},
        },
    )
    if opened and is_stage and window.is_split:
        policy = document_of(digest).rollout
        follow_units(product, publication, policy.unit, policy.strata, opens_at)
    if window.is_ahead and hold_ms is not None:
        _begin_anew(window, opens_at, hold_ms)
    return window


def _begin_anew(window: Window, at: datetime, hold_ms: int) -> None:
    """Nothing that was seen before lets the stage go on. Whoever judges it now is waited for.

    Harm that was judged by then is left to stop the stage first.
    """
    watch = Watch.objects.select_for_update(of=("self",)).filter(window=window).first()
    if watch and watch.evaluation and watch.evaluation.action in STOPS:
        return
    Watch(window=window).save()
    window.opens_at, window.hold_until = at, _held(at, hold_ms)
    window.save(update_fields=["opens_at", "hold_until"])


def close_window(window: Window, at: datetime) -> Window:
    """End the window; the first end holds, and no window ends before it opened."""
    closes_at = max(at, window.opens_at)
    Window.objects.filter(pk=window.pk, closes_at=None).update(closes_at=closes_at)
    unfollow_units(window.product, window.publication, closes_at)
    window.refresh_from_db()
    return window


def go_live(product: Product, publication: int, at: datetime) -> int:
    """No rollout waits for the publication's verdicts any more; returns how many windows it had."""
    stages = Window.objects.filter(product=product, publication=publication, live_from=None)
    return stages.update(live_from=at)


def _held(opens_at: datetime, hold_ms: int | None) -> datetime | None:
    return None if hold_ms is None else opens_at + timedelta(milliseconds=hold_ms)
