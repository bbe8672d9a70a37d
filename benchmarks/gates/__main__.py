"""`python -m benchmarks.gates [NAME...]`: one JSON line a figure on standard output.

Every module or package beside this one that has a `run(smoke)` is a benchmark. Each runs in a
process of its own, since some bring up a database of their own.
"""

import argparse
import os
import pkgutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

#: Tools of the others: they measure nothing themselves.
TOOLS = ("__main__",)


def main() -> None:
    options = _options()
    if options.here:
        for line in import_module(f"benchmarks.gates.{options.here}").run(options.smoke):
            print(line.as_json(), flush=True)
        return
    load = ", ".join(f"{part:.2f}" for part in os.getloadavg())
    print(f"{os.cpu_count()} cores; load {load}", file=sys.stderr)
    sys.exit(max(_apart(name, options.smoke) for name in options.names or _names()))


def _names() -> list[str]:
    modules = [one.name for one in pkgutil.iter_modules([str(Path(__file__).parent)])]
    return [name for name in modules if name not in TOOLS]


def _apart(name: str, smoke: bool) -> int:
    print(f"{name} ...", file=sys.stderr)
    argv = [sys.executable, "-m", "benchmarks.gates", "--here", name]
    return subprocess.run([*argv, *(["--smoke"] if smoke else [])], check=False).returncode  # noqa: S603


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.gates", description=__doc__)
    parser.add_argument("names", nargs="*", help="default: all")
    parser.add_argument("--smoke", action="store_true", help="tiny counts, nothing judged")
    parser.add_argument("--here", help="one of them in this very process")
    return parser.parse_args()


if __name__ == "__main__":
    main()
