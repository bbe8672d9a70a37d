"""No record is lost on its way: not by a receiver that is down, not by a killed edge."""

import asyncio
import signal
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from orchid.edge.journal import Journal
from orchid.edge.tables import Ending
from tests.edge.control_plane import ControlPlane, bundle
from tests.edge.edge_process import process
from tests.edge.edge_site import Running, Site


async def settled(running: Running, *request_ids: str) -> None:
    for request_id in request_ids:
        grant = (await running.admit(request_id)).json()
        await running.settle(grant["attempt_id"])


async def test_records_are_sent_again_under_one_batch_id_until_acknowledged(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(1))
    plane.ingest_status = 503
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(1))
        await settled(running, "r1", "r2")
        telemetry = running.edge.telemetry
        assert await telemetry.send_once() is None
        first = await running.edge.journal.batch("another", 10)
        plane.ingest_status = 202
        await plane.until(lambda: bool(plane.batches))
    assert first is not None
    assert next(iter(plane.batches)) == first.batch_id
    assert {record.request_id for record in plane.records} >= {"r1"}


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(
    ("asked", "waits_s"), [("7", 7.0), ("9" * 400, 60.0), ("soon", 1.0), ("\u00b2", 1.0)]
)
async def test_a_receiver_that_asks_to_wait_is_not_asked_sooner_and_nothing_is_given_up(
    site: Site, plane: ControlPlane, status: int, asked: str, waits_s: float
) -> None:
    plane.publish(bundle(1))
    plane.ingest_status, plane.ingest_headers = status, {"Retry-After": asked}
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)
        raise asyncio.CancelledError

    async with site.edge() as running:
        await plane.until(lambda: plane.activated(1))
        await settled(running, "r1")
        with pytest.raises(asyncio.CancelledError):
            await running.edge.telemetry.run(sleep)
        status_page = await running.status()
    assert waited == [waits_s]
    assert (status_page["records_waiting"], status_page["records_lost"]) == (1, 0)


async def test_a_restart_sends_what_the_last_process_could_not(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(1))
    plane.ingest_status = 503
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(1))
        await settled(running, "r1", "r2", "r3")
    plane.ingest_status = 202
    async with site.edge():
        await plane.until(lambda: len(plane.records) == 3)


async def test_an_idle_edge_says_that_it_is_alive_and_how_far_it_is(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(1))
    async with site.edge():
        await plane.until(lambda: bool(plane.headers))
    said = plane.headers[0]
    assert plane.batches[said["batch-id"]] == b""
    assert int(said["last-seq"]) == int(said["first-seq"]) - 1
    age = datetime.now(UTC) - datetime.fromisoformat(said["watermark"])
    assert timedelta(0) < age < timedelta(seconds=20)


async def test_the_watermark_waits_for_the_oldest_open_request(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(1))
    arrived = datetime.now(UTC) - timedelta(minutes=5)
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(1))
        opened = await running.admit("old", arrived_at=arrived.isoformat(), deadline_ms=600_000)
        await settled(running, "new")
        await plane.until(lambda: bool(plane.records))
        assert datetime.fromisoformat(plane.headers[-1]["watermark"]) == arrived
        await running.settle(opened.json()["attempt_id"])
        await plane.until(lambda: len(plane.records) == 2)
        assert datetime.fromisoformat(plane.headers[-1]["watermark"]) > arrived


async def test_records_that_the_receiver_will_never_take_are_counted_as_lost(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(1))
    plane.ingest_status = 400
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(1))
        await settled(running, "r1")
        await running.edge.telemetry.send_once()
        status = await running.status()
    assert (status["records_waiting"], status["records_lost"]) == (0, 1)


async def test_a_full_spool_gives_up_the_oldest_and_says_how_many(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.sqlite", limit=3)
    for n in range(5):
        await journal.ended(Ending(f"r{n}", 0.0, float(n), f"r{n}".encode()))
    batch, state = await journal.batch("b", 10), await journal.state()
    await journal.close()
    assert batch is not None
    assert batch.lines == (b"r2", b"r3", b"r4")
    assert (state.waiting, state.lost, state.earliest_arrival_ms) == (3, 2, 2.0)


async def test_a_kill_between_settle_and_send_loses_nothing(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(1))
    plane.ingest_status = 503
    ask = {"class": "chat", "deadline_ms": 5000}
    async with process(site) as (edge, client):
        settle, keep = [
            (await client.post("/v1/admit", json={"request_id": name, **ask})).json()["attempt_id"]
            for name in ("ended", "running")
        ]
        done = {"attempt_id": settle, "status": "completed", "output_tokens": 10}
        assert (await client.post("/v1/settle", json=done)).json()["settled"] is True
        edge.send_signal(signal.SIGKILL)
        await edge.wait()
    plane.ingest_status = 202
    async with site.edge() as running:
        await plane.until(lambda: bool(plane.records))
        assert (await running.settle(keep)).json()["settled"] is True
        await plane.until(lambda: len(plane.records) == 2)
    by_id = {record.request_id: record for record in plane.records}
    assert {name: record.outcome for name, record in by_id.items()} == {
        "ended": "completed",
        "running": "completed",
    }
    assert by_id["running"].publication == 1
