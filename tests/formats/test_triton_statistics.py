from pathlib import Path

import pytest

from orchid.formats import triton_statistics
from orchid.formats.reading import UnreadableError


def test_the_means_of_a_users_decoder(data: Path) -> None:
    (decoder,) = triton_statistics.read(
        (data / "triton/statistics_http_decoder.json").read_bytes()
    ).records
    assert decoder.mean_batch == pytest.approx(1.252, abs=5e-4)
    assert decoder.inference_stats.queue.mean_ms == pytest.approx(3.832, abs=5e-4)
    assert decoder.inference_stats.compute_infer.mean_ms == pytest.approx(0.843, abs=5e-4)


def test_http_numbers_and_grpc_strings_are_the_same_figures(recordings: Path) -> None:
    http = triton_statistics.read((recordings / "run1/statistics-after.http.json").read_bytes())
    grpc = triton_statistics.read((recordings / "run1/statistics-after.grpc.json").read_bytes())
    assert http.records == grpc.records
    assert [model.name for model in http.records] == [
        "chain",
        "compact",
        "full",
        "full_stream",
        "premium",
        "router_bls",
    ]


def test_a_model_that_never_ran_has_no_mean(recordings: Path) -> None:
    reading = triton_statistics.read((recordings / "run1/statistics-before.http.json").read_bytes())
    assert {model.mean_batch for model in reading.records} == {None}
    assert {model.inference_stats.queue.mean_ms for model in reading.records} == {None}


@pytest.mark.parametrize("junk", [b"", b"[]", b'{"model_stats": [{"name": 3}]}', b"\xff"])
def test_what_is_no_answer_is_refused(junk: bytes) -> None:
    with pytest.raises(UnreadableError):
        triton_statistics.read(junk)
