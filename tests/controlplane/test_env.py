"""Settings from the environment fail loudly and by name."""

import os
import re
import stat
from pathlib import Path

import pytest

from controlplane import env, sign_on


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


KEPT = {
    "ORCHID_KEEP_REQUESTS_DAYS": ("requests_days", 30, 7),
    "ORCHID_KEEP_STEPS_DAYS": ("steps_days", 35, 7),
    "ORCHID_KEEP_HOURS_DAYS": ("hours_days", 400, 7),
    "ORCHID_KEEP_RECEIPTS_DAYS": ("receipts_days", 2, 1),
    "ORCHID_DIMENSION_VALUES": ("values", 100, 1),
    "ORCHID_TENANTS": ("tenants", 50, 1),
}


@pytest.fixture
def unset(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in KEPT:
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


@pytest.mark.usefixtures("unset")
def test_what_came_in_is_kept_for_its_default_where_nothing_is_set() -> None:
    assert vars(env.ingest()) == {field: default for field, default, _ in KEPT.values()}


@pytest.mark.parametrize("name", KEPT)
def test_a_bound_of_ingest_is_taken_from_its_least_on(unset: pytest.MonkeyPatch, name: str) -> None:
    field, _, least = KEPT[name]
    others = {"ORCHID_KEEP_REQUESTS_DAYS": "7", "ORCHID_KEEP_STEPS_DAYS": "8"}
    wanted = str(least + 1) if name == "ORCHID_KEEP_STEPS_DAYS" else str(least)
    if name == "ORCHID_KEEP_HOURS_DAYS":
        wanted = "8"  # hours are never dropped before their steps
    for one, value in (others | {name: wanted}).items():
        unset.setenv(one, value)
    assert getattr(env.ingest(), field) == int(wanted)
    unset.setenv(name, str(least - 1))
    told = f"^{name} is {least - 1}; it must be at least {least}[.]$"
    with pytest.raises(env.EnvironmentVariableError, match=told):
        env.ingest()
    unset.setenv(name, "some")
    with pytest.raises(
        env.EnvironmentVariableError, match=f"^{name} is 'some'; it must be a whole"
    ):
        env.ingest()


@pytest.mark.parametrize(
    ("requests", "steps", "hours"), [("30", "30", "400"), ("30", "29", "400"), ("30", "90", "60")]
)
def test_steps_outlive_requests_and_hours_outlive_steps(
    unset: pytest.MonkeyPatch, requests: str, steps: str, hours: str
) -> None:
    unset.setenv("ORCHID_KEEP_REQUESTS_DAYS", requests)
    unset.setenv("ORCHID_KEEP_STEPS_DAYS", steps)
    unset.setenv("ORCHID_KEEP_HOURS_DAYS", hours)
    told = f"KEEP_STEPS_DAYS is {steps}; .*REQUESTS_DAYS \\({requests}\\).*HOURS_DAYS \\({hours}\\)"
    with pytest.raises(env.EnvironmentVariableError, match=told):
        env.ingest()


SOURCE = ("orchid", "controlplane", "accounts", "policies", "ingest", "gates", "releases")
VARIABLE = r"((?:ORCHID|DATABASE|DJANGO|BROKER|DEMO|AWS|XDG)_[A-Z0-9_]+)"
#: Django's own, which names the settings and is nothing that a site chooses.
NOT_A_SITES = {"DJANGO_SETTINGS_MODULE"}


def read_by_the_source() -> set[str]:
    """Every name of a variable that stands by itself in the source, in whichever process."""
    files = [file for folder in SOURCE for file in (env.ROOT / folder).rglob("*.py")]
    text = "\n".join(file.read_text() for file in files)
    return {*re.findall(rf'"{VARIABLE}"', text), sign_on.VARIABLE} - NOT_A_SITES


def test_the_reference_names_every_variable_that_is_read_and_no_other() -> None:
    told = set(
        re.findall(f"`{VARIABLE}`", (env.ROOT / "docs/reference/environment.md").read_text())
    )
    assert sorted(read_by_the_source() - told) == []
    assert sorted(told - read_by_the_source()) == []
