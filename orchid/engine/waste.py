"""Work that no success came of, by cause, for one request.

A request's work is that of its attempts: accelerator milliseconds and TEU, observed ones where they
are known and predicted ones else. Each attempt's work is wasted by one cause as a whole, or it
served and only parts of it were wasted; so causes never overlap and come to no more than the work.

* `failed`: it failed, timed out or got lost, or its request was never delivered, or what was
  delivered is no valid answer.
* `cancelled`: its client, or that of its request, gave up.
* `abandoned_prefill`: it failed or was cancelled before there was an output token.
* `late`: its request was delivered past the deadline.
* `padded`: of an attempt that served, the part of its batch's tokens that were padding.
* `preempted`: of one that served, the part of its prefill that was done again.

Here is the definition; `work_columns.py` works it out for many lines alike.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple

from orchid.engine.clocks import clocks_of, in_time
from orchid.engine.document.model import PolicyDocument
from orchid.engine.outcome import facts_of
from orchid.engine.rollup import CAUSES, parts_of
from orchid.engine.standing import Facts, is_delivered, is_violation, standing_of
from orchid.engine.wire.records import AttemptRecord, RequestRecord

#: How an attempt or a request ended, as small numbers that columns hold too.
SOUND, FAILED, CANCELLED, LATE = range(4)
CAUSE_OF_ENDING = {FAILED: "failed", CANCELLED: "cancelled", LATE: "late"}
ENDING_OF_STATUS: Mapping[str | None, int] = {
    None: SOUND,
    "completed": SOUND,
    "early_terminated": SOUND,
    "bounded": SOUND,
    "truncated": SOUND,
    "timed_out": FAILED,
    "failed": FAILED,
    "lost": FAILED,
    "cancelled": CANCELLED,
}


class Work(NamedTuple):
    """Work in whole parts of `orchid.engine.rollup.FIGURES`; None is unknown."""

    ms: int | None
    teu: int | None


def ending_of(facts: Facts) -> int:
    """How a request ended, its clocks apart."""
    if facts.outcome == "cancelled":
        return CANCELLED
    return SOUND if is_delivered(facts) and not is_violation(facts) else FAILED


def work_of(attempt: AttemptRecord) -> Work:
    """What one attempt used, as far as anybody told."""
    ms = attempt.accelerator_ms
    if ms is None and None not in (attempt.accelerator_prefill_ms, attempt.accelerator_decode_ms):
        ms = (attempt.accelerator_prefill_ms or 0.0) + (attempt.accelerator_decode_ms or 0.0)
    teu = attempt.teu_predicted if attempt.teu_observed is None else attempt.teu_observed
    return Work(
        None if ms is None else parts_of("accelerator_ms", ms),
        None if teu is None else parts_of("work_teu", teu),
    )


def wasted(record: RequestRecord, document: PolicyDocument) -> dict[str, Work]:
    """Wasted work by cause, without causes that wasted nothing."""
    facts = facts_of(record)
    found: dict[str, Work] = {}
    late = _is_late(record, float(standing_of(facts, document).deadline_ms))
    for attempt in record.attempts:
        is_last = attempt is record.attempts[-1]
        for cause, part in _wasted(record, attempt, is_last, ending_of(facts), late).items():
            before = found.get(cause, Work(0, 0))
            found[cause] = Work(
                (before.ms or 0) + (part.ms or 0), (before.teu or 0) + (part.teu or 0)
            )
    return {cause: work for cause in CAUSES if any(work := found.get(cause, Work(0, 0)))}


def _is_late(record: RequestRecord, deadline_ms: float) -> bool:
    return record.completion_ms is not None and not in_time(clocks_of(record), deadline_ms)


def _wasted(
    record: RequestRecord, attempt: AttemptRecord, is_last: bool, ending: int, late: bool
) -> dict[str, Work]:
    own = ENDING_OF_STATUS[attempt.status]
    how = own or ending or (LATE if late else SOUND)
    if how == SOUND:
        return _parts(attempt)
    told = (attempt.useful_tokens, attempt.interrupted_after_tokens)
    answer = record.output_tokens if is_last else None
    tokens = next((one for one in (*told, answer) if one is not None), None)
    abandoned = how != LATE and tokens == 0
    return {"abandoned_prefill" if abandoned else CAUSE_OF_ENDING[how]: work_of(attempt)}


def _parts(attempt: AttemptRecord) -> dict[str, Work]:
    """Padding and repeated prefill of an attempt that served."""
    work, padding = work_of(attempt), padding_share(attempt.useful_tokens, attempt.padded_tokens)
    again = again_share(attempt.kv_blocks_recomputed, attempt.kv_blocks_allocated)
    repeated = (1.0 - padding) * again
    prefill_ms = _known_parts("accelerator_ms", attempt.accelerator_prefill_ms)
    prefill_teu = _known_parts("work_teu", attempt.teu_prefill_observed)
    return {
        "padded": Work(_part(work.ms, padding), _part(work.teu, padding)),
        "preempted": Work(_part(prefill_ms, repeated), _part(prefill_teu, repeated)),
    }


def padding_share(useful: int | None, padded: int | None) -> float:
    """The part of a batch's tokens that were padding; 0 where either is unknown."""
    if useful is None or not padded:
        return 0.0
    return padded / (useful + padded)


def again_share(recomputed: int | None, allocated: int | None) -> float:
    """The part of the cache blocks that were computed twice, at most all; 0 where unknown."""
    if not recomputed or not allocated:
        return 0.0
    return min(1.0, recomputed / allocated)


def _known_parts(name: str, value: float | Decimal | None) -> int | None:
    return None if value is None else parts_of(name, value)


def _part(parts: int | None, share: float) -> int | None:
    return None if parts is None else round(parts * share)
