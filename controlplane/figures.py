"""How numbers are written on every page. No figure is rounded onto or past what it is judged by."""

from decimal import ROUND_HALF_EVEN, Decimal

#: A cost of a success lives in the sixth decimal; eight tell neighbours apart.
COST_PLACES = 8
_MOST_PLACES = 18
UNKNOWN = "unknown"


def decimals(number: Decimal, places: int, beside: Decimal | None = None) -> str:
    """At least `places` decimals, and as many more as it takes to lie where it lies of `beside`.

    `beside` is the bound of a gate, or 0 for a change: 0.0001600002 beside 0.00016 keeps the digit
    that broke the bound, and a change too small for the usual decimals isn't written as none.
    """
    for more in range(places, _MOST_PLACES + 1):
        rounded = number.quantize(Decimal(1).scaleb(-more), ROUND_HALF_EVEN)
        if beside is None or _side(rounded, beside) == _side(number, beside):
            return _minus(f"{rounded:,f}")
    return _minus(f"{number:,f}")


def usd(number: Decimal) -> str:
    """A declared price: every digit there is, cents at least."""
    whole, _, cents = f"{number:,f}".partition(".")
    return _dollars(f"{whole}.{cents.rstrip('0'):0<2}")


def ledger_usd(number: Decimal) -> str:
    """A sum of dollars: cents, or four decimals below a dollar."""
    return _dollars(decimals(number, 2 if abs(number) >= 1 else 4))


def cost_usd(number: Decimal, beside: Decimal | None = None) -> str:
    """The cost of one success."""
    return _dollars(decimals(number, COST_PLACES, beside))


def percent(share: Decimal, places: int = 1, beside: Decimal | None = None) -> str:
    """0.0841 -> `8.4 %`."""
    return f"{decimals(share * 100, places, None if beside is None else beside * 100)} %"


def share(part: float, places: int = 1, beside: float | None = None) -> str:
    """The same of a share that was summed up: less than a billionth is no difference."""
    bound = None if beside is None else Decimal(str(beside))
    return percent(Decimal(str(round(part, 9))), places, bound)


def milliseconds(number: Decimal, beside: Decimal | None = None) -> str:
    return f"{decimals(number, 0, beside)} ms"


def shortest(number: Decimal) -> str:
    """A declared figure with the digits it was declared with, thousands in groups."""
    text = f"{number:,f}"
    return _minus(text.rstrip("0").rstrip(".") if "." in text else text)


def signed(text: str) -> str:
    """A change: a plus where it grew, nothing before what is zero or says so itself."""
    is_zero = not any(digit in text for digit in "123456789")
    return text if is_zero or text.startswith("−") else f"+{text}"


def _side(number: Decimal, beside: Decimal) -> int:
    return (number > beside) - (number < beside)


def _dollars(text: str) -> str:
    text = _minus(text)
    return f"−${text[1:]}" if text.startswith("−") else f"${text}"


def _minus(text: str) -> str:
    """The sign as typesetters set it; none before a zero."""
    if not text.startswith("-"):
        return text
    return f"−{text[1:]}" if any(digit in text for digit in "123456789") else text[1:]
