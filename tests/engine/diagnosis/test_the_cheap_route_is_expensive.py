"""The declared case of the reference product: cheaper to admit, dearer to succeed."""

from fractions import Fraction
from pathlib import Path

import pytest
from pydantic import ValidationError

from orchid.engine.diagnosis.declared import Told, read_case, tell
from orchid.engine.document.load import load_document
from orchid.engine.document.model import PolicyDocument
from orchid.engine.segments import fallbacks_for

EXAMPLE = Path(__file__).parents[3] / "examples" / "orchid-serve"
EXTRACTION = {"task": "structured_extraction"}


@pytest.fixture(scope="module")
def reference() -> PolicyDocument:
    return load_document((EXAMPLE / "generation-1.yaml").read_text()).document


@pytest.fixture(scope="module")
def told(reference: PolicyDocument) -> Told:
    return tell(read_case((EXAMPLE / "diagnosis.yaml").read_text()), reference)


def test_two_ratios_of_cost_give_the_successes_per_admitted_request(told: Told) -> None:
    assert told.successes == Fraction(82, 106)
    assert f"{float(told.fewer) * 100:.1f} %" == "22.6 %"


def test_failures_and_a_retry_explain_a_part_and_the_rest_is_shown(told: Told) -> None:
    assert told.explained == (Fraction(966, 1034) / Fraction(999, 1001))
    assert told.explained * told.residual == told.successes
    assert f"{float(1 - told.explained) * 100:.1f} %" == "6.4 %"
    assert f"{float(1 - told.residual) * 100:.1f} %" == "17.4 %"


def test_the_cause_is_structured_extraction(told: Told) -> None:
    """A share of 40,000: from 20 violations to 680."""
    group = told.violations.by_segment()[0]
    assert group.name == "task=structured_extraction"
    assert group.value == told.violations.value == Fraction(-660, 40_000)


def test_just_that_segment_leaves_fallback(told: Told, reference: PolicyDocument) -> None:
    proposal = told.proposal
    assert proposal is not None
    assert proposal.brings_back
    assert [edit.value for edit in proposal.change.edits] == [{"deny": True, "where": EXTRACTION}]
    assert proposal.change.requests == 20_000
    (violations,) = proposal.outlook
    counts = violations.recorded, violations.expected, proposal.target
    assert counts == (Fraction(680), Fraction(20), Fraction(20))
    rules = [
        *(rule.model_dump(by_alias=True, exclude_unset=True) for rule in told.case.change.fallback)
    ]
    rules += [edit.value for edit in proposal.change.edits]
    changed = PolicyDocument.model_validate(
        reference.model_dump(by_alias=True, mode="json") | {"fallback": rules}
    )
    english = {"task": "classification", "language": "en", "input_bucket": "0-512"}
    assert fallbacks_for(changed, "full", EXTRACTION) == []
    assert fallbacks_for(changed, "full", english) == ["compact"]


def test_a_p95_without_failures_is_flagged(told: Told) -> None:
    (warning,) = told.warnings
    assert "1,420 and 1,180 ms leave out the failures" in warning


def test_the_next_experiment_sends_the_same_inputs_both_ways(told: Told) -> None:
    same, alternative = told.experiments
    assert "task is structured_extraction through compact and full, 87 of them" in same
    assert "constrained decoder or a task model" in alternative
    assert "full contract" in alternative


def test_a_case_without_its_figures_is_refused() -> None:
    with pytest.raises(ValidationError):
        read_case("schema: orchid.diagnosis-case/v1\nproduct: orchid-serve\n")
