"""The value types that a policy document is written in: names, money, factors, durations."""

import math
import re
import unicodedata
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    SerializationInfo,
    StringConstraints,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

DECIMAL_PATTERN = r"^-?[0-9]{1,18}(\.[0-9]{1,18})?$"
UNSIGNED_PATTERN = DECIMAL_PATTERN.replace("-?", "")
DURATION_PATTERN = r"^[0-9]{1,9}(ms|s|m|h|d)$"
NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9_.:/+-]{0,79}$"
SLUG_PATTERN = r"^[a-z][a-z0-9-]{0,62}$"
DIGEST_PATTERN = r"^sha256:[0-9a-f]{64}$"
MAX_DURATION_MS = 366 * 86_400_000
_UNIT_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


class Section(BaseModel):
    """A part of the document: frozen, and a key that it does not know is an error."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        use_attribute_docstrings=True,
        protected_namespaces=(),
        validate_by_alias=True,
        validate_by_name=False,
        serialize_by_alias=True,
    )


def decimal_text(value: Decimal) -> str:
    """Plain digits without an exponent and without trailing zeros: one spelling a number."""
    text = format(value, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text


def figure(value: Decimal | float) -> str:
    """With separators and at most two digits of a fraction."""
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def percent(share: Decimal | float, places: int = 0, *, signed: bool = False) -> str:
    """A share as people read it everywhere: 0.0841 -> `8.4 %`."""
    sign = "+" if signed else ""
    return f"{share:{sign}.{places}%}".replace("%", " %")


def duration_text(milliseconds: int) -> str:
    """The duration in the largest unit that divides it (900000 -> 15m)."""
    for unit in ("d", "h", "m", "s"):
        if milliseconds and milliseconds % _UNIT_MS[unit] == 0:
            return f"{milliseconds // _UNIT_MS[unit]}{unit}"
    return f"{milliseconds}ms"


def duration_words(milliseconds: int) -> str:
    """The same as people read it (900000 -> `15 min`)."""
    text = duration_text(milliseconds)
    number = text.rstrip("dhms")
    unit = text.removeprefix(number)
    return f"{number} {'min' if unit == 'm' else unit}"


def _decimal(value: object) -> object:
    """Text or a number; floats by their shortest spelling, so 0.45 is 45/100 exactly."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        raise PydanticCustomError("decimal", "a decimal number")
    if isinstance(value, float) and not math.isfinite(value):
        raise PydanticCustomError("finite_number", "a finite number")
    if isinstance(value, float):
        value = decimal_text(Decimal(repr(value)))
    if isinstance(value, Decimal):
        value = decimal_text(value) if value.is_finite() else "NaN"
    if not re.fullmatch(DECIMAL_PATTERN, str(value)):
        raise PydanticCustomError(
            "decimal", 'a decimal number of at most 18 digits each side of the point ("0.00016")'
        )
    return Decimal(str(value))


def _number(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise PydanticCustomError("number", "a number")
    return value


def _duration_ms(value: object) -> object:
    if isinstance(value, int | float) and not isinstance(value, bool) and value == int(value):
        milliseconds = int(value)
    elif isinstance(value, str) and re.fullmatch(DURATION_PATTERN, value):
        digits, unit = re.split(r"(?=[a-z])", value, maxsplit=1)
        milliseconds = int(digits) * _UNIT_MS[unit]
    else:
        raise PydanticCustomError(
            "duration", "a duration such as 30s, 15m, 24h or 7d, or whole milliseconds"
        )
    if not 0 < milliseconds <= MAX_DURATION_MS:
        raise PydanticCustomError("duration", "a duration above zero and at most 366d")
    return milliseconds


def _nfc(value: object) -> object:
    return unicodedata.normalize("NFC", value) if isinstance(value, str) else value


def _decimal_schema(**bounds: int) -> WithJsonSchema:
    text = {"type": "string", "pattern": UNSIGNED_PATTERN}
    return WithJsonSchema({"anyOf": [text, {"type": "number", **bounds}]})


_as_decimal = (
    BeforeValidator(_decimal),
    PlainSerializer(decimal_text, return_type=str, when_used="always"),
)

# A bound stands before the validators that widen what is accepted, or the JSON Schema loses it.
Usd = Annotated[Decimal, Field(ge=0), *_as_decimal, _decimal_schema(minimum=0)]
Factor = Annotated[Decimal, Field(gt=0), *_as_decimal, _decimal_schema(exclusiveMinimum=0)]
Quantity = Annotated[Decimal, Field(ge=0), *_as_decimal, _decimal_schema(minimum=0)]
ExactShare = Annotated[
    Decimal, Field(ge=0, le=1), *_as_decimal, _decimal_schema(minimum=0, maximum=1)
]
Padding = Annotated[Decimal, Field(ge=1), *_as_decimal, _decimal_schema(minimum=1)]


def _shortest(value: float) -> float | int:
    """Whole numbers as such: 1.0 and 1 are one spelling in the canonical form."""
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


_as_number = (
    BeforeValidator(_number),
    PlainSerializer(_shortest, return_type=Any, when_used="json"),
)

Share = Annotated[float, Field(ge=0, le=1), *_as_number]
PositiveShare = Annotated[float, Field(gt=0, le=1), *_as_number]
Probability = Annotated[float, Field(gt=0, lt=1), *_as_number]
NonNegative = Annotated[float, Field(ge=0), *_as_number]
Positive = Annotated[float, Field(gt=0), *_as_number]
Count = Annotated[int, Field(ge=0, le=10**15), BeforeValidator(_number)]
DeadlineMs = Annotated[int, Field(gt=0, le=MAX_DURATION_MS), BeforeValidator(_number)]
#: Of one fleet, each of which is laid out where a document is tried: more would fill any memory.
DeviceCount = Annotated[int, Field(gt=0, le=10_000), BeforeValidator(_number)]
PositiveCount = Annotated[int, Field(gt=0, le=10**15), BeforeValidator(_number)]


def _written_duration(milliseconds: int, info: SerializationInfo) -> int | str:
    """One number in the canonical form (JSON), the author's unit where people read it."""
    return milliseconds if info.mode == "json" else duration_text(milliseconds)


DurationMs = Annotated[
    int,
    BeforeValidator(_duration_ms),
    PlainSerializer(_written_duration),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "pattern": DURATION_PATTERN},
                {"type": "integer", "exclusiveMinimum": 0, "maximum": MAX_DURATION_MS},
            ]
        }
    ),
]
Name = Annotated[str, StringConstraints(pattern=NAME_PATTERN)]
Slug = Annotated[str, StringConstraints(pattern=SLUG_PATTERN)]
Digest = Annotated[str, StringConstraints(pattern=DIGEST_PATTERN)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=500), BeforeValidator(_nfc)]
Selector = Mapping[Name, Name | Annotated[tuple[Name, ...], Field(min_length=1)]]
