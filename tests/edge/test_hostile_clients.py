"""What a client says can't hold a place for ever, and a disk that is full promises nothing."""

import sqlite3
from datetime import UTC, datetime, timedelta

import pytest

from orchid.edge import tables
from tests.edge.control_plane import ControlPlane, bundle
from tests.edge.edge_site import ASYNC, TOO_SOON, Site


@pytest.mark.parametrize(
    "asked",
    [
        {"arrived_at": "9999-12-31T23:59:59Z"},
        {"arrived_at": "0001-01-01T00:00:00Z"},
        {"deadline_ms": 1e9},
        {"segment": {"task": "chat|tenant_class=premium"}},
        {"segment": {"task": ["a"] * 900}},
    ],
    ids=str,
)
async def test_a_question_without_measure_is_refused_and_holds_nothing(
    site: Site, plane: ControlPlane, asked: dict[str, object]
) -> None:
    plane.publish(bundle(1))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(1))
        answer = await running.admit("r1", **asked)
        status = await running.status()
    assert answer.status_code == 400
    assert status["open_sequences"] == {}


async def test_an_arrival_a_minute_ahead_is_refused(site: Site, plane: ControlPlane) -> None:
    plane.publish(bundle(1))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(1))
        ahead = datetime.now(UTC) + timedelta(minutes=1)
        answer = await running.admit("r1", arrived_at=ahead.isoformat())
    assert answer.status_code == 400


@pytest.mark.parametrize("depth", [10, 500, 900, 980, 1_000, 10_000, 30_000])
async def test_nesting_of_any_depth_is_refused_in_words(
    site: Site, plane: ControlPlane, depth: int
) -> None:
    async with site.edge() as running:
        answer = await running.client.post(
            "/v1/admit", content=b'{"a":' + b"[" * depth + b"]" * depth + b"}"
        )
    assert answer.status_code == 400


async def test_a_full_disk_promises_nothing_and_loses_nothing(
    site: Site, plane: ControlPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    plane.publish(bundle(1))

    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    async with site.edge() as running:
        await plane.until(lambda: plane.activated(1))
        before = await running.admit("before")
        attempt_id = before.json()["attempt_id"]
        with monkeypatch.context() as disk:
            disk.setattr(tables, "keep_bounded", full)
            during = await running.admit("during")
            settled = await running.settle(attempt_id)
            status = await running.status()
        assert (during.status_code, during.json()["code"]) == (503, "journal_failed")
        assert settled.status_code == 503
        assert status["pools"]["one"]["running"] == 0
        await plane.until(lambda: len(plane.records) == 1)
    (record,) = plane.records
    assert (record.request_id, record.outcome) == ("before", "completed")


async def test_on_a_full_disk_nothing_is_deferred_and_nothing_rests(
    site: Site, plane: ControlPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    plane.publish(bundle(1, **ASYNC))

    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    async with site.edge() as running:
        await plane.until(lambda: plane.activated(1))
        attempt_id = (await running.admit("r1")).json()["attempt_id"]
        end = {"status": "failed", "final": False, "policy_valid": None, "schema_valid": None}
        with monkeypatch.context() as disk:
            disk.setattr(tables, "keep_bounded", full)
            put_off = await running.admit("later", **TOO_SOON)
            rested = await running.settle(attempt_id, **end)
            status = await running.status()
        assert (put_off.status_code, rested.status_code) == (503, 503)
        assert (status["deferred"], status["resting"]) == (0, 0)
        assert (await running.admit("later", **TOO_SOON)).status_code == 202
        await plane.until(lambda: len(plane.records) == 2)
    by_id = {record.request_id: record.outcome for record in plane.records}
    assert by_id == {"later": "deferred", "r1": "failed"}
