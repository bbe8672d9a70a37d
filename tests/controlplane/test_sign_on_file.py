"""The file of providers says what is wrong with it, by provider and name."""

from pathlib import Path

import pytest

from controlplane import env, sign_on

SOUND = {
    "id": '"corp"',
    "name": '"Corp"',
    "issuer": '"https://id.example.org/"',
    "client_id": '"orchid"',
    "client_secret_file": '"corp.secret"',
    "domains": '["Example.org"]',
}


def written(folder: Path, **changed: str) -> Path:
    (folder / "corp.secret").write_text("hush\n")
    lines = [f"{name} = {value}" for name, value in (SOUND | changed).items() if value]
    path = folder / "sign-on.toml"
    path.write_text("\n".join(["[[provider]]", *lines]))
    return path


def test_a_sound_file_gives_its_providers(tmp_path: Path) -> None:
    (found,) = sign_on.read(written(tmp_path, emails='["guest@partner.test"]'))
    assert (found.id, found.issuer, found.secret) == ("corp", "https://id.example.org", "hush")
    assert (found.join, found.second_factor) == (True, False)
    taken = ["lia@EXAMPLE.org", "Guest@partner.test"]
    refused = ["lia@sub.example.org", "other@partner.test", "example.org", ""]
    assert [found.takes(one) for one in taken + refused] == [True] * 2 + [False] * 4


def test_a_domain_that_folds_to_one_of_ours_is_another(tmp_path: Path) -> None:
    (found,) = sign_on.read(written(tmp_path, domains='["strasse.example"]'))
    assert found.takes("lia@STRASSE.example")
    assert not found.takes("lia@stra\u00dfe.example")


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"id": '"Corp!"'}, "small letters"),
        ({"issuer": '"http://id.example.org"'}, "https://"),
        ({"client_id": ""}, "client_id is missing"),
        ({"client_secret_file": '"none"'}, "can't be read"),
        ({"domains": ""}, "whom it lets in"),
        ({"domains": '"example.org"'}, "list of texts"),
        ({"join": '"yes"'}, "true or false"),
        ({"secret": '"hush"'}, "secret is not known"),
    ],
)
def test_a_wrong_one_is_named(tmp_path: Path, changed: dict[str, str], words: str) -> None:
    with pytest.raises(sign_on.SignOnError, match="provider") as refused:
        sign_on.read(written(tmp_path, **changed))
    assert words in str(refused.value)


def test_two_providers_alike_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path)
    path.write_text(path.read_text() + "\n" + path.read_text())
    with pytest.raises(sign_on.SignOnError, match="alike"):
        sign_on.read(path)


def test_a_wrong_file_stops_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORCHID_SIGN_ON", str(written(tmp_path, domains="")))
    with pytest.raises(env.EnvironmentVariableError, match="ORCHID_SIGN_ON"):
        env.read()


@pytest.mark.parametrize(
    ("name", "value"),
    [("ORCHID_SECOND_FACTOR_ROLES", "boss"), ("ORCHID_CONFIRM_MINUTES", "0")],
)
def test_a_wrong_rule_stops_the_start(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(env.EnvironmentVariableError, match=name):
        env.read()
