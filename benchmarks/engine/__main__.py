"""`python -m benchmarks.engine`: one JSON line a figure on standard output."""

import argparse
import os
import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from benchmarks.engine import decisions, diff, loading, memory, shadow, table
from benchmarks.engine.scale import FULL, SMOKE, Scale
from benchmarks.line import Line

FIGURES: dict[str, Callable[[Scale], Iterator[Line]]] = {
    "decisions": decisions.lines,
    "table": table.lines,
    "loading": loading.lines,
    "diff": diff.lines,
    "memory": memory.lines,
    "shadow": shadow.lines,
}


def main() -> None:
    options = _options()
    scale = SMOKE if options.smoke else FULL
    if options.decisions:
        scale = replace(scale, decisions_kept_flat=options.decisions)
    if options.records:
        scale = replace(scale, records=options.records)
    _keep_to_one_core()
    print(_machine(), file=sys.stderr)
    for name in options.figures or FIGURES:
        print(f"{name} ...", file=sys.stderr)
        for line in FIGURES[name](scale):
            print(line.as_json(), flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.engine", description=__doc__)
    parser.add_argument("figures", nargs="*", choices=[*FIGURES, []], help="default: all")
    parser.add_argument("--smoke", action="store_true", help="tiny counts, nothing judged")
    parser.add_argument("--decisions", type=int, help="over which memory must stay flat")
    parser.add_argument("--records", type=int, help="that the decision diff reads")
    return parser.parse_args()


def _keep_to_one_core() -> None:
    """Every figure is of one core; a peer's helper threads share it."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def _machine() -> str:
    cpu = Path("/proc/cpuinfo")
    models = [line for line in cpu.read_text().splitlines() if line.startswith("model name")]
    model = models[0].partition(": ")[2] if models else platform.processor()
    load = ", ".join(f"{part:.2f}" for part in os.getloadavg())
    return f"{model} x {os.cpu_count()}; Python {platform.python_version()}; load {load}"


if __name__ == "__main__":
    main()
