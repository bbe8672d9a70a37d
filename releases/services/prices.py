"""A change of prices: it alters what work costs, and nothing of how requests are served."""

from policies.selectors import difference

#: Where a document says what something costs. What is decided by an upstream's invoice or a
#: provider's list is not rolled out: it holds for everybody from one moment on.
PRICES = ("/prices", "/fleet/device_usd_per_h", "/fleet/overhead_usd_per_h")


def only_prices(before: str, after: str) -> bool:
    """Whether two documents, by digest, differ in their prices and in nothing else."""
    pointers = [change.pointer for change in difference(before, after)]
    return bool(pointers) and all(map(_is_price, pointers))


def _is_price(pointer: str) -> bool:
    return any(pointer == place or pointer.startswith(f"{place}/") for place in PRICES)
