"""Judge a window: its case is gathered, judged by the engine, and stored once for equal inputs.

Inputs that come back after others held are stored again: what holds now is the window's newest row.
One transaction holds the window's watch from reading to storing. Killed at any line, nothing of it
is there and the next tick begins again; run twice, or by two workers at once, the second finds what
the first has stored.
"""

from datetime import datetime

from django.db import transaction

from gates.models import Evaluation, Mark, Watch, Window
from gates.services.cases import changed, store_case
from gates.services.inputs import gather, gather_farther
from gates.services.reading import Reading, reading
from gates.services.verdict_rows import store_verdicts
from orchid.engine.verdict.action import STOPS
from orchid.engine.verdict.case import Case, digest_of, encode
from orchid.engine.verdict.judgement import Judgement, judge_case


def evaluate(window_id: int, now: datetime) -> Evaluation:
    """Judge the window at `now`, after whoever judges it at the moment."""
    _ensure_watch(window_id)
    with transaction.atomic():
        watch = Watch.objects.select_for_update(of=("self",)).get(pk=window_id)
        return _evaluated(watch, now)


def evaluate_free(window_id: int, now: datetime) -> Evaluation | None:
    """The same where nobody else judges it; None where somebody does, who sees to it."""
    _ensure_watch(window_id)
    with transaction.atomic():
        free = Watch.objects.select_for_update(of=("self",), skip_locked=True)
        watch = free.filter(pk=window_id).first()
        return _evaluated(watch, now) if watch else None


def _ensure_watch(window_id: int) -> None:
    """Committed by itself: who comes while the first evaluation runs finds a row to pass over."""
    Watch.objects.get_or_create(window_id=window_id)


def _evaluated(watch: Watch, now: datetime) -> Evaluation:
    window = Window.objects.select_related("product").get(pk=watch.pk)
    # Before anything is read: whoever asks from here on is answered by the next evaluation.
    asked = Mark.objects.filter(pk=watch.pk).values_list("asked", flat=True).first() or 0
    case, judged = _judged(reading(window, watch, now))
    body = encode(case)
    digest = digest_of(body)
    last = watch.evaluation
    holds = last if last and last.inputs_digest == digest else None
    evaluation = holds or _store(watch, judged, body, now)
    seen = case.watched
    watch.evaluation, watch.looked_at, watch.answered = evaluation, now, asked
    watch.judged_to, watch.state = case.end, judged.state
    watch.since, watch.watched_to = seen.since, seen.counted.end if seen.counted else seen.since
    watch.before = {"steps": seen.steps, "log_r": seen.log_r, "effects": seen.effects}
    watch.after = judged.watched
    own = {name: part.start for part in case.parts for name in part.scopes}
    watch.starts = {name: at.isoformat() for name, at in own.items()}
    watch.running_violations = sum(count for _, count in case.running)
    watch.save()
    return evaluation


def _judged(read: Reading) -> tuple[Case, Judgement]:
    """As far as everything is known; harm is seen as far as anything is."""
    case = gather(read)
    judged = judge_case(case)
    if judged.action in STOPS or (beyond := gather_farther(read, case)) is None:
        return case, judged
    told = judge_case(beyond)
    return (beyond, told) if told.action in STOPS else (case, judged)


def _store(watch: Watch, judged: Judgement, body: bytes, now: datetime) -> Evaluation:
    digest, turns = digest_of(body), changed(watch.evaluation_id, judged)
    store_case(digest, body, now, for_ever=turns)
    evaluation = Evaluation.objects.create(
        window_id=watch.pk,
        watermark=judged.end,
        inputs_digest=digest,
        again=Evaluation.objects.filter(window_id=watch.pk, inputs_digest=digest).count(),
        outcome_digest=judged.digest,
        evidence_digest=judged.evidence_digest,
        evaluated_at=now,
        validity=judged.validity,
        verdict=judged.verdict,
        action=judged.action,
        why=judged.why,
        reasons=list(judged.reasons),
        figures=judged.figures,
        changed=turns,
    )
    store_verdicts(evaluation.pk, judged.results)
    return evaluation
