"""What a decision record says before anybody edits it: each section from facts, as Markdown."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from django.db.models import Prefetch

from gates import wording
from gates.selectors import bounds, frontier
from gates.states import Metric
from orchid.engine.document.operation import Revisit
from orchid.engine.document.values import duration_text
from orchid.engine.frontier import Point
from policies.models import Revision
from policies.selectors import document_of
from releases.models import Proposal, Vote
from releases.selectors.evidence import evidence_for
from releases.selectors.live import generation_of
from releases.selectors.trade import read_trade, sentence
from releases.states import Choice, ProposalState

#: Pieces of evidence that are named one by one.
NAMED = 40
#: Other proposals on the same base that are named.
TURNED_DOWN = 20


def generated(proposal: Proposal) -> dict[str, str]:
    """Every section by its key, as the facts are now."""
    base = generation_of(proposal.product_id, proposal.base_digest)
    return {key: write(proposal, base) for key, (_, write) in SECTIONS.items()}


def titles() -> dict[str, str]:
    """The sections in their order, by key."""
    return {key: title for key, (title, _) in SECTIONS.items()}


def _decision(proposal: Proposal, base: Revision | None) -> str:
    number = proposal.generation.number
    lines = [f"Serve generation {number} (content `{proposal.revision_digest}`): {proposal.title}."]
    if proposal.rationale:
        lines.append(proposal.rationale)
    if base is not None:
        lines.append(
            f"Base: generation {base.generation.number}, publication {proposal.base_publication}."
        )
    if proposal.trade:
        lines.append(f"Signed {sentence(proposal.trade)}.")
    return "\n\n".join([*lines, _listed(map(_vote_said, _standing_votes(proposal)))]).strip()


def _gates(proposal: Proposal, base: Revision | None) -> str:
    trade = read_trade(proposal.trade)
    if trade is None:
        return "No trade has been taken yet."
    lines = [
        f"{row.label}: gate {wording.bound(row.metric, row.bound)}, signed "
        f"{wording.figure(row.metric, row.after, row.bound)} ({row.kind})"
        + _held(row.metric, row.accepted_bound)
        for row in trade.rows
    ]
    lines += [
        f"Segment {row['name']}: floor {wording.bound(Metric.UTILITY, row['floor'])}, signed "
        f"{wording.figure(Metric.UTILITY, row['after'], row['floor'])}"
        + _held(Metric.UTILITY, row["accepted_bound"])
        for row in trade.segments
    ]
    return _listed(lines)


def _evidence(proposal: Proposal, base: Revision | None) -> str:
    rows = list(evidence_for(proposal.product_id, proposal.revision_digest))
    lines = [
        f"{row.suite} {row.suite_version} on {row.route}, {row.key or 'everything'}: "
        f"{row.mean:.4f} of {row.n:,} items, {row.violations:,} violations (`{row.digest}`)"
        for row in rows[:NAMED]
    ]
    if len(rows) > NAMED:
        lines.append(f"and {len(rows) - NAMED:,} more")
    whole = f"Set `{proposal.evidence_digest}`." if proposal.evidence_digest else ""
    return "\n\n".join(part for part in (whole, _listed(lines)) if part) or "None."


def _rejected(proposal: Proposal, base: Revision | None) -> str:
    """Proposals turned down on the same base, and points that miss a gate or are beaten."""
    others = Proposal.objects.filter(
        product=proposal.product_id,
        base_digest=proposal.base_digest,
        state__in=(ProposalState.REJECTED, ProposalState.WITHDRAWN),
    ).exclude(pk=proposal.pk)
    against = Prefetch("votes", Vote.objects.filter(decision=Choice.REJECT).order_by("-at"))
    shown = others.select_related("generation").prefetch_related(against)[:TURNED_DOWN]
    lines = [_turned_down(other) for other in shown]
    lines += _points_against(proposal)
    return _listed(lines) or "No other proposal was turned down on this base."


def _failure(proposal: Proposal, base: Revision | None) -> str:
    document = document_of(proposal.revision_digest)
    rungs = [step if isinstance(step, str) else step.rung for step in document.overload]
    ladder = ", then ".join(rung.replace("_", " ") for rung in rungs)
    retry = document.admission.retry
    return _listed(
        [
            f"In overload: {ladder}" if ladder else "",
            f"Retries take at most {retry.budget * 100:g} % of the traffic" if retry else "",
            f"A gate that fails on a stage: {document.rollout.on_breach}",
            f"An edge whose bundle has expired: {document.rollout.on_expiry.replace('_', ' ')}",
        ]
    )


def _rollback(proposal: Proposal, base: Revision | None) -> str:
    if base is None:
        return "Nothing was live before it: a rollback has nothing to restore."
    pool = document_of(base.digest).fleet.pool
    lines = [
        f"“Roll back”, `orchid rollback` or one API call publishes generation "
        f"{base.generation.number} again under the next admission number",
        f"Its pool ({pool}) stays warm until reconciliation" if pool else "",
        "Running sequences end under the manifest that they began with",
    ]
    return _listed(lines)


def _revisit(proposal: Proposal, base: Revision | None) -> str:
    rows = document_of(proposal.revision_digest).revisit
    return _listed(_condition(row) for row in rows) or "The document names none."


#: Writes a section of a proposal from the facts; the other argument is what is live before it.
Writer = Callable[[Proposal, Revision | None], str]
SECTIONS: Mapping[str, tuple[str, Writer]] = {
    "decision": ("Decision", _decision),
    "gates": ("Gates", _gates),
    "evidence": ("Evidence", _evidence),
    "rejected": ("Rejected alternatives", _rejected),
    "failure": ("Failure behaviour", _failure),
    "rollback": ("Rollback plan", _rollback),
    "revisit": ("Revisit conditions", _revisit),
}


def _held(metric: str, bound: str | None) -> str:
    return f", rollout held to {wording.bound(metric, bound)}" if bound else ""


def _standing_votes(proposal: Proposal) -> Iterable[Vote]:
    return proposal.votes.filter(void=False).select_related("user").order_by("at")


def _vote_said(vote: Vote) -> str:
    done = "approved" if vote.decision == Choice.APPROVE else "rejected"
    role = vote.role.replace("_", " ")
    return f"{vote.user.get_username()} {done} as {role}, {vote.at:%Y-%m-%d %H:%M}: {vote.reason}"


def _turned_down(other: Proposal) -> str:
    said = list(other.votes.all())
    why = said[0].reason if said else "no reason was given"
    state = other.get_state_display().lower()
    return f"Generation {other.generation.number}, {other.title}: {state}, {why}"


def _points_against(proposal: Proposal) -> Iterator[str]:
    """Measured and declared points that miss a gate of the document, or that another beats."""
    limits = bounds(document_of(proposal.revision_digest))
    own = f"Generation {proposal.generation.number}"
    for found in frontier(proposal.product):
        point = found.point
        if found.is_selected or point.name == own:
            continue
        why = [f"misses {name}" for name in _missed(point, limits)]
        if found.beaten is not None:
            why.append(f"beaten by {' and '.join(found.beaten.by)}")
        if why:
            yield f"{point.name} ({point.kind}): {', '.join(why)}"


def _missed(point: Point, limits: Mapping[str, str]) -> Iterator[str]:
    """`completion p95 (1,640 ms, ≤ 1,500 ms is due)`; equality is inside."""
    figures = (
        (Metric.UTILITY, point.utility),
        (Metric.COMPLETION, point.p95_ms),
        (Metric.COST, point.cost_per_success_usd),
        (Metric.ATTAINMENT, point.attainment),
    )
    for metric, value in figures:
        bound = limits[metric]
        if value is not None and wording.misses(metric, str(value), bound):
            said = wording.figure(metric, str(value), bound)
            yield f"{metric.label.lower()} ({said}, {wording.bound(metric, bound)} is due)"


def _condition(row: Revisit) -> str:
    limits = [f"over {row.max:g}"] if row.max is not None else []
    limits += [f"under {row.min:g}"] if row.min is not None else []
    window = duration_text(row.window_ms)
    return f"{row.trigger.replace('_', ' ')}: {row.measure}, {' or '.join(limits)} in {window}"


def _listed(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines if line)
