"""Which segment a request is in, and which rule of several speaks for it.

A selector names values of bounded dimensions; `{}` takes everything. Of several that match, the one
that names the most dimensions wins; a tie is a finding at proposal, and the earlier rule wins until
it is resolved.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from typing import Protocol, TypeVar

from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.quality import FallbackRule

Where = Mapping[str, str | tuple[str, ...]]

INPUT_BUCKET = "input_bucket"
OUTPUT_BUCKET = "output_bucket"
#: The overload rung that a request was decided on; a dimension where the document names it.
LOAD_STATE = "load_state"


class Selecting(Protocol):
    """A rule with a selector."""

    @property
    def where(self) -> Where: ...


Rule = TypeVar("Rule", bound=Selecting)


def matches(where: Where, dimensions: Mapping[str, str]) -> bool:
    """Whether every dimension that `where` names has one of its values."""
    return all(dimensions.get(name) in values_of(value) for name, value in where.items())


def values_of(value: str | tuple[str, ...] | list[str]) -> tuple[str, ...]:
    """The values that a selector allows in one dimension."""
    return (value,) if isinstance(value, str) else tuple(value)


def specificity(where: Where) -> int:
    """Dimensions named; more is more specific, however many values each allows."""
    return len(where)


def most_specific(rules: Iterable[Rule], dimensions: Mapping[str, str]) -> Rule | None:
    """The rule that speaks for the request; None where none matches."""
    fitting = [rule for rule in rules if matches(rule.where, dimensions)]
    return max(fitting, key=lambda rule: specificity(rule.where), default=None)


def may_overlap(first: Where, second: Where) -> bool:
    """Whether one request can match both selectors."""
    return all(both(first, second).values())


def both(first: Where, second: Where) -> dict[str, tuple[str, ...]]:
    """The selector of what matches both; a dimension without values matches nothing."""
    joined = {name: values_of(value) for name, value in first.items()}
    for name, value in second.items():
        allowed = values_of(value)
        joined[name] = tuple(v for v in joined.get(name, allowed) if v in allowed)
    return joined


def implies(narrow: Where, wide: Where) -> bool:
    """Whether every request that matches `narrow` also matches `wide`."""
    return all(
        name in narrow and set(values_of(narrow[name])) <= set(values_of(value))
        for name, value in wide.items()
    )


def bucket_name(edges: tuple[int, ...], tokens: int) -> str:
    """`0-512`, `513-4096` or `4097+`; an upper edge belongs to its bucket."""
    index = bisect_left(edges, tokens)
    low = edges[index - 1] + 1 if index else 0
    return f"{low}-{edges[index]}" if index < len(edges) else f"{low}+"


def bucket_names(edges: tuple[int, ...]) -> tuple[str, ...]:
    """Every bucket of a dimension, shortest first."""
    return tuple(bucket_name(edges, tokens) for tokens in (*edges, edges[-1] + 1))


def segment_of(
    document: PolicyDocument,
    cls: str | None,
    input_tokens: int | None,
    output_tokens: int | None,
    extra: Mapping[str, str],
) -> dict[str, str]:
    """The request's values of the document's dimensions.

    A class's own dimensions and the counted buckets win over what the caller says in `extra`;
    values of unknown dimensions are dropped, so that no caller can widen the set of segments.
    """
    traffic = document.classes.get(cls) if cls is not None else None
    known = {**extra, **(traffic.dimensions if traffic else {})}
    for dimension, tokens in ((INPUT_BUCKET, input_tokens), (OUTPUT_BUCKET, output_tokens)):
        edges = document.segments.buckets.get(dimension)
        if edges and tokens is not None:
            known[dimension] = bucket_name(edges, tokens)
    return {name: known[name] for name in document.segments.dimensions if name in known}


def segment_key(dimensions: Mapping[str, str]) -> str:
    """`task=x|tenant_class=y`, sorted by dimension; empty for the whole."""
    return "|".join(f"{name}={dimensions[name]}" for name in sorted(dimensions))


def dims_of(key: str) -> dict[str, str]:
    """The dimensions that `segment_key` spelled."""
    return dict(part.split("=", 1) for part in key.split("|")) if key else {}


def where_key(where: Where) -> str:
    """The same for a selector; several values of one dimension are joined by commas."""
    return segment_key({name: ",".join(values_of(value)) for name, value in where.items()})


def is_eligible(document: PolicyDocument, dimensions: Mapping[str, str]) -> bool:
    """Whether the request is in the contract's denominators."""
    return matches(document.contract.eligible, dimensions)


def floor_for(document: PolicyDocument, dimensions: Mapping[str, str]) -> float | None:
    """The least utility of the request's segment; None where the document sets none."""
    floor = most_specific(document.segments.floors, dimensions)
    return floor.min_utility if floor else None


def fallbacks_for(document: PolicyDocument, route: str, dimensions: Mapping[str, str]) -> list[str]:
    """Routes that may serve the request instead of `route`, most specific rule first.

    A matching `deny` forbids all of them, however specific the allowing rule is: a prohibition
    can't be lifted by naming one more dimension.
    """
    return [rule for rule, _ in _allowed(document, route, dimensions)]


def preferred_route(
    document: PolicyDocument, route: str, dimensions: Mapping[str, str]
) -> str | None:
    """The fallback that policy serves first for this request, if it prefers one."""
    preferred = [to for to, prefer in _allowed(document, route, dimensions) if prefer]
    return preferred[0] if preferred else None


def _allowed(
    document: PolicyDocument, route: str, dimensions: Mapping[str, str]
) -> list[tuple[str, bool]]:
    fitting = [rule for rule in document.fallback if matches(rule.where, dimensions)]
    return list(allowed_among(fitting, route).items())


def allowed_among(fitting: Iterable[FallbackRule], route: str) -> dict[str, bool]:
    """By the rules that match a request: what may serve it instead, and whether it goes first."""
    rules = list(fitting)
    if any(rule.deny for rule in rules):
        return {}
    own = (rule for rule in rules if rule.from_ == route)
    routes: dict[str, bool] = {}
    for rule in sorted(own, key=lambda rule: specificity(rule.where), reverse=True):
        if rule.to is not None:
            routes.setdefault(rule.to, rule.prefer)
    return routes
