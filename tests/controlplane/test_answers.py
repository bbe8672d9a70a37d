"""What every answer carries, and what refusals look like for people and for machines."""

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from controlplane.models import Heartbeat
from tests.people import Cast

NO_INLINE = ("unsafe-inline", "unsafe-eval", "http:", "*")


def test_every_page_forbids_inline_code_foreign_sources_and_frames(cast: Cast) -> None:
    headers = cast.browser("ana").get("/").headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert not any(word in policy for word in NO_INLINE)
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert "no-store" in headers["Cache-Control"]


def test_a_page_holds_no_inline_script_or_style(cast: Cast) -> None:
    text = cast.browser("ana").get("/").content.decode()
    assert " style=" not in text
    assert "<style" not in text
    assert " onclick=" not in text


@pytest.mark.parametrize(("given", "kept"), [("edge-7:a.b_c", True), ("bad id\n", False)])
def test_a_sound_request_id_comes_back_and_another_is_replaced(given: str, kept: bool) -> None:
    answer = Client().get("/healthz", headers={"X-Request-Id": given})
    assert (answer.headers["X-Request-Id"] == given) is kept


@pytest.mark.django_db
def test_people_get_a_page_and_machines_a_problem_document() -> None:
    page, machine = Client().get("/nowhere"), Client().get("/api/v1/nowhere")
    assert (page.status_code, machine.status_code) == (404, 404)
    assert "Nothing here by that name" in page.content.decode()
    assert machine["Content-Type"] == "application/problem+json"
    assert machine.json() == {
        "type": "urn:orchid:problem:not_found",
        "title": "Nothing here by that name",
        "status": 404,
        "detail": "Check the address, or start from the dashboard.",
        "instance": "/api/v1/nowhere",
        "code": "not_found",
    }


def test_a_body_that_is_no_json_is_refused_by_code(cast: Cast) -> None:
    answer = cast.browser("ben").post("/api/v1/products", b"{", "application/json")
    assert (answer.status_code, answer.json()["code"]) == (400, "not_json")


def test_a_fault_of_ours_is_a_calm_page_with_an_id(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("controlplane.dashboard.standing", lambda product: 1 / 0)
    cast.browser("ben").post("/products/new", {"name": "One", "slug": "one", "template": "small"})
    browser = cast.browser("ana")
    browser.raise_request_exception = False
    answer = browser.get("/", headers={"X-Request-Id": "find-me"})
    assert answer.status_code == 500
    assert "find-me" in answer.content.decode()
    assert "ZeroDivision" not in answer.content.decode()


def test_alive_asks_nothing_of_the_database() -> None:
    assert Client().get("/healthz").json() == {"status": "ok"}


@pytest.mark.django_db
def test_ready_needs_a_worker_that_ticks() -> None:
    silent = Client().get("/readyz")
    assert silent.status_code == 503
    assert silent.json()["checks"]["worker"] == "has never ticked"
    Heartbeat.objects.create(name="worker", at=timezone.now())
    assert Client().get("/readyz").json()["status"] == "ok"
    Heartbeat.objects.update(at=timezone.now() - timedelta(minutes=5))
    assert "silent" in Client().get("/readyz").json()["checks"]["worker"]


@pytest.mark.django_db
def test_ready_names_migrations_that_are_missing() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'sessions'")
    found = Client().get("/readyz")
    assert found.status_code == 503
    assert "1 not applied" in found.json()["checks"]["migrations"]


@pytest.mark.django_db
def test_metrics_name_routes_and_never_paths() -> None:
    Client().get("/products/secret-product/generations/")
    text = Client().get("/metrics").content.decode()
    assert 'route="policies:generations"' in text
    assert "secret-product" not in text


def test_the_heartbeat_task_moves_one_row(cast: Cast) -> None:
    from controlplane.tasks import heartbeat

    heartbeat()
    heartbeat()
    assert Heartbeat.objects.count() == 1


@pytest.mark.django_db
def test_the_api_describes_itself_to_who_is_known(cast: Cast) -> None:
    assert Client().get("/api/schema").status_code == 401
    answer = cast.browser("ana").get("/api/schema", headers={"Accept": "application/json"})
    text = answer.content.decode()
    assert answer.status_code == 200
    assert "3.1.0" in text
    assert "/api/v1/products/{slug}/generations" in text


FIRST_OF_A_PROCESS = """
import django
django.setup()
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from drf_spectacular.views import SpectacularAPIView
import controlplane.urls
start = Barrier(6, timeout=60)
def described(_):
    start.wait()
    return len(SpectacularAPIView.generator_class().get_schema(public=True)["paths"])
with ThreadPoolExecutor(6) as pool:
    print(*set(pool.map(described, range(6))))
"""


def test_a_new_process_describes_the_api_to_several_at_once() -> None:
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "controlplane.settings"}
    argv = [sys.executable, "-c", FIRST_OF_A_PROCESS]
    root = Path(__file__).parents[2]
    done = subprocess.run(
        argv, cwd=root, env=env, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 50
