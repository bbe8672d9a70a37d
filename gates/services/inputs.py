"""Gathers the case of a window: everything that its judgement rests on, read once."""

from dataclasses import replace
from datetime import datetime, timedelta
from functools import lru_cache

from gates.models import Window
from gates.selectors.evidence import items_for, manifests_of
from gates.services.reading import OTHER, Reading, digest_beside, farther, running
from ingest.selectors import (
    completeness,
    edges_off,
    last_request_at,
    split_counts,
    steps,
)
from orchid.engine.document.canonical import canonical_bytes
from orchid.engine.verdict.case import (
    Apart,
    Case,
    Costs,
    EdgeClock,
    Exposed,
    Facts,
    Part,
    Stratum,
    Subject,
    Watched,
)
from orchid.engine.verdict.counted import Counted
from orchid.engine.verdict.evidence import Item
from orchid.engine.verdict.guardrails import windows_of_guardrails
from orchid.engine.verdict.result import Accepted
from orchid.engine.verdict.stretches import begun, floor, own_starts
from orchid.engine.verdict.validity import State
from policies.selectors import document_of

#: Steps that the detector goes on by in one evaluation. After an outage it takes several.
MOST_STEPS = 60
#: What a split is counted in, by the policy's unit.
UNITS = {"session": "sessions", "request": "requests", "tenant": "tenants"}


def gather(read: Reading) -> Case:
    """The case; equal inputs give an equal one, whenever and however often they are read."""
    parts = _parts(read)
    costs = _costs(read)
    return Case(
        subject=_subject(read.window),
        given=_given(read.window.digest),
        end=read.end,
        parts=parts,
        costs=costs,
        evidence=_evidence(read),
        facts=_facts(read, min(parts[-1].start, costs.start)),
        watched=_watched(read),
        running=running(read),
        beside=_beside(read, parts[0].start),
        exposed=_exposed(read, parts[0].start),
        guarded=_guarded(read),
        accepted=_accepted(read.window),
        apart=tuple(Apart(one["where"], one["fraction"]) for one in read.window.by_segment),
        behind=read.behind,
    )


def gather_farther(read: Reading, known: Case) -> Case | None:
    """The case of `farther`. Money is spent whether or not its successes are told, and a guardrail
    may ask for a rate, so both stay where everything is known."""
    beyond = farther(read)
    if beyond is None:
        return None
    return replace(gather(beyond), costs=known.costs, guarded=known.guarded)


def _subject(window: Window) -> Subject:
    return Subject(
        window.product.slug,
        window.digest,
        window.publication,
        window.cohort,
        window.exposure,
        window.opens_at,
        window.closes_at,
        window.live_from,
        window.hold_until,
    )


@lru_cache(maxsize=256)
def _given(digest: str) -> str:
    """A digest names one content for ever."""
    return canonical_bytes(document_of(digest)).decode()


def _evidence(read: Reading) -> tuple[Item, ...]:
    """On what the generation pins; beside a canary also on what the incumbent pins."""
    manifests = set(manifests_of(read.document).values())
    if beside := _compared(read.window):
        manifests |= set(manifests_of(document_of(beside)).values())
    return tuple(items_for(read.window.product, manifests))


def _parts(read: Reading) -> tuple[Part, ...]:
    """The youngest stretch first, then those that some scopes go on from, the oldest last."""
    young = read.counted(begun(read.window.live_from, read.opened, read.end, read.step))
    known = {name: datetime.fromisoformat(at) for name, at in read.watch.starts.items()}
    own = own_starts(read.document, young, known, read.opened)
    older = [
        Part(start, tuple(name for name, at in own.items() if at == start), read.counted(start))
        for start in sorted(set(own.values()), reverse=True)
    ]
    return (Part(young.start, (), young), *older)


def _costs(read: Reading) -> Costs:
    """The closed window of the ledger: it ends with the window or at the watermark.

    Before the fleet runs a stage it is empty: the whole fleet is paid, a part of it serves.
    """
    if read.window.is_ahead:
        return Costs(
            read.window.opens_at, read.window.opens_at, read.counted(read.opened, read.opened)
        )
    closes_at = read.window.closes_at
    end = min(read.end, closes_at) if closes_at else read.end
    length = timedelta(milliseconds=read.document.gates.cost_per_success_usd.window_ms)
    start = max(read.window.opens_at, end - length)
    return Costs(start, max(start, end), read.counted(floor(start, read.step)))


def _facts(read: Reading, since: datetime) -> Facts:
    known = completeness(read.window.product, since, read.end, read.now)
    last = _last_request(read)
    late = read.reached is not None and read.now - read.reached > read.limits.hold_after
    quiet = (read.reached or read.now) - (last or read.window.opens_at)
    return Facts(
        heard=read.reached is not None,
        last_request_at=last,
        quiet=State.OK if read.closed else read.limits.silence(quiet),
        closed=read.closed,
        stalled_at=read.reached if late and not read.closed else None,
        missing=known.missing,
        waiting=known.waiting,
        set_aside=known.set_aside,
        silent=known.silent,
        clocks=tuple(EdgeClock(*off) for off in edges_off(read.window.product, since)),
    )


def _last_request(read: Reading) -> datetime | None:
    """The end of the last step with an eligible request; looked for near the end first."""
    window = read.window
    stream = (window.product, window.digest, window.publication, window.cohort)
    near = max(read.opened, read.end - read.limits.hold_after)
    last = last_request_at(*stream, floor(near, read.step), read.end)
    if last is None:
        last = last_request_at(*stream, read.opened, read.end)
    return last + read.step if last else None


def _watched(read: Reading) -> Watched:
    """From where the detector stood. The same moment is judged from the same state again."""
    watch = read.watch
    again = watch.watched_to == read.end
    since = (watch.since if again else watch.watched_to) or read.opened
    state = watch.before if again else watch.after
    until = min(read.end, since + MOST_STEPS * read.step)
    window = read.window
    seen = None
    if until > since:
        stream = (window.product, window.digest, window.publication, window.cohort)
        seen = steps(*stream, since, until)
    return Watched(
        since,
        state.get("steps", 0),
        state.get("log_r", []),
        state.get("effects", []),
        seen,
    )


def _beside(read: Reading, start: datetime) -> Counted | None:
    """The other cohort of a split in the same minutes; None where one generation has everything."""
    if not _compared(read.window):
        return None
    return read.counted(start, cohort=OTHER[read.window.cohort])


def _compared(window: Window) -> str:
    """The generation of the other cohort of a split; empty where there is none."""
    return digest_beside(window) if window.is_split else ""


def _exposed(read: Reading, start: datetime) -> Exposed | None:
    """The split in units; None where no edge told single ones, or one generation has everything."""
    window = read.window
    if not window.is_split:
        return None
    found = split_counts(window.product, window.publication, start, read.end)
    if found is None:
        return None
    strata = (Stratum(s.stratum, s.candidate, s.incumbent, s.both) for s in found.strata)
    return Exposed(UNITS[found.unit], tuple(strata), found.share)


def _guarded(read: Reading) -> dict[int, Counted]:
    """The traffic behind each guardrail of a stage, never from before it opened.

    None before the fleet runs it: a rate of a part of the fleet falls short of any.
    """
    if read.window.live_from is not None or read.window.is_ahead:
        return {}
    starts = {
        window_ms: max(read.opened, floor(read.end - timedelta(milliseconds=window_ms), read.step))
        for window_ms in windows_of_guardrails(read.document)
    }
    return {window_ms: read.counted(start) for window_ms, start in starts.items()}


def _accepted(window: Window) -> tuple[Accepted, ...]:
    """What a stage is held to beside its gates; what is live, to nothing more."""
    if window.live_from is not None:
        return ()
    return tuple(
        Accepted(metric, segment, told["bound"], told["accepted"], told["side"])
        for metric, scopes in sorted(window.accepted.items())
        for segment, told in sorted(scopes.items())
    )
