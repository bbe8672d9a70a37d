"""The two clocks of a host that serves: the one its trace files count by, and the wall's."""

import time


def anchor() -> dict[str, int]:
    """One moment on the monotonic clock (of trace files) and on the wall clock."""
    before = time.monotonic_ns()
    unix_ns = time.time_ns()
    return {"monotonic_ns": (before + time.monotonic_ns()) // 2, "unix_ns": unix_ns}
