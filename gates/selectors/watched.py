"""What each trigger of a live generation says now, with the figures that it rests on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from gates.models import Evaluation, Window
from gates.selectors.calibration import drift
from gates.selectors.verdicts import latest
from gates.states import Metric, VerdictState
from ingest.models import TritonServer
from ingest.selectors.counted import counted
from orchid.engine.document import consistency
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.values import duration_text
from orchid.engine.measures import observed
from orchid.engine.triggers import TRIGGERS, Trigger, Watched, watched
from orchid.engine.verdict.counted import CellSums
from orchid.engine.verdict.guardrails import exactly
from policies.models import Product
from policies.selectors import document_of

#: Triggers of which every broken part is named whenever they are read: what is absent holds.
ENUMERATED = frozenset({"manifest_change", "candidate_overlap", "upstream_unpinned"})


@dataclass(frozen=True)
class Seen:
    """One condition: broken, held, or (None) not known. `subject` is the part that it is about."""

    trigger: Trigger
    subject: str
    is_broken: bool | None
    evidence: dict[str, Any]


def live_windows(product: Product) -> list[Window]:
    """The open windows: what serves now, incumbent and candidate."""
    found = Window.objects.filter(product=product, closes_at=None).select_related("product")
    return list(found.order_by("opens_at", "id"))


def seen(window: Window, now: datetime) -> list[Seen]:
    """Every condition of the window's generation; nothing before its first judgement."""
    evaluation = latest(window)
    if evaluation is None:
        return []
    document = document_of(window.digest)
    return [
        *_gates(evaluation),
        *_floors(evaluation),
        *_manifests(window, evaluation, now),
        *_overlap(window, document),
        *_unpinned(document),
        *_measured(window, document, evaluation),
    ]


def _gates(evaluation: Evaluation) -> Iterator[Seen]:
    for row in evaluation.verdicts.all():
        yield Seen(
            TRIGGERS["gate_breach"],
            f"{row.metric} {row.segment}".strip(),
            _broken(row.verdict),
            _evidence(
                evaluation,
                row.message,
                value=row.value,
                bound=row.bound,
                n=row.n,
                # A guardrail has no diagnosis of its own.
                metric=row.metric if row.metric in Metric.values else "",
                segment=row.segment,
            ),
        )


def _floors(evaluation: Evaluation) -> Iterator[Seen]:
    for floor in evaluation.figures.get("floors", ()):
        yield Seen(
            TRIGGERS["segment_floor"],
            floor["key"],
            _broken(floor["verdict"]),
            _evidence(
                evaluation,
                floor["message"],
                value=_text(floor["utility"]),
                bound=_text(floor["floor"]),
                n=floor["n"],
            ),
        )


def _broken(verdict: str) -> bool | None:
    """Only a pass holds; what can't be told neither breaks anything nor mends it."""
    return {VerdictState.FAIL: True, VerdictState.PASS: False}.get(VerdictState(verdict))


def _manifests(window: Window, evaluation: Evaluation, now: datetime) -> Iterator[Seen]:
    """What servers hold that is not what is published, and requests that ran on something else."""
    for server in TritonServer.objects.filter(product=window.product).order_by("name"):
        broken = [one for one in server.findings if one.get("breaks_manifest")]
        for one in broken:
            said = f"{server.name}: {one['text']}"
            subject = f"{server.name} {one['code']} {one.get('model', '')}".strip()
            known = {"expected": one.get("expected", ""), "found": one.get("found", "")}
            yield Seen(
                TRIGGERS["manifest_change"], subject, True, _evidence(evaluation, said, **known)
            )
    ran = evaluation.figures.get("whole", {}).get("populations", {}).get("manifest_mismatch", 0)
    if ran:
        said = f"{ran:,} requests ran under another manifest than the generation's"
        yield Seen(
            TRIGGERS["manifest_change"], "requests", True, _evidence(evaluation, said, n=ran)
        )


def _overlap(window: Window, document: PolicyDocument) -> Iterator[Seen]:
    """A candidate that no longer fits beside the incumbent it is compared with."""
    if window.cohort != "candidate":
        return
    twin = Window.objects.filter(
        product=window.product, publication=window.publication, cohort="incumbent"
    ).first()
    if twin is None:
        return
    for one in consistency.find(document, base=document_of(twin.digest)):
        if one.code == "versions_cannot_coexist":
            said = {"said": one.text, "pointer": one.pointer, "incumbent": twin.digest}
            yield Seen(TRIGGERS["candidate_overlap"], one.pointer, True, said)


def _unpinned(document: PolicyDocument) -> Iterator[Seen]:
    for name, model in document.models.items():
        if not model.pinned:
            said = f"{name} can change under its name: rerun its frozen suite"
            yield Seen(TRIGGERS["upstream_unpinned"], name, True, {"said": said})


def _measured(window: Window, document: PolicyDocument, evaluation: Evaluation) -> Iterator[Seen]:
    end, least = evaluation.watermark, document.gates.attainment.minimum_sample
    read: dict[int, Sequence[CellSums]] = {}
    for one in watched(document):
        length = one.condition.window_ms
        if length not in read:
            read[length] = _cells(window, end - timedelta(milliseconds=length), end)
        yield _reading(window, one, document, evaluation, read[length], least)


def _reading(
    window: Window,
    one: Watched,
    document: PolicyDocument,
    evaluation: Evaluation,
    cells: Sequence[CellSums],
    least: int,
) -> Seen:
    end, length = evaluation.watermark, timedelta(milliseconds=one.condition.window_ms)
    baseline = _baseline(window, one, end, length)
    seconds = Decimal((end - max(window.opens_at, end - length)).total_seconds())
    reading = one.measure.read(observed(document, cells, {}, baseline, seconds))
    value, n, part = reading
    confirmed = drift(window.product).value if one.trigger.name == "calibration_drift" else None
    if confirmed is not None:
        value, n, part = exactly(confirmed), max(n, least), "confirmed by its detector"
    known = value is not None and n >= least
    outside = value is not None and not _inside(one, float(value))
    over = duration_text(one.condition.window_ms)
    words = f"{one.measure.label} over {over}: {_shown(value)}"
    if part:
        words += f" ({part})"
    return Seen(
        one.trigger,
        "",
        outside if known else None,
        _evidence(
            evaluation,
            words,
            value=_text(None if value is None else float(value)),
            max=_text(one.condition.max),
            min=_text(one.condition.min),
            n=n,
            measure=one.measure.name,
            unit=one.measure.unit,
            window_ms=one.condition.window_ms,
            part=part,
        ),
    )


def _inside(one: Watched, value: float) -> bool:
    most, least = one.condition.max, one.condition.min
    return (most is None or value <= most) and (least is None or value >= least)


def _baseline(window: Window, one: Watched, end: datetime, length: timedelta) -> Sequence[CellSums]:
    """The first such stretch of the generation's life, once the present one lies after it."""
    until = window.opens_at + length
    if not one.measure.compares or end - length < until:
        return ()
    return _cells(window, window.opens_at, until)


def _cells(window: Window, start: datetime, end: datetime) -> list[CellSums]:
    step = timedelta(seconds=document_of(window.digest).gates.step_s)
    start = max(start, window.opens_at)
    start -= timedelta(seconds=start.timestamp() % step.total_seconds())
    where = window.product, window.digest, window.publication, window.cohort
    return counted(*where, start, end).sums()


def _evidence(evaluation: Evaluation, said: str, **known: Any) -> dict[str, Any]:
    return {
        "said": said,
        "evaluation": evaluation.pk,
        "inputs_digest": evaluation.inputs_digest,
        "from": evaluation.figures.get("from"),
        "to": evaluation.watermark.isoformat(),
        **known,
    }


def _text(value: float | None) -> str | None:
    return None if value is None else f"{value:.6g}"


def _shown(value: Any) -> str:
    return "not counted" if value is None else f"{float(value):.4g}"
