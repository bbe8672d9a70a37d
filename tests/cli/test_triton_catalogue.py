"""A pool's model repository says what the catalogue says; every execution takes a shared slot."""

from pathlib import Path

import pytest

from orchid.cli.triton.catalogue import pool, write_repository
from orchid.cli.triton.environment import Environment
from orchid.cli.triton.server import Ports, command


def test_service_time_follows_from_lengths(examples: Path) -> None:
    models = pool(examples / "triton/models.toml", "six").models
    assert models["full"].service_s(1000, 200) == pytest.approx(0.165)
    assert models["compact"].service_s(1000, 200) == pytest.approx(0.052)


def test_an_unknown_pool_is_refused_with_the_names_there_are(examples: Path) -> None:
    with pytest.raises(KeyError, match="six, four"):
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
    assert "dynamic_batching" not in config
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
