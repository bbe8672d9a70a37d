"""The compiled rule table alone: beside a dict that a person would write, and the fastest peer."""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from typing import Any

from benchmarks.engine.contest import (
    Contest,
    DisagreementError,
    calls_in,
    contest_of,
    peer_rate,
    quiet,
)
from benchmarks.engine.reference import reference_policy
from benchmarks.engine.scale import Scale
from benchmarks.line import Against, Line
from benchmarks.rounds import Round, interleaved, rate
from orchid.engine.admission.policy import CompiledPolicy
from orchid.engine.admission.request import AdmissionRequest
from orchid.engine.segments import fallbacks_for

OURS, BY_HAND = "orchid", "a dict written by hand"
Find = Callable[[AdmissionRequest], Any]
Routes = tuple[str, ...]


def lines(scale: Scale) -> Iterator[Line]:
    """Both answer with the routes that may serve the request, the requested one among them."""
    policy = reference_policy()
    contest = contest_of(policy, scale)
    by_hand = hand_written(policy, contest)
    _check(policy, by_hand, contest)
    rounds = {
        OURS: _rate(policy.cell, contest, scale),
        BY_HAND: _rate(by_hand, contest, scale),
        **{peer.name: peer_rate(peer, contest.asked, scale) for peer in contest.peers},
    }
    rates = interleaved(rounds, scale.rounds)
    ours, hand = rates.pop(OURS), rates.pop(BY_HAND)
    against = Against(BY_HAND, hand.median)
    yield Line("rule table", ours.median, "cells/s", against, scale.goal(">= 0.15"), ours.spread)
    fastest = max(rates, key=lambda name: rates[name].median, default=None)
    for name, peer in rates.items():
        goal = scale.goal(">= 40") if name == fastest else None
        called = f"{name}, the fastest peer" if name == fastest else name
        against = Against(called, peer.median)
        yield Line("rule table", ours.median, "cells/s", against, goal, ours.spread)


def hand_written(policy: CompiledPolicy, contest: Contest) -> Callable[[AdmissionRequest], Routes]:
    """Routes by all that a rule of the document could name, filled for the declared load."""
    buckets = policy.document.segments.buckets
    inputs, outputs = buckets["input_bucket"], buckets["output_bucket"]

    def key(request: AdmissionRequest) -> tuple[object, ...]:
        segment = request.segment
        return (
            request.class_,
            request.tenant_class,
            segment.get("task"),
            segment.get("language"),
            segment.get("risk"),
            bisect_left(inputs, request.input_tokens or 0),
            bisect_left(outputs, request.max_output_tokens or 0),
        )

    table: dict[tuple[object, ...], Routes] = {}
    for question in contest.asked:
        said = {name: str(value) for name, value in question.attributes.items()}
        others = fallbacks_for(policy.document, said["requested"], said)
        table[key(question.request)] = (said["requested"], *others)
    return lambda request: table[key(request)]


def _check(policy: CompiledPolicy, by_hand: Find, contest: Contest) -> None:
    for question in contest.asked:
        ours = {option.route for option in policy.cell(question.request).options}
        if ours != set(by_hand(question.request)):
            raise DisagreementError(f"{BY_HAND} differs on {question.request.request_id}")


def _rate(find: Find, contest: Contest, scale: Scale) -> Round:
    calls = calls_in(scale.round_s, lambda question: find(question.request), contest.asked)
    work = [question.request for question in islice(cycle(contest.asked), calls)]

    def one_by_one() -> int:
        for request in work:
            find(request)
        return len(work)

    return quiet(rate(one_by_one))
