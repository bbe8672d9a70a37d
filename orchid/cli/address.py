"""Where the control plane is that commands ask."""

import os

DEFAULT_URL = "http://127.0.0.1:8470"


def address() -> str:
    return os.environ.get("ORCHID_URL", DEFAULT_URL).rstrip("/")
