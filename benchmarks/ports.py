"""A port of this machine for a server that a measurement starts, and until it answers there."""

import socket
import time

HOST = "127.0.0.1"
STARTED_WITHIN_S = 60.0


def free_port() -> int:
    with socket.socket() as free:
        free.bind((HOST, 0))
        return int(free.getsockname()[1])


def wait_for(port: int) -> None:
    """Until something listens; OSError of the last try when nothing does for a minute."""
    until = time.monotonic() + STARTED_WITHIN_S
    while True:
        try:
            socket.create_connection((HOST, port), timeout=1).close()
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)
        else:
            return
