"""The embedded broker's transport, with one fault of it mended.

A worker holds a few messages at a time and asks for more as it acknowledges them. Where the
acknowledgement of one meets a database that is away, the original keeps its place for ever: after
as many as it may hold the worker asks for nothing any more, while it looks alive. Here the place is
free; the message comes again after its visibility timeout, and every task may run twice. So does
one whose channel was closed with its connection meanwhile: there is nothing left to tell.
"""

from typing import Any

from kombu.transport import pgmq


class Channel(pgmq.Channel):
    def basic_ack(self, delivery_tag: Any, multiple: bool = False) -> None:
        if self.connection is None:
            return
        try:
            super().basic_ack(delivery_tag, multiple)  # type: ignore[no-untyped-call]
        except self.connection.connection_errors:
            self.qos.ack(delivery_tag)
            raise

    def basic_reject(self, delivery_tag: Any, requeue: bool = False) -> None:
        if self.connection is None:
            return
        try:
            super().basic_reject(delivery_tag, requeue)  # type: ignore[no-untyped-call]
        except self.connection.connection_errors:
            self.qos.reject(delivery_tag, requeue=False)
            raise


class Transport(pgmq.Transport):
    Channel = Channel
