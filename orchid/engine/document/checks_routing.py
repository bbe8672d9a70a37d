"""Findings about how the requested route is chosen: rules, classifier, cascade."""

from collections import defaultdict
from decimal import Decimal

from orchid.engine.arithmetic import cascade_break_even
from orchid.engine.document.canonical import manifest_digest
from orchid.engine.document.checks_selectors import speaks
from orchid.engine.document.findings import Subject, Told, names
from orchid.engine.document.routing import Cascade, Classifier
from orchid.engine.document.values import decimal_text
from orchid.engine.feature_cost import factor_ratio, small_price
from orchid.engine.routing import void_reasons
from orchid.engine.segments import implies, specificity, where_key
from orchid.engine.selector_index import Bits, SelectorIndex, before, positions

ESCALATION_TRIGGER = "escalation_rise"
#: A bound this near to the break-even leaves the cascade nothing to save.
NEAR = Decimal("0.9")
#: Relative difference up to which two statements of one cost ratio agree.
RATIO_TOLERANCE = Decimal("0.05")


def _pair(subject: Subject) -> Cascade | Classifier | None:
    return subject.document.routing.cascade or subject.document.routing.classifier


def _place(subject: Subject) -> str:
    return "/routing/cascade" if subject.document.routing.cascade else "/routing/classifier"


def ambiguous_routing(subject: Subject) -> Told:
    """Rules are asked in order; where neither contains the other, that order decides silently."""
    rules = subject.document.routing.rules
    index = SelectorIndex([rule.where for rule in rules])
    alike: dict[str, Bits] = defaultdict(int)
    for i, rule in enumerate(rules):
        alike[rule.route] |= 1 << i
    for i, rule in enumerate(rules):
        tied = index.overlapping(rule.where) & index.of_size(specificity(rule.where)) & before(i)
        tied &= ~alike[rule.route] & ~index.covering(rule.where)
        for j in positions(tied):
            if not implies(rules[j].where, rule.where):
                yield (
                    f"/routing/rules/{i}",
                    f"{where_key(rule.where)} goes to {rule.route} and {where_key(rules[j].where)} "
                    f"of /routing/rules/{j} to {rules[j].route}: only their order decides for "
                    "requests that match both",
                )
                break


def routing_rule_never(subject: Subject) -> Told:
    """A rule that no request matches, or none that an earlier rule leaves over."""
    rules = subject.document.routing.rules
    index = SelectorIndex([rule.where for rule in rules])
    for i, rule in enumerate(rules):
        shown = where_key(rule.where) or "everything"
        if not subject.arriving.overlapping(rule.where):
            yield f"/routing/rules/{i}", f"no declared request is in {shown}"
        elif not speaks(subject, index, rule.where, before(i)):
            earlier = positions(index.covering(rule.where) & before(i))
            places = names(f"/routing/rules/{j}" for j in earlier) or "earlier rules together"
            yield f"/routing/rules/{i}", f"{places} take every request in {shown}"


def always_large_never(subject: Subject) -> Told:
    for i, where in enumerate(subject.document.routing.always_large):
        if not subject.arriving.overlapping(where):
            yield f"/routing/always_large/{i}", f"no declared request is in {where_key(where)}"


def always_large_contradicted(subject: Subject) -> Told:
    pair = _pair(subject)
    if pair is None:
        return
    large = SelectorIndex(subject.document.routing.always_large)
    for i, rule in enumerate(subject.document.routing.rules):
        covering = list(positions(large.covering(rule.where)))
        if rule.route == pair.small and covering:
            yield (
                f"/routing/rules/{i}",
                f"sends {where_key(rule.where) or 'everything'} to {pair.small}, which "
                f"/routing/always_large/{covering[0]} sends to {pair.large}",
            )


def cascade_void(subject: Subject) -> Told:
    """A threshold holds for the models and the prompt that it was validated with."""
    cascade = subject.document.routing.cascade
    if cascade is None:
        return
    reasons = (*void_reasons(subject.document, cascade), *_changed_under(subject, cascade))
    if reasons:
        yield "/routing/cascade/validated_by", f"{'; '.join(reasons)}: validate the threshold again"


def _changed_under(subject: Subject, cascade: Cascade) -> list[str]:
    """What differs from the base under an unchanged validation."""
    base = subject.base
    before_it = base.routing.cascade if base else None
    if base is None or before_it is None or before_it.validated_by != cascade.validated_by:
        return []
    changed = [
        f"{route} is another model than {cascade.validated_by} was run on"
        for route in (cascade.small, cascade.large)
        if route in base.models
        and manifest_digest(base.models[route]) != manifest_digest(subject.document.models[route])
    ]
    if before_it.prompt_version != cascade.prompt_version:
        changed.append(f"the prompt changed from {before_it.prompt_version or 'an unnamed one'}")
    return changed


def cascade_never_pays(subject: Subject) -> Told:
    pair, ratio = _pair(subject), small_price(subject.document)
    if pair is None:
        return
    if pair.small == pair.large:
        yield _place(subject), f"small and large are both {pair.small}"
    elif ratio is not None and ratio >= 1:
        yield (
            _place(subject),
            f"{pair.small} costs {decimal_text(ratio)} of {pair.large}: escalating anything costs "
            "more than asking the large one at once",
        )


def cost_ratio_disagrees(subject: Subject) -> Told:
    """On the fleet itself the demand model says what a call costs; upstreams have prices."""
    document, cascade = subject.document, subject.document.routing.cascade
    by_factor = factor_ratio(subject.document)
    if cascade is None or cascade.small_cost_ratio is None or by_factor is None:
        return
    if {cascade.small, cascade.large} & set(document.prices):
        return
    if abs(cascade.small_cost_ratio - by_factor) > RATIO_TOLERANCE * by_factor:
        yield (
            "/routing/cascade/small_cost_ratio",
            f"{decimal_text(cascade.small_cost_ratio)} is declared, the factors of "
            f"{document.demand.version} give {by_factor:.4g}",
        )


def escalation_near_break_even(subject: Subject) -> Told:
    ratio = small_price(subject.document)
    if subject.document.routing.cascade is None or ratio is None:
        return
    break_even = cascade_break_even(ratio)
    for i, condition in enumerate(subject.document.revisit):
        if condition.trigger != ESCALATION_TRIGGER or condition.max is None:
            continue
        if Decimal(repr(condition.max)) >= NEAR * break_even:
            yield (
                f"/revisit/{i}/max",
                f"an escalation of {condition.max:g} is let pass, but small-first saves nothing "
                f"from 1 - {ratio:.4g} = {break_even:.4g} on",
            )


def threshold_vacuous(subject: Subject) -> Told:
    pair = _pair(subject)
    if pair is None or 0 < pair.threshold < 1:
        return
    said = "every answer stays small" if pair.threshold == 0 else "only a score of 1 stays small"
    yield f"{_place(subject)}/threshold", f"with a threshold of {pair.threshold:g} {said}"
