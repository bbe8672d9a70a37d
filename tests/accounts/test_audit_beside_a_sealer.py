"""A sealer that goes on heals nothing that was cut off, and breaks nothing for who verifies."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, connections, transaction

from accounts import sealing, services
from accounts.guard import SYSTEM_ACTOR
from accounts.keys import Purpose, known_keys
from accounts.models import AuditEvent, AuditHead, AuditSeal
from orchid.engine.wire.trail import GENESIS, link, read_head
from tests.accounts.tampering import tamper

# The head is anchored once its transaction has ended.
pytestmark = pytest.mark.django_db(transaction=True)


def act() -> AuditEvent:
    with transaction.atomic():
        return services.record(SYSTEM_ACTOR, "test.done")


def act_and_seal() -> None:
    act()
    services.seal_audit()


def anchored(keys: Path) -> int:
    return read_head((keys / "audit-head").read_text(), known_keys(Purpose.AUDIT)).seq


def cut_after(seq: int) -> None:
    """The links after it are gone, with their heads and their events."""
    last = AuditSeal.objects.get(seq=seq).event_id
    with transaction.atomic():
        tamper("DELETE FROM accounts_audithead WHERE seq > %s", seq)
        tamper("DELETE FROM accounts_auditseal WHERE seq > %s", seq)
        tamper("DELETE FROM accounts_auditevent WHERE id > %s", last)


def make_anew() -> None:
    """Every event says something else, every hash follows from it, and no head is left."""
    with transaction.atomic():
        tamper("UPDATE accounts_auditevent SET reason = %s", "nothing")
        tamper("DELETE FROM accounts_audithead WHERE seq > %s", 0)
        previous = GENESIS
        for row in AuditSeal.objects.select_related("event").order_by("seq"):
            digest = link(previous, sealing.content(row.event))
            values = f"previous = '{previous}', hash = '{digest}'"
            tamper(f"UPDATE accounts_auditseal SET {values} WHERE seq = %s", row.seq)
            previous = digest


@pytest.fixture
def three() -> None:
    """A trail of three links, each with a head of its own."""
    for _ in range(3):
        act_and_seal()


def test_the_anchored_head_moves_on_with_the_chain(three: None, keys_folder: Path) -> None:
    assert anchored(keys_folder) == 3
    act_and_seal()
    assert (anchored(keys_folder), sealing.verify().fault) == (4, "")


def test_a_tail_that_was_cut_off_with_its_heads_is_told(three: None) -> None:
    cut_after(1)
    fault = "a head was signed for link 3, and the chain ends at link 1"
    assert sealing.verify().fault == fault


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        (1, "a head was signed for link 3, and the chain ends at link 2"),
        (2, "link 3 is not the one that a signed head names"),
        (4, "link 3 is not the one that a signed head names"),
    ],
)
def test_a_cut_is_told_however_far_the_sealer_went_on(
    three: None, keys_folder: Path, caplog: pytest.LogCaptureFixture, more: int, fault: str
) -> None:
    cut_after(1)
    for _ in range(more):
        act_and_seal()
    assert (sealing.verify().fault, anchored(keys_folder)) == (fault, 3)
    assert caplog.messages == [sealing.LOST % (3, keys_folder / "audit-head")] * more


def test_a_trail_that_was_cut_off_whole_is_told(three: None) -> None:
    with transaction.atomic():
        for table in ("head", "seal", "event"):
            tamper(f"DELETE FROM accounts_audit{table} WHERE %s", True)
    act_and_seal()
    assert sealing.verify().fault == "a head was signed for link 3, and the chain ends at link 1"


@pytest.mark.parametrize("more", [0, 1])
def test_a_chain_made_anew_without_heads_is_told_although_the_sealer_signs_it(
    three: None, keys_folder: Path, more: int
) -> None:
    make_anew()
    for _ in range(more):
        act()
    assert services.seal_audit() == more
    assert AuditHead.objects.get().seq == 3 + more
    assert sealing.verify().fault == "link 3 is not the one that a signed head names"
    assert anchored(keys_folder) == 3


def test_a_link_that_is_put_back_while_the_head_is_anchored_moves_nothing(
    three: None, keys_folder: Path
) -> None:
    signed = AuditSeal.objects.get(seq=3).hash
    make_anew()
    anew = AuditSeal.objects.get(seq=3).hash
    act()
    with transaction.atomic():
        services.seal_audit()
        tamper(f"UPDATE accounts_auditseal SET hash = '{signed}' WHERE seq = %s", 3)
    tamper(f"UPDATE accounts_auditseal SET hash = '{anew}' WHERE seq = %s", 3)
    assert sealing.verify().fault == "link 3 is not the one that a signed head names"
    assert anchored(keys_folder) == 3


def test_a_head_that_was_not_anchored_is_passed_by_the_next(three: None, keys_folder: Path) -> None:
    file = keys_folder / "audit-head"
    file.write_text(AuditHead.objects.get(seq=1).token)
    act_and_seal()
    assert (anchored(keys_folder), sealing.verify().fault) == (4, "")


def test_an_older_backup_is_accepted_by_removing_the_file(three: None, keys_folder: Path) -> None:
    cut_after(2)
    (keys_folder / "audit-head").unlink()
    act_and_seal()
    assert (sealing.verify().fault, anchored(keys_folder)) == ("", 3)


def test_a_head_that_comes_late_leaves_the_later_one(
    three: None, keys_folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    late = AuditHead.objects.get(seq=2)
    sealing._anchor(late.seq, late.hash, late.token)
    assert (anchored(keys_folder), caplog.messages) == (3, [])


@pytest.fixture
def busy() -> Iterator[Any]:
    """Before each statement of this connection another one seals an event."""
    with ThreadPoolExecutor(1) as other:

        def before(execute: Any, *given: Any) -> Any:
            other.submit(act_and_seal).result()
            return execute(*given)

        yield before
        other.submit(connections.close_all).result()


def test_nothing_is_broken_beside_a_sealer_that_goes_on(three: None, busy: Any) -> None:
    with connection.execute_wrapper(busy):
        found = sealing.verify()
    assert found.fault == ""
    assert AuditSeal.objects.count() > found.sealed >= 3
    assert sealing.verify().intact


def test_a_fault_is_told_beside_a_sealer_that_goes_on(three: None, busy: Any) -> None:
    tamper("DELETE FROM accounts_auditseal WHERE seq = %s", 2)
    with connection.execute_wrapper(busy):
        assert sealing.verify().fault == "link 2 is missing"
