"""The constraints of one option in words, from the quantities that a decision goes by."""

from collections.abc import Iterator
from dataclasses import dataclass

from orchid.engine.admission.budgets import UNITS, Account, Caps, Unit, Usage, teu_text
from orchid.engine.admission.cell import Option
from orchid.engine.admission.overload import Ladder
from orchid.engine.admission.place import Place, ceiling_of, limit_of, place
from orchid.engine.admission.policy import CompiledPolicy
from orchid.engine.admission.pool import Held, Pool
from orchid.engine.admission.request import Constraint, Reason, Shape
from orchid.engine.admission.shape import output_allowed, trimmed
from orchid.engine.admission.state import AdmissionState
from orchid.engine.admission.timing import bounded_tokens, uncached

STATIC = {
    Reason.CELL_UNCALIBRATED: ("options", "the demand model is not calibrated for this shape"),
    Reason.PRIVACY_CELL: ("place", "the route does not serve this privacy cell"),
    Reason.SHAPE_OVER_LIMIT: ("shape", "the route does not read this modality"),
}
NOWHERE = {
    Reason.NO_WARM_REPLICA: "no replica with slots is warm for it in the request's region",
    Reason.MANIFEST_INCOMPATIBLE: "no warm replica reports the manifest of this generation",
    Reason.PRIVACY_CELL: "no warm replica serves the request's privacy cell",
    Reason.BREAKER_OPEN: "the breakers of all its replicas are open",
    Reason.SIGNALS_STALE: "its replicas say nothing, and all run their safe floor already",
}


@dataclass(slots=True)
class OptionCase:
    """One option at one moment, with the quantities that are known of it so far."""

    option: Option
    shape: Shape
    state: AdmissionState
    policy: CompiledPolicy
    ladder: Ladder
    now_ms: float
    input_tokens: int = 0
    output_tokens: int = 0
    queue_ms: float = 0.0
    service_ms: float = 0.0

    def constraints(self) -> Iterator[Constraint]:
        """Steps 1 to 8, as a decision takes them."""
        option, shape = self.option, self.shape
        if option.refused is not None:
            step, text = STATIC[option.refused]
            yield self._said(step, option.refused, text)
            return
        if option.modelless:
            yield self._time(0.0, 0.0)
            return
        self.input_tokens = shape.input_tokens
        self.output_tokens, capped = output_allowed(shape, self.ladder)
        if capped and not option.bounded:
            text = f"the rung {self.ladder.name} allows {self.output_tokens} tokens of output"
            yield self._said("options", None, text)
        if not option.bounded:
            yield (window := self._window())
            if window.reason is not None:
                return
        yield from self._placed()

    def _placed(self) -> Iterator[Constraint]:
        """From step 3 on."""
        pool = self.state.pools.get(self.policy.pool)
        request, tokens = self.shape.request, self._live_tokens
        found: Place | Reason = Reason.NO_WARM_REPLICA
        if pool is not None:
            spare_ms = self._spare_ms()
            found = place(self.option, request, tokens, spare_ms, pool, self.policy, self.now_ms)
        if pool is None or not isinstance(found, tuple):
            assert isinstance(found, Reason)
            yield self._said("place", found, NOWHERE[found])
            return
        yield self._somewhere(pool, found)
        self.queue_ms = found[1]
        if self.option.bounded:
            yield (bound := self._bound())
            if bound.reason is not None:
                return
            yield self._window()
        else:
            yield self._time_of_work()
        yield from self._memory(pool, found)
        yield from self._budgets()
        yield from self._shares(room=not found[2])
        yield self._queue(pool, found)

    def _said(self, step: str, reason: Reason | None, text: str) -> Constraint:
        return Constraint(self.option.label, step, reason, text)

    def _bounds(self, step: str, over: bool, reason: Reason, sum_: str, bound: str) -> Constraint:
        """A sum and its bound; over it the reason."""
        text = f"{sum_} {'>' if over else '<='} {bound}"
        return self._said(step, reason if over else None, text)

    @property
    def _live_tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def _charge(self) -> float:
        weighted = self.policy.input_charge * self.input_tokens + self.output_tokens
        return self.option.charge * weighted

    def _spare_ms(self) -> float:
        """What is left for waiting when all of the output is decoded."""
        option, shape = self.option, self.shape
        service_ms = option.service_ms(uncached(shape, self.input_tokens), self.output_tokens)
        return shape.due_ms - self.policy.reserve_ms - service_ms - self.now_ms

    def _tokens(self) -> str:
        return f"input {self.input_tokens} + output {self.output_tokens} = {self._live_tokens}"

    # 1 shape
    def _window(self) -> Constraint:
        option, window = self.option, self.option.served.context_tokens
        if window is None:
            return self._said("shape", None, f"{self._tokens()} tokens, no context window declared")
        over, sum_ = self._live_tokens > window, self._tokens()
        left = trimmed(option, self.output_tokens) if over and not option.bounded else 0
        if left:
            self.input_tokens = left
            return self._said("shape", None, f"{sum_} > {window}: input is trimmed to {left}")
        return self._bounds(
            "shape", over, Reason.CONTEXT_WINDOW, sum_, f"{window} tokens of context"
        )

    # 3 place
    def _somewhere(self, pool: Pool, found: Place) -> Constraint:
        replica, _, _, _, reading = found
        age = f", {_n(reading.age_ms)} ms old" if reading.age_ms is not None else ""
        text = f"{replica.name}, one of {len(pool.replicas)}; signal {reading.standing}{age}"
        return self._said("place", None, text)

    # 4 time
    def _time_of_work(self) -> Constraint:
        option, input_tokens = self.option, uncached(self.shape, self.input_tokens)
        prefill_ms = input_tokens * option.prefill_ms
        decode_ms = self.output_tokens * option.decode_ms
        self.service_ms = option.fixed_ms + prefill_ms + decode_ms
        return self._time(prefill_ms, decode_ms)

    def _time(self, prefill_ms: float, decode_ms: float) -> Constraint:
        reserve_ms = self.policy.reserve_ms
        ends_ms = self.now_ms + self.queue_ms + self.service_ms
        over = ends_ms + reserve_ms > self.shape.due_ms
        parts = f"queue {_n(self.queue_ms)}"
        if self.option.fixed_ms:
            parts += f" + fixed {_n(self.option.fixed_ms)}"
        parts += f" + prefill {_n(prefill_ms)} + decode {_n(decode_ms)}"
        total_ms = ends_ms + reserve_ms - self.now_ms
        return self._bounds(
            "time",
            over,
            Reason.DEADLINE_INFEASIBLE,
            f"{parts} + reserve {_n(reserve_ms)} = {_n(total_ms)} ms",
            f"{_n(self.shape.due_ms - self.now_ms)} ms left",
        )

    def _bound(self) -> Constraint:
        """What whole decode quanta fit in the time left."""
        option, shape, asked = self.option, self.shape, self.output_tokens
        moment = (asked, self.queue_ms, self.now_ms)
        fitting = bounded_tokens(self.policy, option, shape, *moment)
        prefill_ms = uncached(shape, self.input_tokens) * option.prefill_ms
        before_ms = self.queue_ms + option.fixed_ms + prefill_ms + self.policy.reserve_ms
        left_ms = shape.due_ms - self.now_ms - before_ms
        quantum = option.served.quantum_tokens
        sum_ = (
            f"{_n(left_ms)} ms left for decoding, quanta of {quantum} tokens"
            f" take {_n(quantum * option.decode_ms)} ms"
        )
        if fitting is None:
            least = f"no bound from {shape.min_output_tokens} up to under {asked} tokens"
            return self._said("time", Reason.DEADLINE_INFEASIBLE, f"{sum_}: {least}")
        self.output_tokens = fitting
        self.service_ms = option.service_ms(uncached(shape, self.input_tokens), fitting)
        return self._said("time", None, f"{sum_}: {fitting} of {asked} tokens")

    # 5 memory
    def _memory(self, pool: Pool, found: Place) -> Iterator[Constraint]:
        policy, tenant, reason = self.policy, self.shape.request.tenant, Reason.MEMORY_INFEASIBLE
        held = pool.held.get(self.option.route, Held())
        replica, served = found[0], self.option.served
        most = policy.live_tokens_of_request
        over = self._live_tokens > most
        yield self._bounds("memory", over, reason, self._tokens(), f"{most} tokens of a request")
        for whose, now, ceiling, why in (
            (
                f"tenant {tenant}",
                self.state.tenants.get(tenant, 0),
                policy.live_tokens_of_tenant,
                Reason.TENANT_LIVE_TOKENS,
            ),
            (f"replica {replica.name}", replica.live_tokens, ceiling_of(replica, policy), reason),
            (f"pool {pool.name}", pool.live_tokens, policy.live_tokens_of_pool, reason),
            (f"route {served.name}", held.live_tokens, served.max_live_tokens, reason),
        ):
            if ceiling is not None:
                total = now + self._live_tokens
                sum_ = f"{whose}: {now} held + {self._live_tokens} = {total} tokens"
                yield self._bounds("memory", total > ceiling, why, sum_, str(ceiling))
        if served.max_sequences is not None:
            total = held.sequences + 1
            sum_ = f"route {served.name}: {held.sequences} sequences + 1 = {total}"
            over = total > served.max_sequences
            yield self._bounds("memory", over, reason, sum_, str(served.max_sequences))

    # 6 budgets
    def _budgets(self) -> Iterator[Constraint]:
        option, request = self.option, self.shape.request
        usage = Usage(
            option.input_atoms * self.input_tokens + option.output_atoms * self.output_tokens,
            option.served.usd(self.input_tokens, self.output_tokens),
            self.output_tokens,
            round(self._live_tokens * (self.queue_ms + self.service_ms)),
            request.external_calls,
        )
        for caps in self.policy.caps.get(request.tenant, self.policy.general_caps):
            account = self.state.budgets.account(caps.window_ms, request.tenant, self.now_ms)
            for unit in UNITS:
                if getattr(caps, unit) is not None:
                    yield self._budget(unit, account, usage, caps)
        if request.attempt > 1:
            yield self._retry(request.attempt)

    def _budget(self, unit: Unit, account: Account, usage: Usage, caps: Caps) -> Constraint:
        taken, amount, most = (getattr(each, unit) for each in (account, usage, caps))
        spelled = teu_text if unit == "teu" else str
        sum_ = (
            f"{unit} of tenant {self.shape.request.tenant}: {spelled(taken)} taken +"
            f" {spelled(amount)} = {spelled(taken + amount)}"
        )
        bound = f"{spelled(most)} in {_n(caps.window_ms / 1000.0)} s"
        return self._bounds("budget", taken + amount > most, Reason.BUDGET_EXHAUSTED, sum_, bound)

    def _retry(self, attempt: int) -> Constraint:
        policy = self.policy
        reset_ms = self.state.retries.exhausted(
            attempt, self._charge(), self._live_tokens, policy.retry, self.now_ms
        )
        if reset_ms is None:
            return self._said("budget", None, f"attempt {attempt} fits the retry budget")
        text = f"attempt {attempt}: retries are over {policy.retry.budget:.0%} of first tries"
        if attempt > policy.retry.attempts_per_request:
            text = f"attempt {attempt} > {policy.retry.attempts_per_request} attempts of a request"
        return self._said("budget", Reason.RETRY_BUDGET, text)

    # 7 share
    def _shares(self, *, room: bool) -> Iterator[Constraint]:
        path = self.option.path
        if not path:
            return
        buckets = self.state.buckets(self.policy)
        lender = buckets.lender(path, self.now_ms, room=room)
        names = [self.policy.shares.nodes[index].name for index in path]
        left = [buckets.nodes[index].tokens_at(self.now_ms) for index in path]
        levels = ", ".join(f"{n} {_n(teu)} TEU left" for n, teu in zip(names, left, strict=True))
        if lender is None:
            text = f"{levels}: none lends within the ceilings"
            yield self._said("share", Reason.SHARE_EXHAUSTED, text)
        else:
            lends = self.policy.shares.nodes[lender].name
            yield self._said("share", None, f"{levels}: {lends} lends {_n(self._charge())}")

    # 8 queue
    def _queue(self, pool: Pool, found: Place) -> Constraint:
        replica, _, wait, _, reading = found
        policy, ladder, charge = self.policy, self.ladder, self._charge()
        if not wait:
            limit = limit_of(replica, reading, policy)
            text = f"{replica.name} runs {replica.in_flight} of at most {limit}"
            return self._said("queue", None, text)
        if ladder.refuses_waiting or (ladder.rung and not self.shape.cell.claims):
            return self._said("queue", Reason.OVERLOAD, f"nobody waits in the rung {ladder.name}")
        ahead = pool.teu_ahead(self.option.route, self.shape.request.request_id)
        most = policy.max_queued_teu
        return self._bounds(
            "queue",
            ahead + charge > most,
            Reason.QUEUE_FULL if most else Reason.CONCURRENCY,
            f"{_n(ahead)} queued + {_n(charge)} = {_n(ahead + charge)} TEU",
            f"{_n(most)} that may wait",
        )


def _n(value: float) -> str:
    """A figure to a tenth, without a needless point."""
    return f"{value:.1f}".removesuffix(".0")
