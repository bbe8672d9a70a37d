"""Settings from the environment fail loudly and by name."""

import os
import stat
from pathlib import Path

import pytest

from controlplane import env


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ORCHID_DEBUG", "yes"),
        ("ORCHID_SECURE_COOKIES", "true"),
        ("ORCHID_PORT", "web"),
        ("DATABASE_URL", "sqlite:///x"),
        ("DATABASE_URL", "postgresql://host:notaport/x"),
        ("DATABASE_URL", "postgresql://host"),
        ("ORCHID_DATABASE_AS", "root"),
    ],
)
def test_a_wrong_value_stops_the_start_and_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(env.EnvironmentVariableError, match=name):
        env.read()


def test_nothing_set_is_safe(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("ORCHID_", "DATABASE"))]:
        monkeypatch.delenv(name)
    found = env.read()
    assert found.debug is False
    assert found.database["user"] == "orchid_app"
    assert "*" not in found.allowed_hosts


@pytest.mark.parametrize(
    ("url", "secure"),
    [("http://127.0.0.1:8470", False), ("https://orchid.example", True), ("http://10.0.0.5", True)],
)
def test_cookies_travel_in_the_clear_on_this_machine_alone(
    monkeypatch: pytest.MonkeyPatch, url: str, secure: bool
) -> None:
    monkeypatch.setenv("ORCHID_URL", url)
    assert env.read().secure_cookies is secure


def test_the_owner_of_the_tables_is_another_role(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql:///orchid?host=/run/x&user=orchid_app")
    monkeypatch.setenv("DATABASE_OWNER_URL", "postgresql:///orchid?host=/run/x&user=orchid_owner")
    assert env.read().database == {"dbname": "orchid", "host": "/run/x", "user": "orchid_app"}
    monkeypatch.setenv("ORCHID_DATABASE_AS", "owner")
    assert env.read().database["user"] == "orchid_owner"


def test_the_secret_is_made_once_and_readable_by_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "secrets" / "key"
    made = env.secret_key(path)
    assert len(made) >= 50
    assert env.secret_key(path) == made
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in path.parent.iterdir()] == ["key"]


def test_a_pgmq_broker_gets_a_whole_connection_string() -> None:
    found = env.broker_options("pgmq://orchid_broker@%2Frun%2Forchid/orchid_broker")
    assert "host=/run/orchid" in found["conn_string"]
    assert found["init_extension"] is False
    assert "conn_string" not in env.broker_options("amqp://rabbit/")
