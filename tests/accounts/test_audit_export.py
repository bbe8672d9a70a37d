"""The trail leaves the control plane as files that are worth something without it."""

import csv
import io
import json
from typing import Any

import pytest
from django.core.management import call_command
from django.db import transaction
from django.http import StreamingHttpResponse
from django.test import AsyncRequestFactory, Client

from accounts import keys
from accounts.keys import Purpose, known_keys
from accounts.models import Grant
from accounts.services import record, seal_audit
from controlplane.web import streamed
from orchid.engine.wire.trail_export import check_export
from tests.people import Cast

PAGES = ["/audit/export.jsonl", "/api/v1/audit/export"]


def act(cast: Cast, action: str = "test.done", product: str = "one", **more: Any) -> None:
    with transaction.atomic():
        record(cast.actor("ana"), action, product=product, **more)


@pytest.fixture
def trail(cast: Cast) -> Cast:
    for number in range(7):
        act(cast, obj=("thing", number), product="one" if number % 2 else "two")
    seal_audit()
    return cast


def body(cast: Cast, name: str, address: str) -> bytes:
    answer = cast.browser(name).get(address)
    assert answer.status_code == 200, answer
    assert isinstance(answer, StreamingHttpResponse)
    return b"".join(part for part in answer if isinstance(part, bytes))


@pytest.mark.parametrize("address", PAGES)
def test_a_whole_export_verifies_by_the_public_keys_alone(trail: Cast, address: str) -> None:
    lines = body(trail, "eve", address).splitlines()
    found = check_export(lines, known_keys(Purpose.AUDIT))
    assert (found.fault, found.whole, found.events) == ("", True, 7)
    assert found.signed is not None
    assert found.signed.seq == 7


@pytest.mark.parametrize("address", PAGES)
def test_a_filter_holds_for_the_export_as_well(trail: Cast, address: str) -> None:
    lines = body(trail, "eve", f"{address}?product=two").splitlines()
    found = check_export(lines, known_keys(Purpose.AUDIT))
    assert (found.fault, found.whole, found.events) == ("", False, 4)


def test_who_reads_one_product_exports_that_one_and_no_whole(trail: Cast) -> None:
    Grant.objects.filter(user=trail.eve).update(product_slug="two")
    lines = body(trail, "eve", PAGES[0]).splitlines()
    found = check_export(lines, known_keys(Purpose.AUDIT))
    assert (found.whole, found.events) == (False, 4)


def test_what_is_not_sealed_yet_is_in_no_export(trail: Cast) -> None:
    act(trail)
    assert check_export(body(trail, "eve", PAGES[0]).splitlines(), {}).events == 7


def test_more_events_than_one_read_takes_are_all_there(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("accounts.exporting.PAGE", 3)
    for _ in range(9):
        act(cast)
    seal_audit()
    assert check_export(body(cast, "eve", PAGES[0]).splitlines(), {}).events == 9


def test_a_table_for_a_spreadsheet_holds_no_formula(cast: Cast) -> None:
    act(cast, reason="=HYPERLINK(1)", data={"n": 1})
    seal_audit()
    rows = list(csv.DictReader(io.StringIO(body(cast, "eve", "/audit/export.csv").decode())))
    assert [row["reason"] for row in rows] == ["'=HYPERLINK(1)"]
    assert json.loads(rows[0]["data"]) == {"n": 1}


@pytest.mark.parametrize("address", [*PAGES, "/audit/export.csv", "/audit/verify"])
def test_who_may_not_read_the_trail_takes_none_of_it_out(trail: Cast, address: str) -> None:
    assert trail.browser("ana").get(address).status_code == 403


def test_a_key_that_was_rotated_out_still_vouches_for_what_it_signed(cast: Cast) -> None:
    from django.utils import timezone

    act(cast)
    seal_audit()
    before = body(cast, "eve", PAGES[0]).splitlines()
    keys.rotate(Purpose.AUDIT, timezone.now())
    answer = cast.browser("eve").get("/api/v1/audit/keys").json()["keys"]
    assert len(answer) == 2
    assert check_export(before, answer).signed is not None


async def test_under_asgi_it_is_sent_while_it_is_made() -> None:
    request = AsyncRequestFactory().get("/audit/export.jsonl")
    response = streamed(request, iter([b"a", b"b"]), "text/plain", "audit.txt")
    assert [part async for part in response] == [b"a", b"b"]


def test_the_token_of_an_audit_reader_takes_the_whole_trail_out_and_does_nothing_else(
    trail: Cast,
) -> None:
    out = io.StringIO()
    call_command("audit_reader", "nightly", "eve", stdout=out)
    machine = Client(headers={"Authorization": f"Bearer {out.getvalue().strip()}"})
    seal_audit()
    answer = machine.get("/api/v1/audit/export")
    assert isinstance(answer, StreamingHttpResponse)
    lines = b"".join(part for part in answer if isinstance(part, bytes)).splitlines()
    assert check_export(lines, known_keys(Purpose.AUDIT)).whole
    assert machine.get("/api/v1/audit/verify").json()["intact"] is True
    assert machine.post("/api/v1/products", {}, "application/json").status_code in (400, 403)
