"""Configurations and metadata of a real Triton, over HTTP and gRPC."""

import json
from pathlib import Path
from typing import Any

import pytest

from orchid.formats.reading import UnreadableError
from orchid.formats.triton_config import canonical, read_config, read_metadata

MODELS = ("chain", "compact", "full", "full_stream", "premium", "router_bls")


@pytest.fixture
def run1(data: Path) -> Path:
    return data / "triton/run1"


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def test_one_configuration_has_one_digest_over_http_and_grpc(run1: Path) -> None:
    http = read_config(read(run1 / "config-compact.json"))
    grpc = read_config(read(run1 / "config-compact.grpc.json"))
    assert http == grpc
    assert http.digest.startswith("sha256:")


def test_another_setting_is_another_digest(run1: Path) -> None:
    given = read(run1 / "config-compact.json")
    before = read_config(given).digest
    given["dynamic_batching"]["max_queue_delay_microseconds"] = 2001
    assert read_config(given).digest != before
    del given["dynamic_batching"]
    assert not read_config(given).dynamic_batching


def test_an_empty_section_that_switches_something_on_is_kept() -> None:
    assert canonical({"dynamic_batching": {}, "parameters": {}}) == {"dynamic_batching": {}}
    assert read_config({"name": "m", "dynamic_batching": {}}).dynamic_batching


def test_what_a_document_can_be_held_against_is_read(run1: Path) -> None:
    found = read_config(read(run1 / "config-compact.json"))
    assert (found.backend, found.max_batch_size, found.instances) == ("python", 8, 2)
    assert (found.max_delay_us, found.max_queue_size, found.priority_levels) == (2_000, 64, 3)
    assert found.queue_timeout_us == 400_000


def test_kinds_of_models_are_told_apart(run1: Path) -> None:
    found = {model: read_config(read(run1 / f"config-{model}.json")) for model in MODELS}
    assert found["chain"].steps == ("compact", "premium")
    assert [model for model in MODELS if found[model].decoupled] == ["full_stream"]
    assert not any(one.sequence or one.response_cache or one.warmed_up for one in found.values())


def test_metadata_has_shapes_that_compare_in_any_order(run1: Path) -> None:
    found = {model: read_metadata(read(run1 / f"metadata-{model}.json")) for model in MODELS}
    assert found["full"].versions == ("1",)
    given = read(run1 / "metadata-full.json")
    given["inputs"].reverse()
    assert read_metadata(given).shapes == found["full"].shapes
    # gRPC has the numbers of a shape as text.
    for tensor in given["inputs"] + given["outputs"]:
        tensor["shape"] = [str(length) for length in tensor["shape"]]
    assert read_metadata(given).shapes == found["full"].shapes


@pytest.mark.parametrize(
    "junk",
    [None, [], {}, {"name": 7}, {"name": "m", "max_batch_size": "x"}, {"name": "m", "input": 5}],
)
def test_what_is_no_configuration_is_refused(junk: Any) -> None:
    with pytest.raises(UnreadableError):
        read_config(junk)


@pytest.mark.parametrize("junk", [None, [], {"inputs": []}, {"name": "m", "inputs": "x"}])
def test_what_is_no_metadata_is_refused(junk: Any) -> None:
    with pytest.raises(UnreadableError):
        read_metadata(junk)


def test_numbers_in_text_are_numbers_only_in_their_own_spelling() -> None:
    given = {"a": "7", "b": "07", "c": "-1", "d": "9" * 30, "e": "²"}
    assert canonical(given) == {"a": 7, "b": "07", "c": -1, "d": "9" * 30, "e": "²"}
