"""How a route is chosen, and whether asking the small one first pays and fits."""

from dataclasses import dataclass
from decimal import Decimal

from controlplane import figures
from controlplane.web import Column, Table
from orchid.engine.arithmetic import cascade_break_even
from orchid.engine.cascade import BothCalls, Work, both_calls
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.routing import Cascade
from orchid.engine.document.wording import selector_words
from orchid.engine.routing import class_route, void_reasons
from orchid.engine.segments import matches, segment_of
from orchid.engine.timing import deadline_ms


@dataclass(frozen=True)
class CascadeFacts:
    """A cascade's own figures. `ratio` is a small call's price over a large one's."""

    cascade: Cascade
    ratio: Decimal
    is_declared: bool
    void: tuple[str, ...]

    @property
    def break_even(self) -> Decimal:
        """Part of requests that may escalate before small-first costs more than large-only."""
        return cascade_break_even(self.ratio)


def cascade_facts(document: PolicyDocument) -> CascadeFacts | None:
    """None without a cascade, or where a route of it has no price."""
    cascade, factors = document.routing.cascade, document.demand.model_factor
    if cascade is None or cascade.large not in factors or cascade.small not in factors:
        return None
    declared = cascade.small_cost_ratio
    ratio = factors[cascade.small] / factors[cascade.large] if declared is None else declared
    return CascadeFacts(cascade, ratio, declared is not None, void_reasons(document, cascade))


def rules_table(document: PolicyDocument) -> Table:
    """Which route each request asks for, in the order of the questions."""
    rules = [(selector_words(rule.where), rule.route) for rule in document.routing.rules]
    large = [(selector_words(one), "never small first") for one in document.routing.always_large]
    known = {f"class {name}": class_route(document, name) for name in document.classes}
    unknown = document.admission.conservative_route or "refused"
    rest = [*known.items(), ("a class that is not declared", unknown)]
    return Table("Requested route", [Column("Of"), Column("Route")], [*rules, *large, *rest])


def both_table(document: PolicyDocument) -> Table | None:
    """Whether the deadline has room for the small call and then the large one, by class."""
    cascade = document.routing.cascade
    found = [] if cascade is None else [_both(document, cascade, name) for name in document.classes]
    rows = [row for row in found if row is not None]
    columns = ("Small, then", "large and reserve", "Deadline", "Left")
    if not rows:
        return None
    return Table(
        "Room for both calls, ms",
        [Column("Class"), *(Column(label, numeric=True) for label in columns)],
        rows,
    )


def _both(document: PolicyDocument, cascade: Cascade, name: str) -> tuple[str, ...] | None:
    """None for a class that the cascade doesn't concern."""
    declared = document.classes[name]
    lengths = declared.input_tokens, declared.max_output_tokens
    segment = segment_of(document, name, *lengths, {})
    never = any(matches(where, segment) for where in document.routing.always_large)
    if never or class_route(document, name) != cascade.large:
        return None
    deadline = float(deadline_ms(document, name))
    work = Work(*lengths, deadline)
    both = both_calls(document, cascade, work)
    return None if both is None else (name, *_cells(both))


def _cells(both: BothCalls) -> tuple[str, ...]:
    parts = (both.small_ms, both.large_ms, both.deadline_ms, both.spare_ms)
    return tuple(figures.decimals(Decimal(repr(ms)), 0, Decimal()) for ms in parts)
