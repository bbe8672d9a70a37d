"""A pool's model repository says what the catalogue says; every execution takes a shared slot."""

from pathlib import Path

import pytest

from orchid.cli.triton.catalogue import pool, write_repository
from orchid.cli.triton.environment import Environment
from orchid.cli.triton.server import Otlp, Ports, command


def test_service_time_follows_from_lengths(examples: Path) -> None:
    models = pool(examples / "triton/models.toml", "six").models
    assert models["full"].service_s(1000, 200) == pytest.approx(0.165)
    assert models["compact"].service_s(1000, 200) == pytest.approx(0.052)


def test_an_unknown_pool_is_refused_with_the_names_there_are(examples: Path) -> None:
    with pytest.raises(KeyError, match="six, four, everything"):
        pool(examples / "triton/models.toml", "seven")


def test_every_model_gets_a_config_whose_instances_take_one_shared_slot(
    examples: Path, tmp_path: Path
) -> None:
    four = pool(examples / "triton/models.toml", "four")
    write_repository(four, examples / "triton", tmp_path)
    assert sorted(folder.name for folder in tmp_path.iterdir()) == ["compact", "full", "premium"]
    config = (tmp_path / "compact/config.pbtxt").read_text()
    assert "count: 4" in config
    assert 'name: "SLOTS" global: true count: 1' in config
    assert "$" not in config
    assert "dynamic_batching {" not in config
    assert (tmp_path / "compact/1/model.py").is_file()


def test_a_fallback_target_starts_before_the_route_it_relieves(examples: Path) -> None:
    models = pool(examples / "triton/models.toml", "four").models
    assert models["compact"].priority < models["full"].priority


def test_the_server_listens_on_loopback_alone(examples: Path, tmp_path: Path) -> None:
    four = pool(examples / "triton/models.toml", "four", slots=3)
    there = Environment(home=tmp_path, site=tmp_path)
    words = command(four, there, tmp_path, Ports(1, 2, 3))
    for kind in ("http", "grpc", "metrics"):
        assert f"--{kind}-address=127.0.0.1" in words
    assert "--rate-limit-resource=SLOTS:3" in words


def test_a_repository_holds_composites_and_a_bounded_queue(examples: Path, tmp_path: Path) -> None:
    everything = pool(examples / "triton/models.toml", "everything")
    write_repository(everything, examples / "triton", tmp_path)
    configs = {path.parent.name: path.read_text() for path in tmp_path.glob("*/config.pbtxt")}
    assert set(configs) == {*everything.models, "chain", "router", "stream"}
    assert "max_queue_size: 4" in configs["guarded"]
    assert 'model_name: "full"' in configs["chain"]
    assert "decoupled: true" in configs["stream"]
    assert not [name for name, text in configs.items() if "$" in text]
    # An ensemble has no code, but Triton wants the folder of its version.
    assert (tmp_path / "chain/1").is_dir()
    assert (tmp_path / "router/1/model.py").is_file()


def test_spans_go_to_the_address_that_is_named(examples: Path, tmp_path: Path) -> None:
    four = pool(examples / "triton/models.toml", "four")
    there = Environment(home=tmp_path, site=tmp_path)
    spans = Otlp("http://127.0.0.1:4318/v1/traces", "secret")
    words = command(four, there, tmp_path, Ports(1, 2, 3), spans)
    assert "mode=opentelemetry" in words
    assert "opentelemetry,url=http://127.0.0.1:4318/v1/traces" in words
    assert not [word for word in words if "secret" in word]
    assert spans.env == {"OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer secret"}
