"""Steps 5 to 8 of one option in words: memory, budgets, share, queue."""

from collections.abc import Iterator
from decimal import Decimal

from orchid.engine.admission.budgets import UNITS, Account, Caps, Unit, Usage, teu_text
from orchid.engine.admission.explain_case import OptionCase, exact, tenths
from orchid.engine.admission.place import Place, ceiling_of, limit_of
from orchid.engine.admission.pool import Held, Pool
from orchid.engine.admission.request import Constraint, Reason
from orchid.engine.document.values import percent


def memory(case: OptionCase, pool: Pool, found: Place) -> Iterator[Constraint]:
    """Step 5: every ceiling on live tokens, and the route's on sequences."""
    policy, tenant, reason = case.policy, case.shape.request.tenant, Reason.MEMORY_INFEASIBLE
    held = pool.held.get(case.option.route, Held())
    replica, served = found[0], case.option.served
    most = policy.live_tokens_of_request
    over = case.live_tokens > most
    yield case.bounds("memory", over, reason, case.lengths(), f"{most:,} tokens of a request")
    for whose, now, ceiling, why in (
        (
            f"tenant {tenant}",
            case.state.tenants.get(tenant, 0),
            policy.live_tokens_of_tenant,
            Reason.TENANT_LIVE_TOKENS,
        ),
        (f"replica {replica.name}", replica.live_tokens, ceiling_of(replica, policy), reason),
        (f"pool {pool.name}", pool.live_tokens, policy.live_tokens_of_pool, reason),
        (f"route {served.name}", held.live_tokens, served.max_live_tokens, reason),
    ):
        if ceiling is not None:
            total = now + case.live_tokens
            sum_ = f"{whose}: {now:,} held + {case.live_tokens:,} = {total:,} tokens"
            yield case.bounds("memory", total > ceiling, why, sum_, f"{ceiling:,}")
    if served.max_sequences is not None:
        total = held.sequences + 1
        sum_ = f"route {served.name}: {held.sequences:,} sequences + 1 = {total:,}"
        over = total > served.max_sequences
        yield case.bounds("memory", over, reason, sum_, f"{served.max_sequences:,}")


def budgets(case: OptionCase) -> Iterator[Constraint]:
    """Step 6: every cap of the tenant, and of a retry what first tries leave it."""
    option, request = case.option, case.shape.request
    usage = Usage(
        option.input_atoms * case.input_tokens + option.output_atoms * case.output_tokens,
        option.served.usd(case.input_tokens, case.output_tokens),
        case.output_tokens,
        round(case.live_tokens * (case.queue_ms + case.service_ms)),
        request.external_calls,
    )
    for caps in case.policy.caps.get(request.tenant, case.policy.general_caps):
        account = case.state.budgets.account(caps.window_ms, request.tenant, case.now_ms)
        for unit in UNITS:
            if getattr(caps, unit) is not None:
                yield _budget(case, unit, account, usage, caps)
    if request.attempt > 1:
        yield _retry(case, request.attempt)


def _budget(case: OptionCase, unit: Unit, account: Account, usage: Usage, caps: Caps) -> Constraint:
    taken, amount, most = (getattr(each, unit) for each in (account, usage, caps))
    spelled = _teu if unit == "teu" else exact
    sum_ = (
        f"{unit} of tenant {case.shape.request.tenant}: {spelled(taken)} taken +"
        f" {spelled(amount)} = {spelled(taken + amount)}"
    )
    bound = f"{spelled(most)} in {tenths(caps.window_ms / 1000.0)} s"
    return case.bounds("budget", taken + amount > most, Reason.BUDGET_EXHAUSTED, sum_, bound)


def _teu(count: int) -> str:
    """Atoms as TEU."""
    return exact(Decimal(teu_text(count)))


def _retry(case: OptionCase, attempt: int) -> Constraint:
    policy = case.policy
    reset_ms = case.state.retries.exhausted(
        attempt, case.charge(), case.live_tokens, policy.retry, case.now_ms
    )
    if reset_ms is None:
        return case.said("budget", None, f"attempt {attempt} fits the retry budget")
    text = f"attempt {attempt}: retries are over {percent(policy.retry.budget)} of first tries"
    if attempt > policy.retry.attempts_per_request:
        text = f"attempt {attempt} > {policy.retry.attempts_per_request} attempts of a request"
    return case.said("budget", Reason.RETRY_BUDGET, text)


def shares(case: OptionCase, *, room: bool) -> Iterator[Constraint]:
    """Step 7: what each level of the share tree has left, and which of them lends."""
    path = case.option.path
    if not path:
        return
    buckets = case.state.buckets(case.policy)
    lender = buckets.lender(path, case.now_ms, room=room)
    names = [case.policy.shares.nodes[index].name for index in path]
    left = [buckets.nodes[index].tokens_at(case.now_ms) for index in path]
    levels = ", ".join(f"{n} {_left(teu)}" for n, teu in zip(names, left, strict=True))
    if lender is None:
        text = f"{levels}: none lends within the ceilings"
        yield case.said("share", Reason.SHARE_EXHAUSTED, text)
    else:
        lends = case.policy.shares.nodes[lender].name
        yield case.said("share", None, f"{levels}: {lends} lends {tenths(case.charge())}")


def _left(teu: float) -> str:
    """What a level has left; one that borrowed owes."""
    shown = round(teu, 1)
    return f"overdrawn by {tenths(-shown)} TEU" if shown < 0 else f"{tenths(abs(shown))} TEU left"


def queue(case: OptionCase, pool: Pool, found: Place) -> Constraint:
    """Step 8: a slot now, or room among those that wait."""
    replica, _, wait, _, reading = found
    policy, ladder, charge = case.policy, case.ladder, case.charge()
    if not wait:
        limit = limit_of(replica, reading, policy)
        text = f"{replica.name} runs {replica.in_flight:,} of at most {limit:,}"
        return case.said("queue", None, text)
    if ladder.refuses_waiting or (ladder.rung and not case.shape.cell.claims):
        return case.said("queue", Reason.OVERLOAD, f"nobody waits in the rung {ladder.name}")
    ahead = pool.teu_ahead(case.option.route, case.shape.request.request_id)
    most = policy.max_queued_teu
    return case.bounds(
        "queue",
        ahead + charge > most,
        Reason.QUEUE_FULL if most else Reason.CONCURRENCY,
        f"{tenths(ahead)} queued + {tenths(charge)} = {tenths(ahead + charge)} TEU",
        f"{tenths(most)} that may wait",
    )
