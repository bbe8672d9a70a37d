"""What follows a move may fail; the move is acknowledged all the same."""

import pytest
from django.db import OperationalError

from releases.services import publish as publishing
from releases.services.issue import latest
from tests.releases.releases_cast import actor, approved, cast, live_product

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_publication_stands_though_its_record_can_not_be_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def gone(*_: object) -> None:
        raise OperationalError("terminating connection")

    cast()
    product = live_product()
    proposal = approved(product)
    monkeypatch.setattr(publishing, "fix_published", gone)
    publishing.publish(actor("dee"), proposal)
    proposal.refresh_from_db()
    newest = latest(product)
    assert newest is not None
    assert (proposal.state, newest.number) == ("published", 2)
