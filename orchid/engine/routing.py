"""Which route a request asks for: the document's rules, then a classifier or a cascade.

Pure over the document and the request's dimensions, so admission may ask once for each cell of its
decision table. A classifier or cascade only chooses between its own two routes: a class that asks
for another route keeps it, and nothing here ever trades a large route for a smaller one without a
validated threshold.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from orchid.engine.document.canonical import manifest_digest
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.routing import Cascade, Classifier
from orchid.engine.segments import matches, segment_of, where_key


class Branch(StrEnum):
    """Which part of the policy chose."""

    RULE = "rule"
    ALWAYS_LARGE = "always_large"
    CLASSIFIER = "classifier"
    CASCADE = "cascade"
    CLASS = "class"
    CONSERVATIVE = "conservative"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class RouteChoice:
    """The route, why it was chosen, and every question asked on the way in order.

    `route` is None only for an unknown class where no conservative route is declared. `escalates`
    says that the answer is provisional: a cascade's scorer still has to accept it.
    """

    route: str | None
    branch: Branch
    reason: str
    log: tuple[str, ...]
    escalates: bool = False


def route_for(
    document: PolicyDocument,
    cls: str | None,
    dimensions: Mapping[str, str],
    *,
    score: float | None = None,
    scores_answers: bool = False,
    prompt_version: str | None = None,
) -> RouteChoice:
    """The route that a request of this class and segment asks for.

    `score` is a classifier's belief that the small route will do, where the caller has one.
    `scores_answers` says that the caller can score the small route's answer and escalate, without
    which a cascade is no option. With neither, only rules and the class decide.
    """
    log: list[str] = []
    base = _by_rule(document, dimensions, log) or _by_class(document, cls, log)
    pair = document.routing.classifier or document.routing.cascade
    if base.route is None or pair is None or base.branch is Branch.CONSERVATIVE:
        return base
    if any(matches(where, dimensions) for where in document.routing.always_large):
        return _large(base, pair, log)
    if base.branch is Branch.RULE or base.route != pair.large:
        return base
    if isinstance(pair, Classifier):
        return _classified(base, pair, score, log)
    if not scores_answers:
        return base
    return _cascaded(document, base, pair, prompt_version, log)


def class_route(document: PolicyDocument, cls: str) -> str:
    """The route of a declared class's own shape, by rules and class alone."""
    traffic = document.classes[cls]
    tokens = traffic.input_tokens, traffic.max_output_tokens
    choice = route_for(document, cls, segment_of(document, cls, *tokens, {}))
    return choice.route or traffic.model


def void_reasons(
    document: PolicyDocument, cascade: Cascade, prompt_version: str | None = None
) -> tuple[str, ...]:
    """Why the cascade's threshold no longer holds: it was validated with another model or prompt.

    A manifest that the cascade doesn't name is not checked: it can't have changed by the record.
    """
    found = [
        f"the {role} model {route} is not the one that the threshold was validated with"
        for role, route, digest in (
            ("small", cascade.small, cascade.small_manifest),
            ("large", cascade.large, cascade.large_manifest),
        )
        if digest is not None and digest != manifest_digest(document.models[route])
    ]
    if prompt_version is not None and cascade.prompt_version not in (None, prompt_version):
        found.append(
            f"the prompt is {prompt_version}, the threshold was validated with"
            f" {cascade.prompt_version}"
        )
    return tuple(found)


def _by_rule(
    document: PolicyDocument, dimensions: Mapping[str, str], log: list[str]
) -> RouteChoice | None:
    for index, rule in enumerate(document.routing.rules):
        if matches(rule.where, dimensions):
            reason = f"rule {index + 1} ({where_key(rule.where) or 'everything'})"
            return _chosen(rule.route, Branch.RULE, reason, log)
    if document.routing.rules:
        log.append(f"none of {len(document.routing.rules)} rules matches")
    return None


def _by_class(document: PolicyDocument, cls: str | None, log: list[str]) -> RouteChoice:
    traffic = document.classes.get(cls) if cls is not None else None
    if traffic is not None:
        return _chosen(traffic.model, Branch.CLASS, f"class {cls} asks for it", log)
    route = document.admission.conservative_route
    if route is not None:
        return _chosen(route, Branch.CONSERVATIVE, "unknown class", log)
    return _chosen(None, Branch.NONE, "unknown class and no conservative route", log)


def _large(base: RouteChoice, pair: Classifier | Cascade, log: list[str]) -> RouteChoice:
    """An always-large segment keeps its route, unless that is the small one."""
    if base.route == pair.small:
        return _chosen(pair.large, Branch.ALWAYS_LARGE, "segment is always large", log)
    log.append("segment is always large: no small route is tried")
    return RouteChoice(base.route, base.branch, base.reason, tuple(log))


def _classified(
    base: RouteChoice, classifier: Classifier, score: float | None, log: list[str]
) -> RouteChoice:
    if score is None:
        log.append(f"classifier {classifier.version} gave no score: large")
        return RouteChoice(base.route, base.branch, base.reason, tuple(log))
    small = score >= classifier.threshold
    sign = ">=" if small else "<"
    reason = f"classifier {classifier.version}: {score:g} {sign} {classifier.threshold:g}"
    route = classifier.small if small else classifier.large
    return _chosen(route, Branch.CLASSIFIER, reason, log)


def _cascaded(
    document: PolicyDocument,
    base: RouteChoice,
    cascade: Cascade,
    prompt_version: str | None,
    log: list[str],
) -> RouteChoice:
    if void := void_reasons(document, cascade, prompt_version):
        log.append(f"cascade is void: {'; '.join(void)}")
        return RouteChoice(base.route, base.branch, base.reason, tuple(log))
    log.append(f"{cascade.small} first, {cascade.large} below {cascade.threshold:g}")
    return RouteChoice(cascade.small, Branch.CASCADE, "small first", tuple(log), escalates=True)


def _chosen(route: str | None, branch: Branch, reason: str, log: list[str]) -> RouteChoice:
    log.append(f"{branch}: {route or 'no route'}: {reason}")
    return RouteChoice(route, branch, reason, tuple(log))
