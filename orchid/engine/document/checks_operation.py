"""Findings about shares, budgets, rollout and approvals."""

from collections.abc import Mapping

from orchid.engine.document.errors import pointer_of
from orchid.engine.document.findings import Finding, Findings, Subject
from orchid.engine.document.limits import ShareNode

SHORT_WINDOW_MS = 60_000


def shares_close(subject: Subject) -> Findings:
    yield from _level(subject.document.admission.shares, ("admission", "shares"))


def _level(nodes: Mapping[str, ShareNode], path: tuple[str, ...]) -> Findings:
    total = sum(node.guaranteed for node in nodes.values())
    if total > 1 + 1e-9:
        parts = " + ".join(f"{name} {node.guaranteed}" for name, node in nodes.items())
        yield Finding(
            "shares_over_parent",
            "error",
            pointer_of(path),
            f"{parts} = {total:.4g} of the parent, over 1",
        )
    for name, node in nodes.items():
        if node.guaranteed > node.ceiling:
            text = f"guaranteed {node.guaranteed} is over its own ceiling {node.ceiling}"
            yield Finding("share_over_ceiling", "error", pointer_of((*path, name)), text)
        yield from _level(node.children, (*path, name, "children"))


def budgets_cover_bursts(subject: Subject) -> Findings:
    """A daily cap alone lets one burst take the cache of everybody."""
    budgets = subject.document.budgets
    short = {budget.tenant for budget in budgets if budget.window_ms <= SHORT_WINDOW_MS}
    for i, budget in enumerate(budgets):
        if budget.tenant not in short:
            yield Finding(
                "budget_long_window_only",
                "warning",
                f"/budgets/{i}",
                f"{budget.tenant} has no cap on a window of a minute or less",
            )


def stages_hold(subject: Subject) -> Findings:
    for i, stage in enumerate(subject.document.rollout.stages):
        if stage.hold_ms is None:
            yield Finding(
                "stage_without_hold",
                "error",
                f"/rollout/stages/{i}",
                f"the canary of {stage.fraction:.0%} has no hold, so nothing would be watched",
            )


def stages_grow(subject: Subject) -> Findings:
    stages = subject.document.rollout.stages
    for i in range(1, len(stages)):
        if stages[i].fraction < stages[i - 1].fraction:
            yield Finding(
                "stage_shrinks",
                "error",
                f"/rollout/stages/{i}",
                f"exposure falls from {stages[i - 1].fraction:g} to {stages[i].fraction:g}",
            )
    if stages[-1].fraction < 1:
        yield Finding(
            "rollout_incomplete",
            "warning",
            "/rollout/stages",
            f"the last stage exposes {stages[-1].fraction:g} of eligible demand",
        )


def approvals_ask_somebody(subject: Subject) -> Findings:
    approvals = subject.document.approvals
    asked = (
        ("quality", approvals.quality),
        ("cost", approvals.cost),
        ("capacity", approvals.capacity),
    )
    for category, roles in asked:
        if not roles:
            yield Finding(
                "approvals_of_zero",
                "error",
                f"/approvals/{category}",
                f"nobody has to approve a change of {category}",
            )
