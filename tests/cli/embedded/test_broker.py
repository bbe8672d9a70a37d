"""The embedded broker takes what is published, and says nothing that isn't so."""

import logging
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from celery import Celery

from controlplane.env import broker_options
from orchid.cli.embedded import database
from orchid.cli.embedded.postgres import Cluster, wait_until
from orchid.cli.embedded.process import end, spawn


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A short path that another user may pass: sockets and a server of that user's need one."""
    with tempfile.TemporaryDirectory(prefix="orchid-pg-") as folder:
        Path(folder).chmod(0o711)
        made = Cluster(Path(folder) / "data", unsafe_but_fast=True)
        made.prepare()
        child = made.child()
        process = spawn(child, Path(folder) / "log")
        try:
            wait_until(made.is_ready, 60, "the server does not start")
            database.provision(made)
            yield made
        finally:
            end(process, child)


def app_of(url: str) -> Celery:
    """An app configured as the settings configure it."""
    app = Celery(set_as_current=False)
    app.conf.update(
        broker_url=url,
        broker_transport="controlplane.broker:Transport",
        broker_transport_options=broker_options(url),
        task_ignore_result=True,
    )
    return app


@pytest.mark.parametrize("port", ["", ":5432"])
def test_what_is_published_arrives_and_nothing_is_warned_of(
    cluster: Cluster, port: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A warning here would stand in the log of each process that ever sends a task."""
    account, _, name = cluster.broker_url(database.BROKER, database.BROKER).rpartition("/")
    app, queue = app_of(f"{account}{port}/{name}"), f"told{len(port)}"
    caplog.set_level(logging.WARNING)
    app.send_task("told", queue=queue)
    with app.connection_for_read() as connection, connection.SimpleQueue(queue) as read:
        message = read.get(timeout=30)
        message.ack()
    assert message.headers["task"] == "told"
    assert [record.getMessage() for record in caplog.records] == []
