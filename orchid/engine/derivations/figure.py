"""One figure with all that it rests on, and its spelling."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal, localcontext
from typing import Any, Literal

from orchid.engine.derivations.asked import Asked
from orchid.engine.derivations.worked import Derivation, FigureError, Given, Material, Value
from orchid.engine.document.values import decimal_text
from orchid.engine.pricing import UnpricedModelError

#: Digits of a quotient before it is cut to those that are shown.
PRECISION = 50
HUNDRED = Decimal(100)


@dataclass(frozen=True, slots=True)
class Figure:
    """A value as text to the last digit that is shown; None where its inputs give none.

    `inputs` are what the derivation read. `kind` tells computed values from quoted ones.
    """

    name: str
    part: str
    kind: Literal["derived", "declared"]
    by: str
    inputs: Mapping[str, str]
    value: str | None
    unit: str
    stated: str | None

    @property
    def as_stated(self) -> bool:
        """Whether it is what somebody claimed; true where nobody did."""
        return self.stated is None or self.stated == self.value

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def figure_of(derivation: Derivation, asked: Asked, material: Material) -> Figure:
    """Compute one figure; raises FigureError with its name."""
    given = Given(asked.given)
    try:
        with localcontext(prec=PRECISION):
            worked = derivation.compute(material, given)
            value = spelled(worked.value, asked)
    except (ArithmeticError, ValueError, UnpricedModelError) as error:
        raise FigureError(f"{asked.name} (by {asked.by}): {error}") from error
    if unread := given.unread():
        raise FigureError(f"{asked.name} (by {asked.by}): does not take {', '.join(unread)}")
    return Figure(
        name=asked.name,
        part=asked.part,
        kind="declared" if derivation.declared else "derived",
        by=asked.by,
        inputs={name: plain(read) for name, read in worked.inputs.items()},
        value=value,
        unit=asked.unit or ("%" if asked.percent else derivation.unit),
        stated=asked.stated,
    )


def spelled(value: Value | None, asked: Asked) -> str | None:
    """The value to the digits that are asked for."""
    if value is None:
        return None
    if asked.places is None or isinstance(value, bool | str | tuple):
        return plain(value)
    number = Decimal(value) * HUNDRED if asked.percent else Decimal(value)
    return format(round(number, asked.places), "f")


def plain(value: Value) -> str:
    """One spelling a value: plain digits, words, yes or no."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(value) if value else "none"
    return value if isinstance(value, str) else decimal_text(Decimal(value))
