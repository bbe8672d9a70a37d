"""`orchid.policy/v1`: the whole policy document as one frozen, typed value."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from orchid.engine.document.contract import Contract, Gates
from orchid.engine.document.demand import Demand, Model, TrafficClass
from orchid.engine.document.limits import Admission
from orchid.engine.document.money import Budget, Price
from orchid.engine.document.operation import (
    Approvals,
    Example,
    Fleet,
    Revisit,
    Rollout,
)
from orchid.engine.document.overload import Overload, OverloadStep, step_of
from orchid.engine.document.quality import MODELLESS_ROUTES, FallbackRule, Segments
from orchid.engine.document.routing import Routing
from orchid.engine.document.scheduling import Scheduling
from orchid.engine.document.values import Name, Section, Slug

SCHEMA = "orchid.policy/v1"


class PolicyDocument(Section):
    """One policy generation's content. Keys of `models` are the routes."""

    schema_: Literal["orchid.policy/v1"] = Field(alias="schema")
    product: Slug
    contract: Contract
    gates: Gates
    demand: Demand
    models: Annotated[Mapping[Name, Model], Field(min_length=1, max_length=64)]
    classes: Annotated[Mapping[Name, TrafficClass], Field(min_length=1, max_length=500)]
    segments: Segments
    fallback: Annotated[tuple[FallbackRule, ...], Field(max_length=5000)] = ()
    admission: Admission
    scheduling: Scheduling
    overload: Overload = ()
    routing: Routing = Routing()
    fleet: Fleet
    prices: Mapping[Name, Price] = Field(default_factory=dict)
    budgets: tuple[Budget, ...] = ()
    rollout: Rollout
    approvals: Approvals
    revisit: tuple[Revisit, ...] = ()
    examples: tuple[Example, ...] = ()

    @field_validator("models", mode="after")
    @classmethod
    def _routes_with_models(cls, models: Mapping[str, Model]) -> Mapping[str, Model]:
        for name in MODELLESS_ROUTES:
            if name in models:
                raise PydanticCustomError("route_name", "a model by another name than " + name)
        return models

    @property
    def overload_steps(self) -> tuple[OverloadStep, ...]:
        """The declared rungs in their order, with every threshold filled in."""
        deadline_ms = self.contract.deadline_ms
        return tuple(step_of(item, deadline_ms) for item in self.overload)
