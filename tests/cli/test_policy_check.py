"""`orchid policy check` beside what serves now and what is known of routes."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from orchid.cli.policy import policy
from orchid.engine.document.canonical import manifest_digest
from orchid.engine.document.load import load_document
from tests.reference_document import SOURCE

Write = Callable[[str, object], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(name: str, content: object) -> str:
        file = tmp_path / name
        file.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(file)

    return written


def check(*arguments: str) -> Result:
    return CliRunner().invoke(policy, ["check", *arguments])


def piece(mean: float, manifest: str | None = None) -> dict[str, object]:
    where = {"task": "short_assistant", "tenant_class": "standard"}
    found = {"schema": "orchid.evidence/v1", "route": "compact", "where": where, "mean": mean}
    return found if manifest is None else {**found, "manifest": manifest}


def test_the_reference_is_sound_and_each_warning_has_its_code(write: Write) -> None:
    result = check(write("policy.yaml", SOURCE))
    assert result.exit_code == 0
    assert "deficit 30 TEU/s" in result.output
    assert "[demand_over_fleet_group_loss]" in result.output


def test_a_fallback_under_its_floor_is_an_error_by_the_evidence(write: Write) -> None:
    file = write("policy.yaml", SOURCE)
    low = check(file, "--evidence", write("low.json", {"evidence": [piece(0.894)]}))
    assert low.exit_code == 1
    assert "compact reaches 0.894" in low.output
    assert check(file, "--evidence", write("high.json", piece(0.9))).exit_code == 0


def test_evidence_on_another_model_says_nothing(write: Write) -> None:
    file = write("policy.yaml", SOURCE)
    pinned = manifest_digest(load_document(SOURCE).document.models["compact"])
    other = write("other.json", [piece(0.5, "sha256:" + "0" * 64)])
    assert check(file, "--evidence", other).exit_code == 0
    assert check(file, "--evidence", write("same.json", [piece(0.5, pinned)])).exit_code == 1


@pytest.mark.parametrize("content", ["{", '[{"route": 1}]', "7", '{"evidence": [3]}'])
def test_what_is_no_evidence_is_said_to_be_none(write: Write, content: str) -> None:
    file = write("policy.yaml", SOURCE)
    result = check(file, "--evidence", write("evidence.json", content))
    assert result.exit_code != 0
    assert "is no evidence" in result.output


def test_a_second_version_in_the_pool_that_serves_is_an_error(write: Write) -> None:
    live, other = write("live.yaml", SOURCE), SOURCE.replace("sha256:7b90", "sha256:0000")
    alone = check(write("next.yaml", other), "--json")
    beside = check(write("next.yaml", other), "--base", live, "--json")
    codes = [{f["code"] for f in json.loads(r.output)["findings"]} for r in (alone, beside)]
    assert "versions_cannot_coexist" in codes[1] - codes[0]
    assert beside.exit_code == 1
