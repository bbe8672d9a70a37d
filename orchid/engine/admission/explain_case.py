"""What is known of one option at one moment, while its constraints are put into words."""

from dataclasses import dataclass
from decimal import Decimal

from orchid.engine.admission.bounding import uncached
from orchid.engine.admission.cell import Option
from orchid.engine.admission.overload import Ladder
from orchid.engine.admission.policy import CompiledPolicy
from orchid.engine.admission.request import Constraint, Reason, Shape
from orchid.engine.admission.state import AdmissionState
from orchid.engine.document.values import decimal_text


@dataclass(slots=True)
class OptionCase:
    """One option at one moment. Lengths and times are those that the steps have found so far."""

    option: Option
    shape: Shape
    state: AdmissionState
    policy: CompiledPolicy
    ladder: Ladder
    now_ms: float
    input_tokens: int = 0
    output_tokens: int = 0
    queue_ms: float = 0.0
    service_ms: float = 0.0

    @property
    def live_tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def charge(self) -> float:
        """TEU as the buckets count them."""
        weighted = self.policy.input_charge * self.input_tokens + self.output_tokens
        return self.option.charge * weighted

    def spare_ms(self) -> float:
        """What is left for waiting when all of the output is decoded."""
        option, shape = self.option, self.shape
        service_ms = option.service_ms(uncached(shape, self.input_tokens), self.output_tokens)
        return shape.due_ms - self.policy.reserve_ms - service_ms - self.now_ms

    def lengths(self) -> str:
        parts = f"input {self.input_tokens:,} + output {self.output_tokens:,}"
        return f"{parts} = {self.live_tokens:,}"

    def said(self, step: str, reason: Reason | None, text: str) -> Constraint:
        return Constraint(self.option.label, step, reason, text)

    def bounds(self, step: str, over: bool, reason: Reason, sum_: str, bound: str) -> Constraint:
        """A sum and its bound; over it the reason."""
        text = f"{sum_} {'>' if over else '≤'} {bound}"
        return self.said(step, reason if over else None, text)


def tenths(value: float) -> str:
    """A figure to a tenth, without a needless point."""
    return f"{value:,.1f}".removesuffix(".0")


def exact(value: Decimal | int) -> str:
    """A figure with every digit."""
    return f"{Decimal(decimal_text(Decimal(value))):,f}"
