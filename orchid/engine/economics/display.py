"""Dollars as a page shows them: cents whose sum is the shown total."""

from collections.abc import Hashable, Mapping
from decimal import Decimal
from typing import TypeVar

from orchid.engine.economics.ledger import USD_PARTS

KeyT = TypeVar("KeyT", bound=Hashable)
CENT = 2


def in_cents(parts: Mapping[KeyT, int], places: int = CENT) -> dict[KeyT, Decimal]:
    """Parts of dollars rounded to so many places, in sum as the whole rounds.

    The largest remainders are rounded up; a part that is 0 stays 0.
    """
    unit = USD_PARTS // 10**places
    whole = round(Decimal(sum(parts.values())) / unit)
    down = {key: divmod(value, unit) for key, value in parts.items()}
    missing = whole - sum(cents for cents, _ in down.values())
    up = sorted(down, key=lambda key: (-down[key][1], str(key)))[:missing]
    rounded = {key: cents + (key in up) for key, (cents, _) in down.items()}
    return {key: Decimal(cents).scaleb(-places) for key, cents in rounded.items()}
