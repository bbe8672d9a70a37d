"""Exact bounds of a share from a count (Clopper and Pearson 1934, Biometrika 26)."""

from scipy import special


def lower_bound(hits: int, n: int, alpha: float) -> float:
    """The share is above this with confidence 1 - alpha; 0 where nothing was hit."""
    return float(special.betaincinv(hits, n - hits + 1, alpha)) if hits else 0.0


def upper_bound(hits: int, n: int, alpha: float) -> float:
    """The share is below this with confidence 1 - alpha; 1 where everything was hit."""
    return float(special.betaincinv(hits + 1, n - hits, 1 - alpha)) if hits < n else 1.0


def clopper_pearson(hits: int, n: int, alpha: float = 0.05) -> tuple[float, float]:
    """Two-sided interval of the share at confidence 1 - alpha; (0, 1) without any trial."""
    return lower_bound(hits, n, alpha / 2), upper_bound(hits, n, alpha / 2)
