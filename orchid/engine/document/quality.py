"""Segments, their floors, and which of them a cheaper route may serve."""

from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import Field, StrictBool, model_validator
from pydantic_core import PydanticCustomError

from orchid.engine.document.values import Name, PositiveCount, Section, Selector, Share

#: Routes that no model serves: sources without generated text, or a stored answer. They are
#: successes only where the contract accepts them.
MODELLESS_ROUTES = ("retrieval_only", "cached")

Edges = Annotated[tuple[PositiveCount, ...], Field(min_length=1, max_length=32)]


class Floor(Section):
    """Utility that the selected requests must keep by themselves."""

    where: Selector
    """The requests that it holds for; the selector that names most dimensions wins."""
    min_utility: Share
    """Least utility, from 0 to 1."""


class Segments(Section):
    """The bounded dimensions by which quality is judged."""

    dimensions: Annotated[tuple[Name, ...], Field(min_length=1, max_length=16)]
    """Their names; `input_bucket` and `output_bucket` are counted, others are given."""
    buckets: Mapping[Name, Edges] = Field(default_factory=dict)
    """Upper edges (inclusive, tokens) of each bucketed dimension; above the last is its own."""
    floors: tuple[Floor, ...] = ()
    """Least utility of each part."""

    @model_validator(mode="after")
    def _edges_ascend(self) -> Self:
        for dimension, edges in self.buckets.items():
            if list(edges) != sorted(set(edges)):
                raise PydanticCustomError(
                    "edges",
                    "bucket edges in ascending order ({dimension})",
                    {"dimension": dimension},
                )
        return self


class FallbackRule(Section):
    """Allows `from` -> `to` for the selected requests, or (`deny: true`) forbids any fallback."""

    from_: Name | None = Field(default=None, alias="from")
    """The requested route."""
    to: Name | None = None
    """A route, or `retrieval_only` or `cached`, which need no replica and cost nothing."""
    deny: StrictBool = False
    """True forbids every fallback of the selected requests."""
    prefer: StrictBool = False
    """True serves these requests by `to` first; false only where `from` can't serve them."""
    where: Selector
    """The requests that it speaks for; {} takes every request."""

    @model_validator(mode="after")
    def _allow_or_deny(self) -> Self:
        named = (self.from_ is not None, self.to is not None)
        expected = (False, False) if self.deny else (True, True)
        if named != expected or (self.deny and self.prefer):
            raise PydanticCustomError(
                "fallback_rule", "either from and to together, or deny: true alone, with where"
            )
        return self
