"""Benchmarks of one package, each a module with a `run(smoke)` and a process of its own."""

import argparse
import os
import pkgutil
import subprocess
import sys
from collections.abc import Container
from importlib import import_module


def main(package: str, tools: Container[str]) -> None:
    """Run those that are named, else all but the `tools`, which measure nothing themselves."""
    options = _options(package)
    if options.here:
        for line in import_module(f"{package}.{options.here}").run(options.smoke):
            print(line.as_json(), flush=True)
        return
    load = ", ".join(f"{part:.2f}" for part in os.getloadavg())
    print(f"{os.cpu_count()} cores; load {load}", file=sys.stderr)
    names = options.names or _names(package, tools)
    sys.exit(max(_apart(package, name, options.smoke) for name in names))


def _names(package: str, tools: Container[str]) -> list[str]:
    modules = [one.name for one in pkgutil.iter_modules(import_module(package).__path__)]
    return [name for name in modules if name != "__main__" and name not in tools]


def _apart(package: str, name: str, smoke: bool) -> int:
    print(f"{name} ...", file=sys.stderr)
    argv = [sys.executable, "-m", package, "--here", name, *(["--smoke"] if smoke else [])]
    return subprocess.run(argv, check=False).returncode  # noqa: S603 - our own modules


def _options(package: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=package)
    parser.add_argument("names", nargs="*", help="default: all")
    parser.add_argument("--smoke", action="store_true", help="tiny counts, nothing judged")
    parser.add_argument("--here", help="one of them in this very process")
    return parser.parse_args()
