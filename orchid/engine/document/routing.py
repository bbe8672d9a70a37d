"""How the route is chosen where the caller names none: rules, then a classifier or a cascade."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from orchid.engine.document.values import (
    Digest,
    DurationMs,
    Factor,
    Name,
    Section,
    Selector,
    Share,
    Text,
)

Escalation = Literal["low_confidence", "timeout", "schema_failure"]


class RoutingRule(Section):
    """Sends the selected requests to a route, first match first."""

    where: Selector
    """The requests that it sends."""
    route: Name
    """Where to."""


class Classifier(Section):
    """Predicts before any generation whether the small route will do."""

    version: Name
    """Of the classifier."""
    threshold: Share
    """Score from which the small route is taken."""
    evidence: Text
    """Where its threshold was validated."""
    large: Name
    """The route of every other request."""
    small: Name
    """The route that is taken where its score allows."""


class Cascade(Section):
    """Small first, escalating where the scorer's confidence is under the threshold."""

    small: Name
    """The route that is asked first."""
    large: Name
    """The route that is escalated to."""
    threshold: Share
    """Confidence from which the small route's answer is accepted."""
    validated_by: Text
    """The evidence that the threshold was set on."""
    escalate_on: Annotated[tuple[Escalation, ...], Field(min_length=1)] = (
        "low_confidence",
        "timeout",
        "schema_failure",
    )
    """What sends a request on to the large route."""
    small_timeout_ms: DurationMs | None = Field(default=None, alias="small_timeout")
    """Longest wait for the small route; absent means what the deadline leaves."""
    target_false_accept: Share | None = None
    """Part of accepted answers that may be wrong, which the threshold was set for."""
    prompt_version: Name | None = None
    """The prompt that the threshold was validated with; another one voids it."""
    small_manifest: Digest | None = None
    """The small model that it was validated with; another one voids it."""
    large_manifest: Digest | None = None
    """The large model that it was validated with; another one voids it."""
    small_cost_ratio: Factor | None = None
    """Cost of a small call over a large one; escalating more than 1 - ratio costs more."""


class Routing(Section):
    """How the requested route is chosen where the caller names none."""

    rules: tuple[RoutingRule, ...] = ()
    """Asked first, in order."""
    always_large: tuple[Selector, ...] = ()
    """Requests that go to the large route without asking classifier or cascade."""
    classifier: Classifier | None = None
    """Decides before any generation."""
    cascade: Cascade | None = None
    """Decides after the small route has answered."""

    @model_validator(mode="after")
    def _one_chooser(self) -> Self:
        if self.classifier is not None and self.cascade is not None:
            raise PydanticCustomError("routing", "either classifier or cascade")
        if self.always_large and self.classifier is None and self.cascade is None:
            raise PydanticCustomError("routing", "always_large only beside classifier or cascade")
        return self
