"""A vote is of what was read: it travels with that content and with nothing else. Case 6."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from orchid.engine.wire.bundle import verify
from policies.models import Product
from releases.keys import public_keys
from releases.models import Publication
from tests.releases.desk import OF_PRODUCT, Desk, proposed, votes
from tests.releases.releases_cast import SLUG, document

Row = dict[str, Any]
GIVES = {"product_owner": "ben", "sre": "dee"}


def with_deadline(deadline_ms: int) -> dict[str, Any]:
    given = document(2)
    given["contract"]["deadline_ms"] = deadline_ms
    return given


def carried() -> set[tuple[str, str]]:
    """Who approved which content, by the signed bundle that edges take."""
    token = Publication.objects.latest("number").token
    bundle = verify(token, public_keys(), product=SLUG, floor_publication=0, now=timezone.now())
    return {(vote.by, vote.digest) for vote in bundle.votes}


def at_once(row: Row) -> Row:
    """The SRE reads what it says now and publishes that."""
    dee = Desk("dee")
    now = dee.reads(f"proposals/{row['id']}")
    status, done = dee.asks(
        f"proposals/{row['id']}/emergency",
        reason="the live one leaks",
        digest=now["newest_digest"],
        expected_version=now["version"],
    )
    assert (status, done["state"]) == (200, "published"), done
    return dict(done)


def published_after_it() -> Row:
    row = proposed(with_deadline(1700))
    for role in row["required"]:
        _, row = votes(GIVES[role], row)
    _, row = Desk("dee").asks(f"proposals/{row['id']}/publish", expected_version=row["version"])
    assert row["state"] == "published", row
    return dict(row)


def edits_the_text(row: Row) -> None:
    changed: Row = {"document": with_deadline(1600), "expected_revision": 1}
    path = f"{OF_PRODUCT}/generations/{row['generation']}/revisions"
    assert Desk("ana").asks(path, **changed)[0] == 201


def edits_the_record(row: Row) -> None:
    changed: Row = {"expected_revision": 0, "sections": {"rejected": "nothing else was tried"}}
    assert Desk("ana").asks(f"proposals/{row['id']}/record", **changed)[0] == 200


def caps_a_tenant(row: Row) -> None:
    cap: Row = {"tenant": "acme", "window": "10s", "max_teu": 400, "reason": "acme takes it all"}
    assert Desk("dee").asks(f"{OF_PRODUCT}/emergency-caps", **cap)[0] == 201


@pytest.mark.parametrize(
    ("moves", "why"),
    [
        (edits_the_text, "The document was edited after it was submitted"),
        (edits_the_record, "The decision record was edited after it was submitted"),
        (caps_a_tenant, "It went out in an emergency as something else than they saw"),
    ],
)
def test_what_moved_since_a_vote_goes_out_without_it(
    product: Product, moves: Callable[[Row], None], why: str
) -> None:
    row = proposed(document(2))
    assert votes("ben", row)[0] == 200
    moves(row)
    done = at_once(row)
    assert [(one["void"], one["void_why"]) for one in done["votes"]] == [(True, why)]
    assert carried() == set()
    after = published_after_it()
    assert {digest for _, digest in carried()} == {after["revision_digest"]}
    assert why in Desk("eve").page("proposal", row["id"])
    assert "ben" not in Desk("eve").page("publications").partition("Publication 2")[2]


def test_what_was_approved_as_it_went_out_carries_its_approval(product: Product) -> None:
    row = proposed(document(2))
    assert votes("ben", row)[0] == 200
    done = at_once(row)
    [vote] = done["votes"]
    assert (vote["void"], vote["content_digest"]) == (False, row["revision_digest"])
    assert carried() == {("ben", row["revision_digest"])}
    published_after_it()
    assert ("ben", row["revision_digest"]) in carried()


@pytest.mark.parametrize(
    ("named", "code"),
    [({}, "invalid_input"), ({"digest": "sha256:" + "0" * 64}, "text_moved")],
)
def test_nobody_publishes_at_once_what_nobody_showed_them(
    product: Product, named: dict[str, str], code: str
) -> None:
    row = proposed(document(2))
    asked = {"reason": "now", "expected_version": row["version"], **named}
    status, refused = Desk("dee").asks(f"proposals/{row['id']}/emergency", **asked)
    assert (status, refused["code"]) == (409 if named else 400, code)
    assert Publication.objects.count() == 1


@pytest.mark.parametrize(
    ("moves", "code"), [(edits_the_text, "text_moved"), (caps_a_tenant, "live_changed")]
)
def test_the_page_shows_what_an_emergency_changes_and_serves_only_that(
    product: Product, moves: Callable[[Row], None], code: str
) -> None:
    row, dee = proposed(document(2)), Desk("dee")
    assert "Publish it now" not in dee.page("emergency")
    address = f"/products/{SLUG}/emergency/?proposal={row['id']}"
    shown = dee.client.get(address).content.decode()
    assert "What changes" in shown
    assert "Decisions on recorded traffic" in shown
    assert f'name="digest" value="{row["revision_digest"]}"' in shown
    form = {
        "proposal": row["id"],
        "expected_version": row["version"],
        "digest": row["revision_digest"],
        "leaves": row["base_digest"],
        "reason": "now",
    }
    moves(row)
    before = Publication.objects.count()
    refused = dee.sends("publish-now", **form)
    assert (refused.status_code, code in refused.content.decode()) == (409, True)
    assert Publication.objects.count() == before
    now = dee.reads(f"proposals/{row['id']}")
    form |= {"digest": now["newest_digest"], "expected_version": now["version"]}
    live = Publication.objects.latest("number").incumbent_digest
    assert dee.sends("publish-now", **form | {"leaves": live}).status_code == 302
    assert Publication.objects.latest("number").incumbent_digest == now["newest_digest"]
