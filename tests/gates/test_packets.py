"""The packet of an evaluation: everything that it rests on, recomputed to the same bytes."""

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from accounts.guard import SYSTEM_ACTOR
from accounts.models import AuditEvent
from gates.models import CaseBody, Evaluation
from gates.services import push_evidence
from gates.services.cases import forget_cases
from orchid.engine.packet import evaluation_packet, verify
from orchid.engine.packet.envelope import PARTS, canonical, sealed
from orchid.engine.verdict.case import decode, digest_of, encode
from orchid.engine.verdict.judgement import judge_case
from tests.gates.gates_cast import SLUG, Judged, api, machine, someone

pytestmark = pytest.mark.django_db
Content = dict[str, Any]


@pytest.fixture
def evaluation(judged: Judged) -> Evaluation:
    judged.everywhere(20_000, good=10_000)
    return judged.judge()


@pytest.fixture
def ci(judged: Judged) -> Client:
    return machine()


def exported(ci: Client, evaluation: Evaluation) -> bytes:
    answer = ci.get(api(f"evaluations/{evaluation.pk}/packet"))
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/json")
    return bytes(answer.content)


def resealed(packet: bytes, change: Callable[[Content], object]) -> bytes:
    content = json.loads(packet)
    change(content)
    parts = {name: content[name] for name in PARTS["evaluation"]}
    return sealed("evaluation", content["product"], parts)


def faults(packet: bytes) -> dict[str, str]:
    return {check.name: check.message for check in verify(packet).faults}


def test_an_evaluation_recomputes_from_its_packet(ci: Client, evaluation: Evaluation) -> None:
    packet = exported(ci, evaluation)
    found = verify(packet)
    assert (found.holds, found.faults) == (True, ())
    assert (found.kind, found.product) == ("evaluation", SLUG)
    content = json.loads(packet)
    assert content["judgement"]["verdict"] == evaluation.verdict
    assert content["recorded"]["inputs_digest"] == evaluation.inputs_digest
    assert [piece["suite"] for piece in content["evidence"]] == ["tasks"]
    assert exported(ci, evaluation) == packet


#: A change of the packet, and how the name of what does not hold begins.
MADE_UP: list[tuple[Callable[[Content], object], str]] = [
    (lambda c: c["judgement"].update(verdict="pass"), "/judgement/verdict"),
    (lambda c: c["judgement"]["results"][0].update(n=9), "/judgement/results/0/n"),
    (lambda c: c["judgement"]["results"].pop(), "/judgement/results"),
    (lambda c: c["judgement"].update(note="fine"), "/judgement/note"),
    (lambda c: c["judgement"].pop("action"), "/judgement/action"),
    (lambda c: c["recorded"].update(verdict="pass"), "recorded/verdict"),
    (lambda c: c["recorded"].update(inputs_digest="sha256:0"), "recorded/inputs_digest"),
    (lambda c: c["recorded"].update(outcome_digest="sha256:0"), "recorded/outcome_digest"),
    (lambda c: c["recorded"].update(evidence_digest="sha256:0"), "recorded/evidence_digest"),
    (lambda c: c["recorded"].clear(), "recorded"),
    (lambda c: c["documents"].clear(), "documents"),
    (lambda c: c["documents"].update(another={}), "documents"),
    (lambda c: first(c["documents"])["gates"].update(alpha_pass=0.5), "documents"),
    (lambda c: c["evidence"][0].update(mean=0.99), "evidence "),
    (lambda c: c["evidence"].clear(), "evidence "),
    (lambda c: c["evidence"].append({"suite": "more"}), "evidence "),
    (lambda c: c.update(product="another"), "product"),
    (lambda c: c.update(case="%"), "case"),
    (lambda c: c.update(case=""), "case"),
    (lambda c: c.update(case="é"), "case"),
    (lambda c: c["recorded"].update(publication=2), "recorded/publication"),
    (lambda c: c["recorded"].update(cohort="candidate"), "recorded/cohort"),
    (lambda c: c["recorded"].update(watermark="2020-01-01T00:00:00+00:00"), "recorded/watermark"),
    (lambda c: c["recorded"].pop("watermark"), "recorded/watermark"),
    (lambda c: c["recorded"].update(approved_by="ana"), "recorded"),
    (lambda c: c.update(case=flipped(c["case"])), "recorded/inputs_digest"),
]


def test_what_was_made_up_is_named_though_every_digest_of_a_part_is_right(
    ci: Client, evaluation: Evaluation
) -> None:
    packet = exported(ci, evaluation)
    for change, named in MADE_UP:
        found = faults(resealed(packet, change))
        assert any(name.startswith(named) for name in found), (named, found)


def first(of: Content) -> Any:
    return next(iter(of.values()))


def flipped(case: str) -> str:
    data = bytearray(base64.b64decode(case))
    data[len(data) // 2] ^= 1
    return base64.b64encode(bytes(data)).decode()


#: How an item of a case may be made to say something else than the suite measured.
BENT: list[dict[str, Any]] = [
    {"kind": "human"},
    {"suite": "other"},
    {"suite_version": "2"},
    {"index_version": "9"},
    {"prompt_version": "9"},
    {"route": "compact"},
    {"manifest": "sha256:" + "1" * 64},
    {"where": {"risk": "a"}},
    {"load_state": "overload"},
    {"n": 10**6},
    {"mean": 0.99},
    {"spread": 0.01},
    {"violations": 1},
    {"measured_at": datetime(2020, 1, 1, tzinfo=UTC)},
    {"scores": (1.0, 1.0, 1.0, 1.0)},
]


@pytest.mark.parametrize("change", BENT, ids=str)
def test_evidence_that_a_case_tells_otherwise_than_its_content_is_named(
    ci: Client, judged: Judged, change: dict[str, Any]
) -> None:
    told = {"scores": [0.9, 1.0, 0.8, 1.0], "n": 4, "measured_at": "2026-01-05T00:00:00+02:00"}
    scored = judged.cell(suite="scored", where={"risk": ["b", "a", "b"]}, **told)
    push_evidence(SYSTEM_ACTOR, judged.product, without(scored, "mean", "spread"))
    judged.everywhere(20_000)
    packet = exported(ci, judged.judge())
    assert verify(packet).faults == ()
    assert any(name.startswith("evidence ") for name in faults(bent(packet, "scored", change)))


def without(content: Content, *names: str) -> Content:
    return {name: value for name, value in content.items() if name not in names}


def bent(packet: bytes, suite: str, change: dict[str, Any]) -> bytes:
    """The packet of a case with other evidence, with all that follows from it made right."""
    content = json.loads(packet)
    case = decode(base64.b64decode(content["case"]))
    items = [replace(one, **change) if one.suite == suite else one for one in case.evidence]
    other = encode(replace(case, evidence=tuple(items)))
    recorded = content["recorded"] | {"inputs_digest": digest_of(other)}
    recorded["outcome_digest"] = judge_case(decode(other)).digest
    return evaluation_packet(other, content["evidence"], recorded)


def test_an_altered_part_is_named_by_its_digest(ci: Client, evaluation: Evaluation) -> None:
    content = json.loads(exported(ci, evaluation))
    content["judgement"]["verdict"] = "pass"
    assert {"digests/judgement", "/judgement/verdict"} <= faults(canonical(content)).keys()


def test_a_case_of_anything_else_is_a_fault_and_no_crash(
    ci: Client, evaluation: Evaluation
) -> None:
    packet = exported(ci, evaluation)
    for junk in (b"", b"\x00", b"\xc1" * 50, b"\xdf" + b"\xff" * 4, b"\xdd\x7f\xff\xff\xff"):
        content = json.loads(packet) | {"case": base64.b64encode(junk).decode()}
        assert "case" in faults(resealed(canonical(content), lambda c: c))


def test_exporting_twice_gives_the_same_bytes_and_writes_nothing(
    ci: Client, judged: Judged, evaluation: Evaluation
) -> None:
    CaseBody.objects.update(kept_until=judged.now)
    acts = AuditEvent.objects.count()
    packet = exported(ci, evaluation)
    assert exported(ci, evaluation) == packet
    assert AuditEvent.objects.count() == acts
    assert CaseBody.objects.get().kept_until == judged.now


def test_a_case_that_is_gone_is_said_in_words(
    ci: Client, judged: Judged, evaluation: Evaluation
) -> None:
    CaseBody.objects.update(kept_until=judged.now)
    forget_cases(judged.now + timedelta(days=2))
    answer = ci.get(api(f"evaluations/{evaluation.pk}/packet"))
    assert (answer.status_code, answer.json()["code"]) == (404, "case_not_kept")


def test_the_latest_is_what_holds_now(ci: Client, judged: Judged, evaluation: Evaluation) -> None:
    assert ci.get(api("evaluations/latest/packet")).content == exported(ci, evaluation)


def test_nothing_judged_has_no_packet(ci: Client, judged: Judged) -> None:
    answer = ci.get(api("evaluations/latest/packet"))
    assert (answer.status_code, answer.json()["code"]) == (404, "not_judged")
    assert ci.get(api("evaluations/999/packet")).status_code == 404


def test_a_person_downloads_it_from_its_page(evaluation: Evaluation) -> None:
    address = f"/products/{SLUG}/gates/evaluations/{evaluation.pk}/packet"
    answer = someone("eve", "auditor").get(address)
    assert verify(answer.content).holds
    assert f'filename="{SLUG}-evaluation-{evaluation.pk}.json"' in answer["Content-Disposition"]
    assert Client().get(address).status_code == 302


def test_the_figures_of_a_product_are_those_of_what_is_live(ci: Client, judged: Judged) -> None:
    answer = ci.get(api("packets/figures"))
    found = verify(answer.content)
    assert found.holds
    assert list(json.loads(answer.content)["documents"]) == [judged.digest]
    numbered = ci.get(api("packets/figures"), {"generation": 1})
    assert numbered.content == answer.content
    assert ci.get(api("packets/figures"), {"generation": 9}).status_code == 404


def test_declared_points_of_the_product_go_with_its_figures(ci: Client, judged: Judged) -> None:
    from gates.services import load_declared_points

    load_declared_points(
        judged.product,
        "schema: orchid.declared-points/v1\nproduct: orchid-demo\n"
        "points: [{name: slow, p95_ms: 9000, utility: 0.9}]\n"
        "degraded_trials: [{name: spike, p95_ms: 1400}]\n",
    )
    packet = ci.get(api("packets/figures")).content
    assert verify(packet).holds
    values = {one["name"]: one["value"] for one in json.loads(packet)["derivations"]}
    assert values["slow: failed gates"] == "completion_p95_ms"
