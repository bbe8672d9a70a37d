"""`orchid.policy/v1`: the whole policy document as one frozen, typed value."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from orchid.engine.document.contract import Contract, Gates
from orchid.engine.document.demand import Demand, Model, TrafficClass
from orchid.engine.document.limits import Admission
from orchid.engine.document.money import Allocation, Budget, Price
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


class PolicyDocument(Section):
    """One policy generation's content. Keys of `models` are the routes."""

    schema_: Literal["orchid.policy/v1"] = Field(alias="schema")
    """The language that the document is written in."""
    product: Slug
    """The product whose traffic it governs."""
    contract: Contract
    """What a successful response is."""
    gates: Gates
    """The bounds that the generation is judged by."""
    demand: Demand
    """How requests are priced in token-equivalents."""
    models: Annotated[Mapping[Name, Model], Field(min_length=1, max_length=64)]
    """The routes: each a pinned model under the name that other keys call it by."""
    classes: Annotated[Mapping[Name, TrafficClass], Field(min_length=1, max_length=500)]
    """The traffic that is planned for, by shape."""
    segments: Segments
    """The dimensions of quality, and the floor of each part."""
    fallback: Annotated[tuple[FallbackRule, ...], Field(max_length=5000)] = ()
    """Which route may serve in place of another, for whom; a prohibition always wins."""
    admission: Admission
    """The limits that each request is decided under."""
    scheduling: Scheduling
    """Quanta of the servers' schedulers."""
    overload: Overload = ()
    """The rungs that shed work, in order: a name, or a rung with settings of its own."""
    routing: Routing = Routing()
    """Chooses the route of a request whose caller names none."""
    fleet: Fleet
    """The devices, what they can do, hold and cost."""
    prices: Mapping[Name, Price] = Field(default_factory=dict)
    """Prices of external upstreams, by route; other routes cost what the fleet does."""
    allocation: Allocation = Allocation()
    """The rule by which the ledger's dollars are laid on who they were spent for."""
    budgets: tuple[Budget, ...] = ()
    """What tenants may use."""
    rollout: Rollout
    """The stages by which a change reaches all traffic."""
    approvals: Approvals
    """Who must agree to a change, by what it touches."""
    revisit: tuple[Revisit, ...] = ()
    """Conditions that reopen the decision by themselves."""
    examples: tuple[Example, ...] = ()
    """Decisions that the document must produce; they are run when it is proposed."""

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
