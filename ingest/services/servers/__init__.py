"""Model servers: registered by an operator, checked by a tick, held against what is published."""

from ingest.services.servers.polling import due_servers, poll
from ingest.services.servers.registering import (
    WISHES,
    accept,
    change,
    check_now,
    flush_traces,
    forget,
    register,
)

__all__ = [
    "WISHES",
    "accept",
    "change",
    "check_now",
    "due_servers",
    "flush_traces",
    "forget",
    "poll",
    "register",
]
