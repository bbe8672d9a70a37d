"""What evidence covers and what it does not, to people."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.guard import SYSTEM_ACTOR
from gates.models import Evidence
from gates.selectors.coverage import matrix
from gates.services import push_evidence
from orchid.engine.document.parse import parse
from policies.services import draft_generation
from tests.gates.gates_cast import EXAMPLES, SLUG, Judged, someone

pytestmark = pytest.mark.django_db

HERE = f"/products/{SLUG}/evidence/"


def read(client: Client, path: str = "", **asked: Any) -> str:
    answer = client.get(HERE + path, asked)
    assert answer.status_code == 200, answer.content.decode()
    return " ".join(answer.content.decode().split())


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
    text = read(someone("eve", "auditor"))
    assert "Live traffic without evidence" in text
    assert "40 responses" in text
    assert "nothing measured of this route under this manifest" in text


def test_a_cell_shows_its_score_against_its_floor_its_age_and_its_suite(judged: Judged) -> None:
    judged.traffic(300)
    judged.judge()
    measured = (judged.now - timedelta(days=3)).isoformat()
    where = {"risk": "a"}
    push_evidence(SYSTEM_ACTOR, judged.product, judged.cell(where=where, measured_at=measured))
    text = read(someone("eve", "auditor"))
    assert "n 20,000, tasks 1, 3 days old" in text
    assert "0.9300" in text


def test_stale_evidence_is_a_gap_that_says_why(judged: Judged) -> None:
    judged.traffic(300)
    judged.judge()
    old = (judged.now - timedelta(days=40)).isoformat()
    push_evidence(SYSTEM_ACTOR, judged.product, judged.cell(mean=0.95, measured_at=old))
    text = read(someone("eve", "auditor"))
    assert "its evidence is 40 days old, 30 are allowed" in text


def test_what_fallback_rules_of_a_proposed_generation_need_is_named(judged: Judged) -> None:
    judged.traffic(300)
    judged.judge()
    proposed = parse((EXAMPLES / "generation-2.yaml").read_bytes(), "yaml")
    draft_generation(SYSTEM_ACTOR, judged.product, proposed, "Compact")
    text = read(someone("ana", "engineer"), generation=2)
    assert "What generation 2 would serve without evidence" in text
    assert "<strong>compact</strong> may serve instead" in text
    assert someone("kim", "engineer").get(HERE, {"generation": 9}).status_code == 404


def test_violations_that_a_suite_found_are_above_everything(judged: Judged) -> None:
    judged.traffic(300)
    judged.judge()
    bad = judged.cell(kind="policy", suite="red-team", suite_version="7", violations=2)
    push_evidence(SYSTEM_ACTOR, judged.product, bad)
    text = read(someone("eve", "auditor"))
    assert "A suite found violations in what serves" in text
    assert text.index("red-team 7") < text.index("What covers generation 1")


def test_single_scores_make_the_lower_bound_of_a_cell_sharper(judged: Judged) -> None:
    judged.traffic(300)
    judged.judge()
    lows: list[float] = []
    for scores in (None, [0.92, 0.94] * 200):
        told = {"mean": 0.93, "spread": 0.010013, "n": 400, "scores": scores}
        push_evidence(SYSTEM_ACTOR, judged.product, judged.cell(where={"risk": "a"}, **told))
        found = matrix(judged.product, judged.digest, judged.now)
        lows += [c.low for c in found.cells if c.need.dims.get("risk") == "a" and c.low]
    plain, sharp = lows
    assert 0.9 < plain < sharp < 0.93


def test_pieces_are_listed_narrowed_and_opened_with_their_history(judged: Judged) -> None:
    client = someone("eve", "auditor")
    row, _ = push_evidence(SYSTEM_ACTOR, judged.product, judged.cell(mean=0.91))
    push_evidence(SYSTEM_ACTOR, judged.product, judged.cell(suite="other"))
    text = read(client, "pieces/", suite="tasks")
    assert ("0.9100" in text, "other" in text) == (True, False)
    assert "superseded by a later push" in text
    one = read(client, f"pieces/{row.pk}/")
    assert "Runs of this suite on this cell" in one
    assert "0.9300" in one
    assert "Nothing like that" in read(client, "pieces/", route="compact")
    assert client.get(f"{HERE}pieces/0/").status_code == 404


def test_a_person_pushes_the_file_that_ci_would(judged: Judged) -> None:
    client = someone("kim", "engineer")
    body = (EXAMPLES / "evidence.json").read_bytes()
    for said in ("6 of 6 new", "It was all here before."):
        file = SimpleUploadedFile("evidence.json", body)
        answer = client.post(f"{HERE}push/file", {"file": file}, follow=True)
        assert said in answer.content.decode()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"{", "This is not JSON"),
        (b"[]", "Evidence is a JSON object"),
        (b'{"items": [{"mean": NaN}]}', "NaN is no number"),
        (b'{"items": [{"kind": "guess"}]}', "/items/0/kind"),
    ],
)
def test_a_file_that_is_none_is_refused_by_place(judged: Judged, body: bytes, said: str) -> None:
    client = someone("kim", "engineer")
    answer = client.post(f"{HERE}push/file", {"file": SimpleUploadedFile("e.json", body)})
    assert answer.status_code == 400
    assert said in answer.content.decode()
    assert Evidence.objects.count() == 1


def test_the_forms_are_for_those_who_may_push(judged: Judged) -> None:
    assert "One cell" in read(someone("kim", "engineer"), "push/")
    assert someone("eve", "auditor").get(f"{HERE}push/").status_code == 403


def test_trials_stand_beside_evidence_with_what_they_support(judged: Judged) -> None:
    from ingest.services import SourceKey, accept, process
    from ingest.services.storing import BatchMeta

    path = next(EXAMPLES.parents[1].glob("tests/data/trials/perf/inference_perf_vllm/stage_*.json"))
    meta = BatchMeta(declared={"title": "stage", "facts": {"residency": "warm"}})
    key = SourceKey("trial", "lab", "kubecon")
    batch, _ = accept(judged.product, key, "one", "trial", path.read_bytes(), meta=meta)
    process(batch.pk)
    text = read(someone("eve", "auditor"))
    assert "supports none" in text
    assert "Warm only" in text


def test_a_matrix_costs_the_same_however_many_cells_it_has(
    judged: Judged, django_assert_max_num_queries: Any
) -> None:
    client = someone("eve", "auditor")
    judged.everywhere(300)
    judged.judge()
    for n in range(20):
        push_evidence(SYSTEM_ACTOR, judged.product, judged.cell(suite=f"s{n}", mean=0.9))
    read(client)
    with django_assert_max_num_queries(30):
        read(client)
