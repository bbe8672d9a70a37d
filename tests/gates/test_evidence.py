"""Evidence comes in by API and page, once, checked, and only from those who may."""

import json
from typing import Any

import pytest

from accounts.guard import SYSTEM_ACTOR
from accounts.models import AuditEvent
from gates.models import Evidence
from policies.services import create_product
from tests.gates.gates_cast import EXAMPLES, SLUG, Judged, api, machine, posted, someone
from tests.small_policy import small_document

pytestmark = pytest.mark.django_db


def test_ci_pushes_a_whole_set_and_the_same_set_changes_nothing(judged: Judged) -> None:
    body = json.loads((EXAMPLES / "evidence.json").read_text())
    client = machine()
    first = posted(client, "evidence", body)
    again = posted(client, "evidence", body)
    assert (first.status_code, first.json()["created"]) == (201, 6)
    assert (again.status_code, again.json()["created"]) == (200, 0)
    assert Evidence.objects.count() == 1 + 6
    assert AuditEvent.objects.filter(action="evidence.pushed", actor="ci:ci-1").count() == 6


def test_a_generation_stands_for_its_manifest(judged: Judged) -> None:
    cell = judged.cell(suite="other", digest=judged.digest)
    del cell["manifest"]
    answer = posted(machine(), "evidence", cell).json()
    assert answer["results"][0]["manifest"] == judged.manifest


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"mean": 1.2}, "/mean"),
        ({"spread": 0.7}, "/spread"),
        ({"n": 0}, "/n"),
        ({"kind": "guess"}, "/kind"),
        ({"prompt": "Dear model"}, "/prompt"),
        ({"manifest": "latest"}, "/manifest"),
        ({"mean": "NaN"}, "/mean"),
        ({"n": 10**18}, "/n"),
        ({"violations": 2**31}, "/violations"),
        ({"suite_version": "v" * 65}, "/suite_version"),
        ({"route": "r" * 81}, "/route"),
        ({"where": {"task": [f"{n:0100}" for n in range(5)]}}, "/where"),
        ({"store": {"size": 2**60}}, "/store"),
    ],
)
def test_what_is_no_evidence_is_refused_by_field(
    judged: Judged, changes: dict[str, Any], pointer: str
) -> None:
    answer = posted(machine(), "evidence", judged.cell(**changes))
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_evidence")
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]


def test_the_longest_names_have_room(judged: Judged) -> None:
    longest = judged.cell(suite="s" * 120, suite_version="v" * 64, route="r" * 80)
    assert posted(machine(), "evidence", longest).status_code == 201


def test_a_generation_of_another_product_stands_for_nothing_here(judged: Judged) -> None:
    other = create_product(SYSTEM_ACTOR, "orchid-small", "Small", document=small_document())
    digest = other.generations.get().revisions.get().digest
    cell = judged.cell(digest=digest, route="full")
    del cell["manifest"]
    assert posted(machine(), "evidence", cell).json()["code"] == "unknown_digest"


def test_a_set_is_stored_whole_or_not_at_all(judged: Judged) -> None:
    body = {"items": [judged.cell(suite="fine"), judged.cell(mean=7)]}
    client = machine()
    assert posted(client, "evidence", body).status_code == 400
    assert not Evidence.objects.filter(suite="fine").exists()
    assert posted(client, "evidence", {"items": []}).json()["code"] == "empty_evidence"


@pytest.mark.parametrize("role", ["auditor", "product_owner", "sre"])
def test_only_engineers_and_ci_push(judged: Judged, role: str) -> None:
    client = someone("eve", role)
    assert client.get(f"/products/{SLUG}/evidence/").status_code == 200
    assert posted(client, "evidence", judged.cell(suite="mine")).status_code == 403
    assert client.post(f"/products/{SLUG}/evidence/push/", {}).status_code == 403


def test_an_edge_neither_reads_nor_pushes(judged: Judged) -> None:
    client = machine("edge")
    assert client.get(api("evidence")).status_code == 404
    assert posted(client, "evidence", judged.cell()).status_code == 404


def test_a_person_pushes_one_cell_from_the_page(judged: Judged) -> None:
    client = someone("kim", "engineer")
    cell = judged.cell(suite="by hand", where='{"risk": "a"}', violations=0)
    del cell["schema"]
    answer = client.post(f"/products/{SLUG}/evidence/push/", cell, follow=True)
    assert "Evidence stored." in answer.content.decode()
    assert Evidence.objects.get(suite="by hand").where == {"risk": "a"}


def test_the_form_says_what_it_cannot_read(judged: Judged) -> None:
    client = someone("kim", "engineer")
    answer = client.post(f"/products/{SLUG}/evidence/push/", judged.cell(where="{a"))
    assert answer.status_code == 400
    assert "This is not JSON" in answer.content.decode()


def test_the_page_names_live_traffic_that_nothing_covers(judged: Judged) -> None:
    judged.traffic(300)
    judged.manifest = "sha256:" + "0" * 64
    judged.traffic(40, segment="c")
    judged.judge()
    text = someone("eve", "auditor").get(f"/products/{SLUG}/evidence/").content.decode()
    assert "Live traffic without evidence" in text
    assert "40 responses" in text
