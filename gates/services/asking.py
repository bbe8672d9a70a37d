"""Ask for a judgement: a mark, and one message for however many marks come before it is heard.

Whoever asks does so inside its own transaction and never waits for an evaluation. The message only
makes it quick: a mark that no message follows is found by the next tick.
"""

from collections.abc import Iterable

from django.db import connection, transaction
from django.db.models import F

from gates.models import Mark, Watch, Window
from policies.models import Product

# Sorted, so that two who ask at once never wait for each other in a ring.
_ASK = """
WITH had AS (
    SELECT window_id, queued FROM gates_mark WHERE window_id = ANY(%(windows)s)
    ORDER BY window_id FOR UPDATE
)
UPDATE gates_mark mark SET asked = mark.asked + 1, queued = true
FROM had WHERE mark.window_id = had.window_id
RETURNING mark.window_id, had.queued
"""


def ask(windows: Iterable[int]) -> None:
    """Have these windows judged again once the transaction is committed."""
    wanted = sorted(set(windows))
    Mark.objects.bulk_create([Mark(window_id=pk) for pk in wanted], ignore_conflicts=True)
    with connection.cursor() as cursor:
        cursor.execute(_ASK, {"windows": wanted})
        unheard = [pk for pk, queued in cursor.fetchall() if not queued]
    for pk in sorted(unheard):
        _send_after(pk)


def ask_product(product: Product) -> None:
    """Have every open window of a product judged again: something beside its traffic changed."""
    ask(Window.objects.filter(product=product, closes_at=None).values_list("pk", flat=True))


def hear(window_id: int) -> bool:
    """A message has come: whether there still is something to answer.

    The mark is cleared before anything is read, so that whoever asks from now on sends another.
    """
    Mark.objects.filter(pk=window_id).update(queued=False)
    return is_asked(window_id)


def is_asked(window_id: int) -> bool:
    """Whether somebody asked after the last evaluation began to read."""
    asked = Mark.objects.filter(pk=window_id).values_list("asked", flat=True).first() or 0
    answered = Watch.objects.filter(pk=window_id).values_list("answered", flat=True).first() or 0
    return asked > answered


def asked_windows() -> set[int]:
    """Windows with a mark that no evaluation has answered."""
    found = Mark.objects.filter(asked__gt=0).annotate(answered=F("window__watch__answered"))
    return {mark.pk for mark in found if mark.asked > (mark.answered or 0)}


def _send_after(window_id: int) -> None:
    """What asked for it stands, whether or not a message can be sent."""
    from gates.tasks import evaluate_window

    transaction.on_commit(lambda: evaluate_window.delay(window_id), robust=True)
