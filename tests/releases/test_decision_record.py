"""A record is generated, edited by revisions, fixed by publication and exported."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import AuditEvent, User
from controlplane.errors import BadInput, Conflict, Forbidden
from policies.models import Product
from releases.models import Proposal, RecordRevision
from releases.selectors.record import record_of
from releases.selectors.record_texts import titles
from releases.services.binding import bound_digest
from releases.services.decision_record import edit
from releases.services.propose import submit
from releases.services.publish import publish
from releases.services.reconcile import reconcile
from releases.services.review import vote
from releases.states import Choice
from tests.releases.desk import Desk, votes
from tests.releases.releases_cast import SLUG, actor, approve, approved, at_once, drafted, in_review

WHY = "Dynamic batching misses attainment in the evening."


def texts(proposal: Proposal) -> dict[str, str]:
    return {section.key: section.text for section in record_of(proposal).sections}


def fresh(proposal: Proposal) -> Proposal:
    return Proposal.objects.select_related("product", "generation").get(pk=proposal.pk)


def test_every_section_is_generated_from_facts(product: Product) -> None:
    said = texts(approved(product))
    assert list(said) == list(titles())
    assert "ben approved as product owner" in said["decision"]
    assert "Signed nothing measured is live" in said["decision"]
    assert "Completion p95: gate ≤ 1,500 ms" in said["gates"] or "≤ 1500 ms" in said["gates"]
    assert "A gate that fails on a stage: pause" in said["failure"]
    assert "publishes generation 1 again" in said["rollback"]
    assert "fallback rise" in said["revisit"]


def test_a_rejected_alternative_is_named_with_its_reason(product: Product) -> None:
    other = in_review(product)
    vote(actor("ben"), other, Choice.REJECT, "too dear at night", bound_digest(other))
    assert "rejected, too dear at night" in texts(in_review(product))["rejected"]


def test_edits_stay_in_the_history_and_the_rest_follows_the_facts(product: Product) -> None:
    proposal = in_review(product)
    first = edit(actor("ana"), proposal, {"rejected": WHY}, expected_revision=0)
    second = edit(actor("ben"), proposal, {"rejected": f"{WHY} Twice."}, expected_revision=1)
    assert (first.number, second.number) == (1, 2)
    assert [(row.written_by, names) for row, names in second.history] == [
        ("ana", ["Rejected alternatives"]),
        ("ben", ["Rejected alternatives"]),
    ]
    rejected = next(s for s in second.sections if s.key == "rejected")
    assert (rejected.edited_by, rejected.text) == ("ben", f"{WHY} Twice.")
    assert next(s for s in second.sections if s.key == "decision").edited_by == ""
    acts = AuditEvent.objects.filter(action="record.edited").order_by("id")
    assert [act.data["sections"] for act in acts] == [["rejected"], ["rejected"]]
    assert acts[0].digest_after == acts[1].digest_before


def test_a_section_that_is_emptied_follows_the_facts_again(product: Product) -> None:
    proposal = in_review(product)
    generated = texts(proposal)["revisit"]
    edit(actor("ana"), proposal, {"revisit": "never"}, expected_revision=0)
    edit(actor("ana"), proposal, {"revisit": ""}, expected_revision=1)
    assert texts(proposal)["revisit"] == generated


def test_it_says_when_the_facts_have_moved_since(product: Product) -> None:
    proposal = drafted(product)
    assert not edit(actor("ana"), proposal, {"failure": "we sleep"}, expected_revision=0).moved
    submit(actor("ana"), fresh(proposal))
    vote(actor("ben"), fresh(proposal), Choice.APPROVE, "fine", bound_digest(fresh(proposal)))
    assert record_of(fresh(proposal)).moved


def test_what_is_refused(product: Product) -> None:
    proposal = in_review(product)
    with pytest.raises(Forbidden):
        edit(actor("eve"), proposal, {"failure": "x"}, expected_revision=0)
    with pytest.raises(BadInput, match="no section poetry"):
        edit(actor("ana"), proposal, {"poetry": "x"}, expected_revision=0)
    edit(actor("ana"), proposal, {"failure": "x"}, expected_revision=0)
    for number, code in ((0, "record_changed"), (1, "nothing_changes")):
        with pytest.raises(Conflict) as refused:
            edit(actor("ana"), proposal, {"failure": "x"}, expected_revision=number)
        assert refused.value.code == code


def test_publication_fixes_it_with_its_votes_and_edits(
    product: Product, django_capture_on_commit_callbacks: Any
) -> None:
    proposal = drafted(product)
    edit(actor("ana"), proposal, {"rejected": WHY}, expected_revision=0)
    submit(actor("ana"), fresh(proposal))
    for name in ("ben", "dee"):
        approve(name, fresh(proposal))
    with django_capture_on_commit_callbacks(execute=True):
        publish(actor("dee"), fresh(proposal))
    found = record_of(fresh(proposal))
    assert found.fixed_at is not None
    said = {section.key: section.text for section in found.sections}
    assert said["rejected"] == WHY
    assert "dee approved as sre" in said["decision"]
    assert found.since == ["The rollout is running at publication 2"]
    with pytest.raises(Conflict) as refused:
        edit(actor("ana"), fresh(proposal), {"rejected": "no"}, expected_revision=found.number)
    assert refused.value.code == "record_fixed"
    row = RecordRevision.objects.get(final=True)
    with pytest.raises(IntegrityError), transaction.atomic():
        RecordRevision.objects.filter(pk=row.pk).update(texts={})
    with pytest.raises(IntegrityError), transaction.atomic():
        RecordRevision.objects.filter(pk=row.pk).delete()


def test_the_page_edits_it_and_the_files_carry_it(client: Client, product: Product) -> None:
    proposal = in_review(product)
    page = reverse("releases:record", args=[SLUG, proposal.pk])
    client.force_login(User.objects.get(username="ana"))
    assert "Edit the record" in client.get(page).content.decode()
    form = {**texts(proposal), "rejected": WHY, "expected_revision": 0}
    assert client.post(page, form).status_code == 302
    assert client.post(page, form).status_code == 409
    client.force_login(User.objects.get(username="eve"))
    body = client.get(page).content.decode()
    assert WHY in body
    assert "Edit the record" not in body
    assert client.post(page, form).status_code == 403
    markdown = client.get(reverse("releases:record-markdown", args=[SLUG, proposal.pk]))
    assert markdown["Content-Type"] == "text/markdown; charset=utf-8"
    assert f"## Rejected alternatives\n\n{WHY}" in markdown.content.decode()
    exported = client.get(reverse("releases:record-json", args=[SLUG, proposal.pk])).json()
    assert (exported["schema"], exported["revision"]) == ("orchid.decision-record/v1", 1)
    assert [section["key"] for section in exported["sections"]] == list(titles())
    assert exported["history"][0]["changed"] == ["Rejected alternatives"]


def test_the_api_reads_and_edits_it(client: Client, product: Product) -> None:
    proposal = in_review(product)
    url = f"/api/v1/proposals/{proposal.pk}/record"
    client.force_login(User.objects.get(username="ana"))
    body = {"expected_revision": 0, "sections": {"rejected": WHY}}
    told = client.post(url, body, "application/json", headers={"Idempotency-Key": "one"})
    assert (told.status_code, told.json()["revision"]) == (200, 1)
    assert WHY in client.get(url).json()["markdown"]
    wrong = {"expected_revision": 1, "sections": {"poetry": "x"}}
    answer = client.post(url, wrong, "application/json", headers={"Idempotency-Key": "two"})
    assert answer.status_code == 400


def test_a_record_that_nobody_fixed_at_the_commit_is_fixed_by_the_next_tick(
    product: Product,
) -> None:
    proposal = approved(product)
    publish(actor("dee"), proposal)
    assert not RecordRevision.objects.filter(final=True).exists()
    with pytest.raises(Conflict, match="stays as it is"):
        edit(actor("ana"), fresh(proposal), {"rejected": WHY}, expected_revision=0)
    reconcile(product.pk, timezone.now())
    row = RecordRevision.objects.get(final=True)
    assert (row.proposal_id, row.written_by) == (proposal.pk, "orchid")


def test_the_record_of_an_emergency_is_fixed_by_the_next_tick(product: Product) -> None:
    proposal = at_once("dee", in_review(product), "the live one leaks")
    for _ in range(2):
        reconcile(product.pk, timezone.now())
    row = RecordRevision.objects.get(proposal=proposal)
    assert (row.final, row.written_by) == (True, "orchid")
    assert record_of(fresh(proposal)).fixed_at == row.at


def test_no_text_of_a_person_forges_another_part_of_the_file(product: Product) -> None:
    proposal = drafted(product)
    forged = "so\n\n## Since publication\n\n- it went well\rAll\r---\n```\n<!-- <script>x</script>"
    edit(actor("ana"), proposal, {"rejected": forged}, expected_revision=0)
    Proposal.objects.filter(pk=proposal.pk).update(title="One\n\n## Gates\n\nall pass")
    proposal.refresh_from_db()
    lines = record_of(proposal).as_markdown().splitlines()
    assert lines[0] == "# One ## Gates all pass"
    headings = [line for line in lines if line.startswith("#")]
    assert headings[1:] == [f"## {title}" for title in titles().values()] + [
        "## History of this record"
    ]
    assert {"\\## Since publication", "\\---", "\\```"} <= set(lines)
    assert "\\<!-- \\<script>x\\</script>" in lines


@pytest.mark.parametrize("voters", [["ben"], ["ben", "dee"]])
def test_who_writes_into_it_during_a_review_ends_the_round_and_has_a_hand(
    product: Product, voters: list[str]
) -> None:
    proposal = in_review(product)
    for name in voters:
        approve(name, proposal)
    page = Desk("cho").page("record", proposal.pk)
    assert "a change ends this round, its votes become void" in page
    body: dict[str, Any] = {"expected_revision": 0, "sections": {"rejected": WHY}}
    assert Desk("cho").asks(f"proposals/{proposal.pk}/record", **body)[0] == 200
    told = Desk("ana").reads(f"proposals/{proposal.pk}")
    why = "The decision record was edited after it was submitted"
    assert (told["state"], told["round"], told["returned_why"]) == ("draft", 2, why)
    assert {(one["void"], one["void_why"]) for one in told["votes"]} == {(True, why)}
    version = {"expected_version": told["version"]}
    _, told = Desk("ana").asks(f"proposals/{proposal.pk}/submit", **version)
    assert told["record_digest"]
    status, refused = votes("cho", told)
    assert (status, refused["code"]) == (403, "own_proposal")
    assert "who wrote in its decision record" in refused["detail"]
    for name in ("ben", "dee"):
        status, told = votes(name, told)
    assert (status, told["state"]) == (200, "approved")


def test_to_write_what_the_facts_say_moves_nothing(product: Product) -> None:
    proposal = approved(product)
    body: dict[str, Any] = {"expected_revision": 0, "sections": texts(proposal)}
    status, refused = Desk("cho").asks(f"proposals/{proposal.pk}/record", **body)
    assert (status, refused["code"]) == (409, "nothing_changes")
    assert fresh(proposal).state == "approved"
