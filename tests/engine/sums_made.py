"""Sums of every shape, for properties that hold for all of them."""

from hypothesis import strategies as st

from orchid.engine.histogram import OVERFLOW
from orchid.engine.rollup import FIGURES, Sums

NAMES = st.sampled_from(["offered", "eligible", "latency_counted"])
BOUNDS = st.sampled_from(["completion<=1500", "first_token<=400"])
COUNTS = st.integers(1, 10**9)
AMOUNTS = st.decimals(0, 10**15, allow_nan=False, allow_infinity=False, places=14)


@st.composite
def any_sums(draw: st.DrawFn) -> Sums:
    sums = Sums(records=draw(COUNTS))
    sums.counters.update(draw(st.dictionaries(NAMES, COUNTS)))
    sums.within.update(draw(st.dictionaries(BOUNDS, COUNTS)))
    sums.judged.update(draw(st.dictionaries(BOUNDS, COUNTS)))
    sums.histogram.update(draw(st.dictionaries(st.integers(0, OVERFLOW), COUNTS)))
    for name, value in draw(
        st.dictionaries(st.sampled_from(list(FIGURES)), st.floats(0, 1e9))
    ).items():
        sums.observe(name, value)
    sums.add_teu(draw(AMOUNTS))
    sums.add_usd(draw(AMOUNTS))
    return sums
