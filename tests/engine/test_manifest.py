"""Which manifests stand in for one another, and who may share a batch."""

from typing import Any

import pytest

from orchid.engine.document.model import PolicyDocument
from orchid.engine.manifest import BatchMember, Difference, compatible, member_of, parted_by


def test_equal_manifests_differ_in_nothing(reference: PolicyDocument) -> None:
    full = reference.models["full"]
    timing = full.timing
    assert timing is not None
    faster = full.model_copy(update={"timing": timing.model_copy(update={"fixed_ms": 1.0})})
    assert compatible(full, faster) == []


def test_each_part_that_differs_is_named_with_both_sides(reference: PolicyDocument) -> None:
    full = reference.models["full"]
    other = full.model_copy(update={"precision": "int8", "adapter": "legal-2"})
    assert compatible(full, other) == [
        Difference("adapter", None, "legal-2"),
        Difference("precision", "fp16", "int8"),
    ]


def member(reference: PolicyDocument, **extra: Any) -> BatchMember:
    return BatchMember("full", reference.models["full"], **extra)


@pytest.mark.parametrize(
    "part", ["modality", "topology", "privacy_cell", "cache_cell", "constraints"]
)
def test_a_batch_takes_no_other_cell_or_kind(reference: PolicyDocument, part: str) -> None:
    joining = member(reference, **{part: "another"})
    assert parted_by([member(reference)], joining) == [part]
    assert parted_by([joining], joining) == []


@pytest.mark.parametrize("part", ["weights", "adapter", "tokenizer", "precision", "runtime"])
def test_a_batch_is_one_model(reference: PolicyDocument, part: str) -> None:
    full = reference.models["full"]
    joining = BatchMember("full", full.model_copy(update={part: "another"}))
    assert parted_by([member(reference)], joining) == [part]


def test_no_member_is_made_to_outlast_its_slack(reference: PolicyDocument) -> None:
    waiting = [member(reference, slack_ms=90.0), member(reference, slack_ms=400.0)]
    assert parted_by(waiting, member(reference, slack_ms=500.0), 80.0) == []
    late = parted_by(waiting, member(reference, slack_ms=500.0), 100.0)
    assert late == ["slack: 90 ms left of the 100 ms that the batch runs"]


def test_classes_of_one_route_may_share_a_batch(reference: PolicyDocument) -> None:
    short, long = (member_of(reference, c) for c in ("short_assistant", "long_assistant"))
    assert parted_by([short], long) == []
    assert "weights" in parted_by([short], member_of(reference, "classification"))
