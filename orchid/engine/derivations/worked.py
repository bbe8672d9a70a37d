"""What a derivation is: a name, the production function behind it, and what it was given."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from orchid.engine.declared import DeclaredPoints, finite_decimal
from orchid.engine.diagnosis.declared import Case
from orchid.engine.document.model import PolicyDocument

#: Numbers, a yes or no, words, or several words.
Value = Decimal | int | bool | str | tuple[str, ...]


class FigureError(ValueError):
    """A figure can't be derived; the message says which and why."""


@dataclass(frozen=True, slots=True)
class Material:
    """Everything that figures may rest on: the document, and what is declared beside it."""

    document: PolicyDocument
    declared: DeclaredPoints = field(default_factory=DeclaredPoints)
    content: Mapping[str, Any] = field(default_factory=dict)
    """The keys of the document as given, for figures that only quote it."""
    case: Case | None = None
    """A declared diagnosis of the product."""


@dataclass(frozen=True, slots=True)
class Worked:
    """A value with the inputs it was computed from; None where the inputs give none."""

    value: Value | None
    inputs: Mapping[str, Value]


class Given:
    """The arguments of one figure, each read by its type; what nobody reads is a mistake."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = dict(values)
        self._read: set[str] = set()

    def has(self, name: str) -> bool:
        return name in self._values

    def text(self, name: str) -> str:
        value = self._value(name)
        if not isinstance(value, str):
            raise FigureError(f"{name} is text, not {value!r}")
        return value

    def flag(self, name: str) -> bool:
        value = self._value(name)
        if not isinstance(value, bool):
            raise FigureError(f"{name} is true or false, not {value!r}")
        return value

    def number(self, name: str) -> Decimal:
        return _number(self._value(name), name)

    def whole(self, name: str) -> int:
        number = self.number(name)
        if number != int(number):
            raise FigureError(f"{name} is a whole number, not {number}")
        return int(number)

    def wholes(self, name: str) -> list[int]:
        values = self._value(name)
        if not isinstance(values, list) or not values:
            raise FigureError(f"{name} is a list of whole numbers, not {values!r}")
        return [int(_number(value, name)) for value in values]

    def unread(self) -> list[str]:
        return sorted(self._values.keys() - self._read)

    def _value(self, name: str) -> Any:
        if name not in self._values:
            raise FigureError(f"{name} is missing")
        self._read.add(name)
        return self._values[name]


def _number(value: Any, name: str) -> Decimal:
    number = finite_decimal(value)
    if number is None:
        raise FigureError(f"{name} is a number, not {str(value)[:40]!r}")
    return number


@dataclass(frozen=True, slots=True)
class Derivation:
    """One way to a figure. `by` is the function that production itself calls for it."""

    name: str
    unit: str
    by: Callable[..., Any]
    how: str
    compute: Callable[[Material, Given], Worked]
    source: str = ""
    """Where the formula is from, when it is not ours."""
    declared: bool = False
    """The value is quoted from declared data and not computed."""

    @property
    def function(self) -> str:
        return f"{self.by.__module__}.{self.by.__qualname__}"
