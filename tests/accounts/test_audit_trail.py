"""What was done stays as it was written."""

from typing import Any

import pytest
from django.db import IntegrityError, ProgrammingError, connection, transaction

from accounts import sealing, services
from accounts.guard import SYSTEM_ACTOR
from accounts.keys import Purpose, known_keys
from accounts.models import AuditEvent, AuditPending, AuditSeal
from orchid.engine.wire.trail import GENESIS, link, read_head
from tests.accounts.tampering import tamper
from tests.people import Cast


def act(cast: Cast, action: str = "test.done", **more: Any) -> AuditEvent:
    with transaction.atomic():
        return services.record(cast.actor("ana"), action, product="orchid-demo", **more)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE accounts_auditevent SET reason = 'other'",
        "DELETE FROM accounts_auditevent",
        "UPDATE accounts_auditseal SET hash = 'x'",
        "DELETE FROM accounts_auditseal",
        "UPDATE accounts_audithead SET hash = 'x'",
        "DELETE FROM accounts_audithead",
        "TRUNCATE accounts_auditevent CASCADE",
        "TRUNCATE accounts_auditseal",
        "TRUNCATE accounts_audithead",
    ],
)
def test_not_even_the_owner_of_the_tables_changes_a_row(cast: Cast, statement: str) -> None:
    act(cast)
    services.seal_audit()
    cursor = connection.cursor()
    as_in_production(cursor)
    with pytest.raises(IntegrityError, match="never change"), transaction.atomic():
        cursor.execute(statement)


def as_in_production(cursor: Any) -> None:
    """The tests' own database lets tables be emptied, which is how a test that commits ends."""
    cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    for name in ("event", "seal", "head"):
        cursor.execute(
            f"ALTER TABLE accounts_audit{name} ENABLE TRIGGER audit_{name}_is_not_emptied"
        )


@pytest.mark.parametrize(
    "table", ["accounts_auditevent", "accounts_auditseal", "accounts_audithead"]
)
@pytest.mark.parametrize("verb", ["UPDATE {} SET id_ = 1", "DELETE FROM {}", "TRUNCATE {}"])
def test_the_application_has_no_right_to_change_a_row(cast: Cast, table: str, verb: str) -> None:
    act(cast)
    column = "reason = ''" if table == "accounts_auditevent" else "hash = ''"
    statement = verb.format(table).replace("id_ = 1", column)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL ROLE orchid_app")
        with pytest.raises(ProgrammingError, match="permission denied"):
            cursor.execute(statement)
        transaction.set_rollback(True)


def test_the_application_may_write_and_read_events(cast: Cast) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL ROLE orchid_app")
        act(cast)
        assert services.seal_audit() == 1
        cursor.execute("RESET ROLE")


@pytest.mark.django_db(transaction=True)
def test_an_act_outside_a_transaction_is_refused() -> None:
    with pytest.raises(RuntimeError, match="transaction"):
        services.record(SYSTEM_ACTOR, "test.done")


def test_an_act_that_is_undone_leaves_no_event(cast: Cast) -> None:
    with transaction.atomic():
        act(cast)
        transaction.set_rollback(True)
    assert not AuditEvent.objects.exists()


def test_events_are_chained_in_batches_and_verify(cast: Cast) -> None:
    for number in range(3):
        act(cast, obj=("thing", number))
    assert services.seal_audit() == 3
    act(cast)
    assert services.seal_audit() == 1
    assert services.seal_audit() == 0
    found = sealing.verify()
    assert (found.intact, found.sealed, found.pending) == (True, 4, 0)
    assert found.head == AuditSeal.objects.latest("seq").hash


def test_an_empty_trail_is_intact(cast: Cast) -> None:
    assert sealing.verify().intact


def test_an_altered_event_is_named(cast: Cast) -> None:
    act(cast)
    altered = act(cast)
    act(cast)
    services.seal_audit()
    tamper("UPDATE accounts_auditevent SET reason = 'nothing' WHERE id = %s", altered.pk)
    found = sealing.verify()
    assert not found.intact
    assert str(altered.pk) in found.fault


def test_a_removed_link_is_named(cast: Cast) -> None:
    for _ in range(3):
        act(cast)
    services.seal_audit()
    tamper("DELETE FROM accounts_auditseal WHERE seq = %s", 2)
    assert sealing.verify().fault == "link 2 is missing"


def test_an_event_kept_from_the_sealer_is_named(cast: Cast) -> None:
    event = act(cast)
    AuditPending.objects.all().delete()
    assert str(event.pk) in sealing.verify().fault


def test_the_head_of_the_chain_is_signed(cast: Cast) -> None:
    act(cast)
    act(cast)
    services.seal_audit()
    found = sealing.verify()
    assert (found.intact, found.signed) == (True, 2)
    assert read_head(found.signed_head, known_keys(Purpose.AUDIT)).hash == found.head


def test_a_trail_from_before_there_were_heads_is_signed_at_the_next_look(cast: Cast) -> None:
    act(cast)
    services.seal_audit()
    tamper("DELETE FROM accounts_audithead WHERE seq = %s", 1)
    assert sealing.verify().fault == "the links after 0 are covered by no signed head"
    assert services.seal_audit() == 0
    assert sealing.verify().intact


def test_a_chain_that_was_written_anew_is_not_the_one_that_was_signed(cast: Cast) -> None:
    event = act(cast)
    services.seal_audit()
    tamper("UPDATE accounts_auditevent SET reason = 'nothing' WHERE id = %s", event.pk)
    event.refresh_from_db()
    anew = link(GENESIS, sealing.content(event))
    tamper("UPDATE accounts_auditseal SET hash = %s WHERE seq = 1", anew)
    assert sealing.verify().fault == "link 1 is not the one that a signed head names"
    tamper("UPDATE accounts_audithead SET hash = %s WHERE seq = 1", anew)
    assert "differs from what was signed" in sealing.verify().fault
