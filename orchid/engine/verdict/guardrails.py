"""Guardrails of a stage: measures that must stay inside a bound while the five gates look good.

A guardrail is an exact figure over its window, which ends at the watermark. It holds when the
figure is inside both bounds (equality is inside) and fails when it is not; under its minimum sample
it is inconclusive whatever the figure, and what was not counted is no data. It is no test of a
hypothesis: at a bound that the true figure sits on it fails by luck, so a bound belongs where only
harm reaches. It joins an evaluation as one more result and counts among the tests of none.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

from orchid.engine.document.contract import Guardrail
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.values import decimal_text, duration_text
from orchid.engine.measures import Measure, Reading, measure, observed
from orchid.engine.segments import where_key
from orchid.engine.verdict.counted import CellSums, Counted
from orchid.engine.verdict.result import Result, Verdict

#: Before the measure's name in `Result.metric`, so that no guardrail is taken for a gate.
PREFIX = "guardrail:"
_PRECISION = 20


def windows_of_guardrails(document: PolicyDocument) -> tuple[int, ...]:
    """The windows (in milliseconds, each once, shortest first) that have to be counted."""
    return tuple(sorted({rail.window_ms for rail in document.gates.guardrails}))


def guardrail_results(document: PolicyDocument, counted: Mapping[int, Counted]) -> list[Result]:
    """Every guardrail of the document over the traffic of its window, by `window_ms`.

    A window that is not given has no data. Each ends at the watermark and begins no earlier than
    the generation's window opened.
    """
    cells = {window_ms: found.sums() for window_ms, found in counted.items()}
    return [_judge(document, rail, counted, cells) for rail in document.gates.guardrails]


def _judge(
    document: PolicyDocument,
    rail: Guardrail,
    counted: Mapping[int, Counted],
    cells: Mapping[int, Sequence[CellSums]],
) -> Result:
    found, window = measure(rail.measure), counted.get(rail.window_ms)
    if found is None:
        return _result(rail, None, Reading(None, 0))
    if window is None:
        return _result(rail, found, Reading(None, 0))
    seconds = Decimal((window.end - window.start).total_seconds())
    seen = observed(document, cells[rail.window_ms], rail.where, seconds=seconds)
    return _result(rail, found, found.read(seen))


def _result(rail: Guardrail, found: Measure | None, reading: Reading) -> Result:
    verdict = _verdict(rail, reading)
    value = None if reading.value is None else _text(reading.value)
    return Result(
        metric=f"{PREFIX}{rail.measure}",
        segment=where_key(rail.where),
        verdict=verdict,
        bound=_bound_text(rail),
        message=_words(rail, found, reading, verdict),
        value=value,
        margin=None if reading.value is None else _text(margin_of(rail, reading.value)),
        n=reading.n,
        n_effective=float(reading.n),
        minimum=rail.minimum_sample,
        needs=max(0, rail.minimum_sample - reading.n) or None,
    )


def _verdict(rail: Guardrail, reading: Reading) -> Verdict:
    if reading.value is None:
        return Verdict.NO_DATA
    if reading.n < rail.minimum_sample:
        return Verdict.INCONCLUSIVE
    return Verdict.PASS if margin_of(rail, reading.value) >= 0 else Verdict.FAIL


def margin_of(rail: Guardrail, value: Fraction) -> Fraction:
    """How far the value is inside its nearer bound; negative outside."""
    room = []
    if rail.max is not None:
        room.append(exactly(rail.max) - value)
    if rail.min is not None:
        room.append(value - exactly(rail.min))
    return min(room)


def exactly(bound: float) -> Fraction:
    """The bound as its author wrote it: 0.1 is a tenth and not the float beside it."""
    return Fraction(repr(bound))


def _bound_text(rail: Guardrail) -> str:
    """The nearest thing to one bound: the upper, else the lower."""
    bound = rail.max if rail.max is not None else rail.min
    return decimal_text(Decimal(repr(bound)))


def _text(value: Fraction) -> str:
    with localcontext(prec=_PRECISION):
        return decimal_text(Decimal(value.numerator) / Decimal(value.denominator))


def _words(rail: Guardrail, found: Measure | None, reading: Reading, verdict: Verdict) -> str:
    label = found.label.lower() if found else rail.measure
    over = f"{label} over {duration_text(rail.window_ms)}"
    if reading.value is None:
        return f"no data: {over} was not counted"
    part = f" ({reading.part})" if reading.part else ""
    said = f"{verdict}: {over}{part} is {float(reading.value):.4g}, {_allowed(rail)}"
    if reading.n < rail.minimum_sample:
        said += f"; {reading.n:,} of {rail.minimum_sample:,} in the minimum sample"
    return said


def _allowed(rail: Guardrail) -> str:
    least = f"at least {rail.min:g}" if rail.min is not None else ""
    most = f"at most {rail.max:g}" if rail.max is not None else ""
    return " and ".join(part for part in (least, most) if part)
