"""The bytes of cases: stored by digest, kept for as long as somebody may ask for them.

What every judgement rested on is kept for a day. It is kept for ever where the verdict of any gate
changed there, and where somebody rests on it: a proposal, a move of a rollout.
"""

import zlib
from datetime import datetime, timedelta

from django.db import connection

from gates.models import CaseBody, Evaluation, Verdict
from orchid.engine.verdict.judgement import Judgement

KEPT = timedelta(days=1)
#: Bodies that one statement takes away, so that no lock is held for long.
AT_ONCE = 500

_STORE = """
INSERT INTO gates_casebody AS held (digest, body, kept_until) VALUES (%s, %s, %s)
ON CONFLICT (digest) DO UPDATE SET kept_until = CASE
    WHEN held.kept_until IS NULL OR excluded.kept_until IS NULL THEN NULL
    ELSE greatest(held.kept_until, excluded.kept_until) END
"""


def store_case(digest: str, body: bytes, now: datetime, *, for_ever: bool) -> None:
    """Keep the bytes; what is kept for ever stays so."""
    until = None if for_ever else now + KEPT
    with connection.cursor() as cursor:
        cursor.execute(_STORE, [digest, zlib.compress(body, 1), until])


def changed(before_id: int | None, judged: Judgement) -> bool:
    """Whether any gate, the whole or the action says something else than the judgement before."""
    if before_id is None:
        return True
    before = Evaluation.objects.filter(pk=before_id).values_list("verdict", "action").get()
    if before != (judged.verdict, judged.action):
        return True
    rows = Verdict.objects.filter(evaluation_id=before_id)
    known = set(rows.values_list("metric", "segment", "verdict"))
    return known != {(one.metric, one.segment, one.verdict.value) for one in judged.results}


def cite(evaluation_id: int) -> bool:
    """Somebody rests on this evaluation: keep its case for ever. False where it is gone already."""
    digests = Evaluation.objects.filter(pk=evaluation_id).values("inputs_digest")
    return bool(CaseBody.objects.filter(digest__in=digests).update(kept_until=None))


def forget_cases(now: datetime) -> int:
    """Take away what nobody may ask for any more; returns how many."""
    over = CaseBody.objects.filter(kept_until__lt=now).values_list("pk", flat=True)
    gone = 0
    while digests := list(over[:AT_ONCE]):
        gone += CaseBody.objects.filter(pk__in=digests, kept_until__lt=now).delete()[0]
    return gone
