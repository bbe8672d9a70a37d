"""Ours and the peers on one load: agreement first, then rounds in turn."""

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice

from benchmarks.engine.peers import Decide, Peer, installed
from benchmarks.engine.rules import Question, allowed, questions
from benchmarks.engine.scale import Scale
from benchmarks.engine.traffic import Arrivals
from benchmarks.rounds import Round, percentile, rate
from orchid.engine.admission.policy import CompiledPolicy

LEAST_CALLS, AT_ONCE = 50, 256


class DisagreementError(Exception):
    """A peer answers otherwise than we do: there is nothing to compare."""


@dataclass(frozen=True, slots=True)
class Contest:
    """What every contender is asked, and who takes part."""

    asked: Sequence[Question]
    peers: Sequence[Peer]


def contest_of(policy: CompiledPolicy, scale: Scale) -> Contest:
    """The questions of the declared load and the peers that are installed and agree on all of it.

    Raises DisagreementError: a peer that answers something else is not a slower or faster one.
    """
    asked = questions(Arrivals(policy, seed=2).take(scale.questions), policy)
    peers = list(installed(policy.document))
    right = [allowed(policy.document, question.attributes) for question in asked]
    for peer in peers:
        for answers in _answers(peer, asked):
            differing = sum(a is not b for a, b in zip(answers, right, strict=True))
            if differing:
                raise DisagreementError(f"{peer.name} differs on {differing} of {len(asked)}")
    return Contest(asked, peers)


def _answers(peer: Peer, asked: Sequence[Question]) -> Iterator[list[bool]]:
    yield [peer.decide(question.attributes) for question in asked]
    if peer.decide_many:
        yield peer.decide_many([question.attributes for question in asked])


def calls_in(seconds: float, call: Callable[[Question], object], asked: Sequence[Question]) -> int:
    """How many questions, one a call, fill a round of about so long."""
    begin = time.perf_counter()
    for question in islice(cycle(asked), LEAST_CALLS):
        call(question)
    each = (time.perf_counter() - begin) / LEAST_CALLS
    return max(LEAST_CALLS, int(seconds / each))


def peer_rate(peer: Peer, asked: Sequence[Question], scale: Scale) -> Round:
    """Decisions a second, one at a time as they come to a door."""
    calls = calls_in(scale.round_s, lambda q: peer.decide(q.attributes), asked)
    work = [question.attributes for question in islice(cycle(asked), calls)]
    decide = peer.decide

    def one_by_one() -> int:
        for attributes in work:
            decide(attributes)
        return len(work)

    return quiet(rate(one_by_one))


def peer_rate_of_many(peer: Peer, asked: Sequence[Question], scale: Scale) -> Round:
    """Decisions a second in calls of many at once."""
    many = peer.decide_many
    assert many is not None, f"{peer.name} has no call for many"
    calls = calls_in(scale.round_s, lambda q: peer.decide(q.attributes), asked) // AT_ONCE + 1
    block = [question.attributes for question in islice(cycle(asked), AT_ONCE)]

    def in_blocks() -> int:
        for _ in range(calls):
            many(block)
        return calls * AT_ONCE

    return quiet(rate(in_blocks))


def peer_p99(decide: Decide, asked: Sequence[Question]) -> Round:
    """The 99th percentile of one pass over the questions, in microseconds."""

    def measured() -> float:
        taken = []
        for question in asked:
            begin = time.perf_counter_ns()
            decide(question.attributes)
            taken.append(time.perf_counter_ns() - begin)
        return percentile(taken, 0.99) / 1000.0

    return quiet(measured)


def quiet(measured: Round) -> Round:
    """The same round without the rubbish of the one before it; the collector stays on."""

    def collected() -> float:
        gc.collect()
        return measured()

    return collected
