"""A parent process to be killed, so that a test sees what becomes of its children."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def parent_process(code: str, folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run the code until it prints a line; give the process and the line; then kill it with -9."""
    argv = [sys.executable, "-c", code, str(folder)]
    root = Path(__file__).parents[3]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, cwd=root) as parent:
        assert parent.stdout is not None
        try:
            yield parent, parent.stdout.readline().strip()
        finally:
            parent.kill()
