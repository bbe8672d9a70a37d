"""Executions past retention, deleted a few at a time so that nobody waits for it."""

from datetime import datetime

from django.db import connection

from ingest.models import EngineHeader
from ingest.services.partitions import RETENTION
from policies.models import Product

#: Rows of one statement, and statements of one tick and product.
ROWS, STATEMENTS = 5_000, 20

_FORGET = """
DELETE FROM ingest_engineattempt WHERE id IN (
    SELECT id FROM ingest_engineattempt WHERE product_id = %s AND received_at < %s
    ORDER BY received_at, id LIMIT %s FOR UPDATE SKIP LOCKED
)
"""


def forget_executions(now: datetime) -> int:
    """Delete what engines told before retention began, as long as requests are kept; how many."""
    before = now - RETENTION
    EngineHeader.objects.filter(received_at__lt=before).delete()
    products = Product.objects.order_by("pk").values_list("pk", flat=True)
    return sum(_of_product(pk, before) for pk in products)


def _of_product(product_pk: int, before: datetime) -> int:
    forgotten = 0
    with connection.cursor() as cursor:
        for _ in range(STATEMENTS):
            cursor.execute(_FORGET, [product_pk, before, ROWS])
            forgotten += cursor.rowcount
            if cursor.rowcount < ROWS:
                break
    return forgotten
