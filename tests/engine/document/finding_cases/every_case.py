"""One provoked finding a code, by theme."""

from tests.engine.document.finding_cases import (
    admission,
    fallback,
    fleet,
    gates,
    memory,
    overload,
    quality,
    rollout,
    routing,
    selectors,
    shares,
    time,
    watched,
)
from tests.engine.document.finding_cases.case import Case

CASES: dict[str, Case] = {
    code: case
    for theme in (
        memory,
        fleet,
        time,
        quality,
        fallback,
        gates,
        selectors,
        routing,
        admission,
        overload,
        shares,
        rollout,
        watched,
    )
    for code, case in theme.CASES.items()
}
