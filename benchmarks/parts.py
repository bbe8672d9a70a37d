"""Benchmarks of one package, each a module with a `run(smoke)` and a process of its own."""

import argparse
import os
import pkgutil
import signal
import subprocess
import sys
from collections.abc import Container
from importlib import import_module

#: Tiny counts take seconds; what takes so long waits for something that won't come.
SMOKE_S = 600
ENDED_S = 60


def main(package: str, tools: Container[str]) -> None:
    """Run those that are named, else all but the `tools`, which measure nothing themselves."""
    options = _options(package)
    if options.here:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what it has started ends with it
        for line in import_module(f"{package}.{options.here}").run(options.smoke):
            print(line.as_json(), flush=True)
        return
    load = ", ".join(f"{part:.2f}" for part in os.getloadavg())
    print(f"{os.cpu_count()} cores; load {load}", file=sys.stderr)
    names = options.names or _names(package, tools)
    faults = [name for name in names if not _ended_well(package, name, options.smoke)]
    sys.exit(f"failed: {', '.join(faults)}" if faults else 0)


def _names(package: str, tools: Container[str]) -> list[str]:
    modules = [one.name for one in pkgutil.iter_modules(import_module(package).__path__)]
    return [name for name in modules if name != "__main__" and name not in tools]


def _ended_well(package: str, name: str, smoke: bool) -> bool:
    print(f"{name} ...", file=sys.stderr)
    argv = [sys.executable, "-m", package, "--here", name, *(["--smoke"] if smoke else [])]
    process = subprocess.Popen(argv)  # noqa: S603 - our own modules
    try:
        return process.wait(SMOKE_S if smoke else None) == 0
    except subprocess.TimeoutExpired:
        print(f"{name} did not end within {SMOKE_S} s", file=sys.stderr)
        process.terminate()
        process.wait(ENDED_S)
        return False


def _options(package: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=package)
    parser.add_argument("names", nargs="*", help="default: all")
    parser.add_argument("--smoke", action="store_true", help="tiny counts, nothing judged")
    parser.add_argument("--here", help="one of them in this very process")
    return parser.parse_args()
