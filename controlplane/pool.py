"""A worker of which one process is killed ends as a whole, so that whoever looks after it sees it.

The processes of a pool take their work from one pipe, and the one that waits there holds its lock.
Killed at that moment, by a kernel that is short of memory say, it never gives it back: the others
wait for ever and nothing runs any more, while the worker looks well. Tasks may all run twice, and
what was taken comes again to the worker that is started next.
"""

import contextlib
import logging
import os
import signal
from functools import partial
from typing import Any

logger = logging.getLogger(__name__)
#: What a process is ended with when nobody asked it: not by its own worker, not by an operator.
KILLED = frozenset({-signal.SIGKILL, -signal.SIGSEGV, -signal.SIGBUS, -signal.SIGABRT})


def watch(sender: Any, **_: Any) -> None:
    """A receiver of `worker_ready`.

    A pool that looks after its processes itself gives each a pipe of its own (brokers with an
    event loop), and one without processes has nothing to watch: both are left as they are.
    """
    pool = getattr(sender.pool, "_pool", None)
    if pool is not None and getattr(pool, "on_process_down", watch) is None:
        pool.on_process_down = partial(_ended, pool)


def _ended(pool: Any, process: Any) -> None:
    """One process is gone. One that its own pool has ended, for taking too long, held no lock."""
    if process.exitcode not in KILLED or getattr(process, "_controlled_termination", False):
        return
    name = signal.Signals(-process.exitcode).name
    logger.critical("process %s was ended by %s; so is its worker", process.pid, name)
    for other in pool._pool:
        with contextlib.suppress(ProcessLookupError):
            os.kill(other.pid, signal.SIGKILL)
    os._exit(1)
