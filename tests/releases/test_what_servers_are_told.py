"""Releases writes what is served on the sources of servers, and ingest reads it there."""

from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from accounts.guard import SYSTEM_ACTOR
from ingest.models import Source
from ingest.services import servers
from ingest.services.servers.expected import expected_of
from releases.models import Publication
from releases.services.reconcile import reconcile
from tests.releases.releases_cast import cast, live_product

pytestmark = pytest.mark.django_db


def test_a_server_is_told_what_is_served_at_the_next_tick_and_told_once(
    settings: Settings, tmp_path: Any
) -> None:
    settings.KEYS_DIR = tmp_path / "keys"
    cast()
    product = live_product()
    server = servers.register(SYSTEM_ACTOR, product, "six", {"http_url": "http://127.0.0.1:9"})
    assert expected_of(server) == []
    reconcile(product.pk, timezone.now())
    told = Source.objects.get(kind="polled").expected_manifest
    published = Publication.objects.get(product=product)
    assert (told["publication"], told["live"]) == (published.number, published.incumbent_digest)
    assert told["candidate"] is None
    server.source.refresh_from_db()
    routes = {one.route for one in expected_of(server)}
    assert {one.role for one in expected_of(server)} == {"live"}
    assert routes
    # Another kind of source is nobody's server.
    Source.objects.create(product=product, kind="otlp", name="spans")
    reconcile(product.pk, timezone.now())
    assert Source.objects.get(kind="otlp").expected_manifest == {}
