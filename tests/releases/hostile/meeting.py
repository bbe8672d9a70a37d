"""Acts that meet: the product's lock is held until each has come to it, then it is let go."""

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from django.db import connection, connections, transaction

from accounts.models import AuditEvent
from controlplane.errors import Problem
from policies.models import Product
from releases.lifecycle import lock_product
from releases.models import Proposal, Publication, Rollout, SecondLook
from releases.states import OPEN_ROLLOUTS

Act = Callable[[], Any]


def waiting_for_a_lock() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(DISTINCT pid) FROM pg_locks WHERE NOT granted")
        return int(cursor.fetchone()[0])


def until(coming: list[Future[Any]]) -> None:
    """Each waits for a lock by now, or has ended without one."""
    end = time.monotonic() + 30
    while waiting_for_a_lock() < sum(not one.done() for one in coming):
        assert time.monotonic() < end, "an act never came to the lock"
        time.sleep(0.01)


def alone(act: Act) -> Any:
    """On a connection of its own; a refusal is a result, a fault is raised."""
    try:
        return act()
    except Problem as refused:
        return refused
    finally:
        connections.close_all()


def meeting(product: Product, *acts: Act, beside: Product | None = None) -> list[Any]:
    """Each act comes to the lock while it is held, in this order; then it is let go."""
    with ThreadPoolExecutor(len(acts)) as pool:
        with transaction.atomic():
            for one in filter(None, (product, beside)):
                lock_product(one.pk)
            coming: list[Future[Any]] = []
            for act in acts:
                coming.append(pool.submit(alone, act))
                until(coming)
        return [one.result(60) for one in coming]


def codes(results: list[Any]) -> list[str]:
    return sorted(one.code for one in results if isinstance(one, Problem))


def numbers(product: Product) -> list[int]:
    rows = Publication.objects.filter(product=product).order_by("number")
    return list(rows.values_list("number", flat=True))


def assert_whole(product: Product) -> None:
    """Numbers without a gap, each with an act that took it; one way at most; and every row where
    the last act on it left it."""
    found = numbers(product)
    assert found == list(range(1, len(found) + 1))
    acts = AuditEvent.objects.filter(product_slug=product.slug).order_by("pk")
    taken = {act.data.get("publication") for act in acts} | {1}
    assert taken >= set(found)
    assert Rollout.objects.filter(product=product, state__in=OPEN_ROLLOUTS).count() <= 1
    for kind, name in ((Proposal, "proposal"), (Rollout, "rollout"), (SecondLook, "second_look")):
        for row in kind.objects.filter(product=product):
            moved = acts.filter(object_type=name, object_id=str(row.pk), data__has_key="to").last()
            assert moved is None or moved.data["to"] == row.state, (name, row.state)
