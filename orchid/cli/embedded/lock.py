"""One supervisor for one `var` folder."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class AlreadyRunningError(Exception):
    """Another supervisor holds this folder; the message says which and how to stop it."""


@contextmanager
def held(var: Path) -> Iterator[None]:
    """Hold the folder. The kernel lets go when we end, however that is; no child inherits it."""
    path = var / "run" / "up.lock"
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AlreadyRunningError(already(var)) from None
        yield


def already(var: Path) -> str:
    try:
        status = json.loads((var / "run" / "up.json").read_text())
        who = f"process {status['pid']}, {status['url']}"
    except (OSError, ValueError, KeyError):
        who = "just starting"
    return (
        f"Orchid already runs on {os.path.relpath(var)} ({who}).\nUse that one, stop it with Ctrl-C"
        " in its terminal, or name another folder in ORCHID_VAR and another ORCHID_PORT."
    )
