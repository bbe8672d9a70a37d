"""Evidence comes in by API and page, once, checked, and only from those who may."""

import json
from typing import Any

import pytest

from accounts.guard import SYSTEM_ACTOR
from accounts.models import AuditEvent
from gates.models import Evidence, EvidencePush
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
    (event,) = AuditEvent.objects.filter(action="evidence.pushed", actor="ci:ci-1")
    assert (event.data["items"], event.data["new"]) == (6, 6)
    (pushed,) = EvidencePush.objects.filter(pushed_by="ci:ci-1")
    assert pushed.cells.count() == 6


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
        ({"colour": "red"}, "/colour"),
        ({"manifest": "latest"}, "/manifest"),
        ({"mean": "NaN"}, "/mean"),
        ({"n": 10**18}, "/n"),
        ({"violations": 2**31}, "/violations"),
        ({"suite_version": "v" * 65}, "/suite_version"),
        ({"route": "r" * 81}, "/route"),
        ({"where": {"task": [f"{n:0100}" for n in range(5)]}}, "/where"),
        ({"store": {"reference": "a", "size": 7}}, "/store/size"),
        ({"mean": None}, "/mean"),
        ({"interval": [0.94, 0.96]}, "/interval"),
        ({"scores": [0.9, 1.0], "n": 3, "mean": 0.95, "spread": 0.07}, "/n"),
        ({"scores": [0.9, 1.0], "n": 2, "mean": 0.5, "spread": 0.07}, "/mean"),
        ({"kind": "human", "rubric": "four grades", "disagreement": 0.1}, "/rater_population"),
        ({"measured_at": "2026-11-30T10:00:00"}, "/measured_at"),
        ({"measured_at": "2999-01-01T00:00:00Z"}, "/measured_at"),
    ],
)
def test_what_is_no_evidence_is_refused_by_field(
    judged: Judged, changes: dict[str, Any], pointer: str
) -> None:
    answer = posted(machine(), "evidence", judged.cell(**changes))
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_evidence")
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"prompt": "Dear model"}, "/prompt"),
        ({"store": {"reference": "a", "messages": ["Dear model"]}}, "/store/messages"),
        ({"Output": "Yes"}, "/Output"),
    ],
)
def test_written_text_is_refused_by_name(
    judged: Judged, changes: dict[str, Any], pointer: str
) -> None:
    answer = posted(machine(), "evidence", judged.cell(**changes))
    assert (answer.status_code, answer.json()["code"]) == (400, "text_not_allowed")
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]
    assert "Dear model" not in answer.content.decode()


def test_single_scores_say_their_own_mean_and_deviation(judged: Judged) -> None:
    cell = judged.cell(suite="items", n=4, scores=[1.0, 1.0, 0.5, 0.5])
    del cell["mean"], cell["spread"]
    (row,) = posted(machine(), "evidence", cell).json()["results"]
    assert (row["n"], row["mean"]) == (4, 0.75)
    assert row["spread"] == pytest.approx(0.288675)
    assert Evidence.objects.get(pk=row["id"]).scores == [1.0, 1.0, 0.5, 0.5]


def test_everything_that_was_declared_can_be_read_back(judged: Judged) -> None:
    declared = {
        "kind": "human",
        "suite": "panel",
        "index_version": "i-4",
        "model": "full-70b",
        "model_version": "2",
        "prompt_version": "p-9",
        "load_state": "steady",
        "interval": [0.92, 0.94],
        "rubric": "four grades",
        "rater_population": "twelve editors",
        "disagreement": 0.08,
        "measured_at": "2026-11-29T10:00:00Z",
        "store": {"reference": "s3://panel/7", "retention": "400d", "access": "auditors"},
    }
    client = machine()
    (row,) = posted(client, "evidence", judged.cell(**declared)).json()["results"]
    one = client.get(api(f"evidence/{row['id']}")).json()
    assert one["content"] == judged.cell(**declared)
    assert one["superseded"] is None
    assert client.get(api("evidence/0")).status_code == 404


def test_a_set_measures_each_cell_once(judged: Judged) -> None:
    body = {"items": [judged.cell(suite="twice"), judged.cell(suite="twice", mean=0.9)]}
    answer = posted(machine(), "evidence", body)
    assert answer.json()["errors"][0]["pointer"] == "/items/1"
    assert not Evidence.objects.filter(suite="twice").exists()


@pytest.mark.parametrize(
    ("body", "code", "pointer"),
    [
        ({"product": "orchid-other"}, "invalid_evidence", "/product"),
        ({"notes": "mine"}, "invalid_evidence", "/notes"),
        ({"text": "Dear model"}, "text_not_allowed", "/text"),
    ],
)
def test_a_set_is_refused_by_what_is_wrong_around_it(
    judged: Judged, body: dict[str, Any], code: str, pointer: str
) -> None:
    answer = posted(machine(), "evidence", {"items": [judged.cell()], **body}).json()
    assert (answer["code"], answer["errors"][0]["pointer"]) == (code, pointer)


def test_faults_of_a_set_are_named_by_place(judged: Judged) -> None:
    cells = [judged.cell(), judged.cell(suite="b", mean=7), judged.cell(suite="c", n=0)]
    answer = posted(machine(), "evidence", {"evidence": cells}).json()
    assert [one["pointer"] for one in answer["errors"]] == ["/evidence/1/mean", "/evidence/2/n"]


def test_a_set_has_a_largest_size(judged: Judged) -> None:
    cells = [judged.cell(suite=f"s-{number}") for number in range(1_001)]
    assert posted(machine(), "evidence", {"items": cells}).json()["code"] == "too_large"


def test_a_set_may_say_once_when_it_was_measured(judged: Judged) -> None:
    at = "2026-11-01T00:00:00Z"
    cells = [judged.cell(suite="a"), judged.cell(suite="b", measured_at="2026-11-02T00:00:00Z")]
    answer = posted(machine(), "evidence", {"items": cells, "measured_at": at}).json()
    assert [row["measured_at"][:10] for row in answer["results"]] == ["2026-11-01", "2026-11-02"]


def test_a_newer_edition_supersedes_and_history_is_kept(judged: Judged) -> None:
    client = machine()
    posted(client, "evidence", judged.cell(suite_version="2", where={"risk": "a"}, mean=0.9))
    rows = client.get(api("evidence"), {"suite": "tasks"}).json()["results"]
    assert [(row["suite_version"], row["superseded"]) for row in rows] == [
        ("2", None),
        ("1", "superseded by tasks 2"),
    ]


def test_a_later_push_of_the_same_cell_supersedes(judged: Judged) -> None:
    client = machine()
    posted(client, "evidence", judged.cell(mean=0.9))
    rows = client.get(api("evidence"), {"suite": "tasks"}).json()["results"]
    assert [(row["mean"], row["superseded"]) for row in rows] == [
        (0.9, None),
        (0.93, "superseded by a later push"),
    ]


@pytest.mark.parametrize(
    ("asked", "found"),
    [({"route": "full"}, 1), ({"route": "compact"}, 0), ({"kind": "frozen_suite"}, 1)],
)
def test_lists_are_narrowed_by_exact_values(
    judged: Judged, asked: dict[str, str], found: int
) -> None:
    assert len(machine().get(api("evidence"), asked).json()["results"]) == found


def test_an_unknown_kind_is_told(judged: Judged) -> None:
    assert machine().get(api("evidence"), {"kind": "guess"}).json()["code"] == "unknown_kind"


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
