"""The newest publication is signed again in time; its number, content and history stay."""

from datetime import datetime, timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from accounts.keys import OVERLAP
from accounts.models import AuditEvent
from orchid.engine.wire.bundle import Bundle, trusted_after, verify
from orchid.engine.wire.contents import same_content
from policies.models import Product
from releases.keys import public_keys
from releases.models import Edge, Publication
from releases.services.issue import ACCEPTED_FOR, latest
from releases.services.reconcile import reconcile
from releases.services.resign import FLEET_SETTLES, as_signed
from tests.releases.releases_cast import SLUG, edge, later, published, says


def newest(product: Product) -> Publication:
    found = latest(product)
    assert found is not None
    return found


def ticked(product: Product, seconds: float) -> tuple[Publication, Publication]:
    """The newest publication before a tick at a later time, and after it."""
    before = newest(product)
    assert reconcile(product.pk, later(seconds))
    return before, newest(product)


def kept_time(product: Product) -> datetime:
    return newest(product).published_at


def test_well_before_it_expires_it_is_signed_for_longer(product: Product) -> None:
    published_at = kept_time(product)
    before, after = ticked(product, (ACCEPTED_FOR / 2).total_seconds() + 60)
    assert after.expires_at - before.expires_at > ACCEPTED_FOR / 2
    assert (after.number, after.published_at) == (before.number, published_at)
    assert after.etag != before.etag
    assert same_content(as_signed(before), as_signed(after))


def test_what_is_fresh_is_not_signed_again(product: Product) -> None:
    before, after = ticked(product, 60)
    assert (before.etag, before.issued_at) == (after.etag, after.issued_at)


def test_a_new_signature_takes_no_number_and_no_audit_row(product: Product) -> None:
    acts = AuditEvent.objects.count()
    before, after = ticked(product, ACCEPTED_FOR.total_seconds())
    assert before.etag != after.etag
    assert Publication.objects.filter(product=product).count() == 1
    assert AuditEvent.objects.count() == acts


def test_a_row_that_was_tampered_with_gets_no_signature(product: Product) -> None:
    row = newest(product)
    Publication.objects.filter(pk=row.pk).update(token=row.token[:-8] + "AAAAAAAA")
    before, after = ticked(product, ACCEPTED_FOR.total_seconds())
    assert before.token == after.token


class TestSlices:
    """Edges that share the fleet's limits are named, with their weights, in the bundle."""

    def test_one_edge_alone_has_the_whole_and_is_not_named(self, product: Product) -> None:
        edge(product, "e1")
        before, after = ticked(product, 60)
        assert before.etag == after.etag
        assert as_signed(after).slices == {}

    def test_a_second_edge_brings_a_signature_that_weighs_both(self, product: Product) -> None:
        edge(product, "e1", share=3.0)
        edge(product, "e2", share=1.0)
        _, after = ticked(product, FLEET_SETTLES.total_seconds())
        assert as_signed(after).slices == {"e1": 3.0, "e2": 1.0}

    def test_edges_that_come_one_by_one_are_one_signature(self, product: Product) -> None:
        edge(product, "e1")
        edge(product, "e2")
        ticked(product, FLEET_SETTLES.total_seconds())
        edge(product, "e3")
        before, after = ticked(product, FLEET_SETTLES.total_seconds() + 1)
        assert before.etag == after.etag

    def test_an_edge_out_of_service_has_no_slice(self, product: Product) -> None:
        edge(product, "e1")
        edge(product, "e2")
        gone = edge(product, "e3")
        Edge.objects.filter(pk=gone.pk).update(retired_at=timezone.now())
        _, after = ticked(product, FLEET_SETTLES.total_seconds())
        assert as_signed(after).slices == {"e1 e2": 1.0}

    def test_the_next_publication_carries_the_fleet_of_its_time(self, product: Product) -> None:
        edge(product, "e1")
        edge(product, "e2")
        published(product)
        assert as_signed(newest(product)).slices == {"e1 e2": 1.0}


def keys(*words: str) -> str:
    out = StringIO()
    call_command("keys", *words, stdout=out)
    return out.getvalue()


def aged(folder: Path) -> None:
    """Every key was made long enough ago to be known everywhere."""
    import os

    old = (timezone.now() - OVERLAP - timedelta(hours=1)).timestamp()
    for path in folder.glob("*.pem"):
        os.utime(path, (old, old))


def followed(product: Product, trusted: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    """The keys an edge trusts after it took the newest bundle by those it trusted."""
    row = newest(product)
    bundle: Bundle = verify(
        row.token, trusted, product=SLUG, floor_publication=row.number, now=row.issued_at
    )
    return trusted_after(row.token, trusted, bundle)


class TestRotation:
    """The next key is announced before it signs, so no edge is ever offered a stranger's."""

    def test_an_edge_follows_from_key_to_key_and_forgets_the_old(
        self, product: Product, keys_folder: Path
    ) -> None:
        trusted, seen = followed(product, public_keys()), []
        for _ in range(3):
            aged(keys_folder)
            seen.append(newest(product).kid)
            keys("rotate")
            _, after = ticked(product, 0)
            assert after.kid not in seen
            trusted = followed(product, trusted)
            assert set(trusted) == set(public_keys())
        assert len(set(seen)) == 3

    def test_a_clock_that_was_set_back_signs_nothing_that_edges_take_for_older(
        self, product: Product, keys_folder: Path
    ) -> None:
        trusted, running = public_keys(), as_signed(newest(product))
        keys("rotate", "--at-once")
        before, after = ticked(product, -3600)
        assert after.kid != before.kid
        number, now = after.number, running.issued_at
        taken = verify(
            after.token, trusted, product=SLUG, floor_publication=number, now=now, active=running
        )
        assert same_content(taken, running)

    def test_a_key_that_was_hardly_announced_does_not_sign_yet(
        self, product: Product, keys_folder: Path
    ) -> None:
        with pytest.raises(CommandError, match="24 hours"):
            keys("rotate")
        assert len(list(keys_folder.glob("signing-*.pem"))) == 2
        assert "signs nothing more" in keys("rotate", "--at-once")

    def test_an_edge_that_is_behind_is_named_first(
        self, product: Product, keys_folder: Path
    ) -> None:
        aged(keys_folder)
        behind = edge(product, "e1")
        with pytest.raises(CommandError, match=f"{SLUG}/e1"):
            keys("rotate")
        says(behind, newest(product))
        keys("rotate")

    def test_a_rotation_that_was_killed_leaves_every_key_readable(
        self, product: Product, keys_folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as killed:
            killed.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError("killed")))
            with pytest.raises(OSError, match="killed"):
                keys("rotate", "--at-once")
        assert f"{newest(product).kid}  signs" in keys("list")
        keys("rotate", "--at-once")
        assert as_signed(newest(product)).publication == 1

    def test_the_private_half_is_gone_and_the_public_one_verifies_on(
        self, product: Product, keys_folder: Path
    ) -> None:
        first = newest(product)
        keys("rotate", "--at-once")
        assert not (keys_folder / "signing-0001.pem").exists()
        assert as_signed(first).publication == 1
        assert f"{first.kid}  retired" in keys("list")

    def test_a_rotation_is_an_act_of_record(self, product: Product) -> None:
        keys("rotate", "--at-once")
        act = AuditEvent.objects.get(action="key.rotated")
        assert (act.object_id, act.data["purpose"]) == (act.digest_after, "signing")


def test_a_number_once_taken_keeps_its_time_in_the_database(product: Product) -> None:
    with pytest.raises(IntegrityError, match="never changes"), transaction.atomic():
        Publication.objects.update(published_at=timezone.now())


def test_not_even_the_owner_empties_the_table_of_publications(product: Product) -> None:
    table = "releases_publication"
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER publication_is_not_emptied")
        with pytest.raises(IntegrityError, match="never change"), transaction.atomic():
            cursor.execute(f"TRUNCATE {table} CASCADE")


def test_the_votes_travel_with_every_number_that_serves_what_they_approved(
    product: Product,
) -> None:
    from releases.services.rollout import pause
    from tests.releases.releases_cast import actor

    rollout = published(product)
    pause(actor("dee"), rollout, "a look first")
    votes = {(vote.by, vote.digest) for vote in as_signed(newest(product)).votes}
    assert votes == {("ben", rollout.candidate_digest), ("dee", rollout.candidate_digest)}
