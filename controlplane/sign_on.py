"""Who may vouch for people: OpenID Connect providers, from one TOML file that fails loudly.

[[provider]]
id = "corp"                            # part of the address that the provider calls back
name = "Corp"                          # what the button says
issuer = "https://id.example.org"
client_id = "orchid"
client_secret_file = "corp.secret"     # beside this file, or an absolute path
domains = ["example.org"]              # whose verified e-mail addresses are let in; "*" is all
emails = ["guest@partner.example"]     # single addresses besides
join = true                            # whether somebody new gets an account, without a role
second_factor = false                  # whether the provider asked for one, so that we need not
"""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

VARIABLE = "ORCHID_SIGN_ON"
_STRINGS = ("id", "name", "issuer", "client_id", "client_secret_file")
_LISTS = ("domains", "emails")
_FLAGS = {"join": True, "second_factor": False}


class SignOnError(Exception):
    """The file can't be used; the text says where and why."""


@dataclass(frozen=True)
class Provider:
    """One provider, and whom of its people we take."""

    id: str
    name: str
    issuer: str
    client_id: str
    secret: str
    domains: tuple[str, ...]
    emails: tuple[str, ...]
    join: bool
    second_factor: bool

    def takes(self, email: str) -> bool:
        """Whether the rules let in a verified address."""
        address = email.lower()  # not folded: "straße.de" is another domain than "strasse.de"
        name, _, domain = address.rpartition("@")
        taken = address in self.emails or domain in self.domains or "*" in self.domains
        return bool(name) and taken


def read(path: Path) -> tuple[Provider, ...]:
    try:
        found = tomllib.loads(path.read_text())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SignOnError(f"{path} can't be read: {error}") from error
    rows = found.get("provider", [])
    if set(found) - {"provider"} or not isinstance(rows, list) or not rows:
        raise SignOnError(f"{path} must hold [[provider]] tables and nothing else.")
    providers = tuple(_provider(row, path) for row in rows)
    if len({one.id for one in providers}) < len(providers):
        raise SignOnError(f"{path} names two providers alike.")
    return providers


def _provider(row: Any, path: Path) -> Provider:
    where = f"{path}, provider {row.get('id', '?')}"
    unknown = set(row) - {*_STRINGS, *_LISTS, *_FLAGS}
    if unknown:
        raise SignOnError(f"{where}: {', '.join(sorted(unknown))} is not known.")
    for name in _STRINGS:
        if not isinstance(row.get(name), str) or not row[name]:
            raise SignOnError(f"{where}: {name} is missing.")
    if not re.fullmatch(r"[a-z0-9-]{1,40}", row["id"]):
        raise SignOnError(f"{where}: an id has small letters, digits and hyphens.")
    flags = {name: row.get(name, default) for name, default in _FLAGS.items()}
    if not all(isinstance(flag, bool) for flag in flags.values()):
        raise SignOnError(f"{where}: {' and '.join(_FLAGS)} are true or false.")
    domains, emails = (_folded(row.get(name, []), name, where) for name in _LISTS)
    if not domains and not emails:
        raise SignOnError(f'{where}: say whom it lets in: domains = ["example.org"], or ["*"].')
    return Provider(
        row["id"],
        row["name"],
        _issuer(row["issuer"], where),
        row["client_id"],
        _secret(path.parent / row["client_secret_file"], where),
        domains,
        emails,
        **flags,
    )


def _folded(given: Any, name: str, where: str) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(one, str) and one for one in given):
        raise SignOnError(f"{where}: {name} is a list of texts.")
    return tuple(one.lower() for one in given)


def _issuer(url: str, where: str) -> str:
    """Codes are exchanged with the issuer over TLS, or else on this very machine."""
    parts = urlsplit(url)
    local = parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost", "::1")
    if not local and parts.scheme != "https":
        raise SignOnError(f"{where}: issuer is {url!r}; it must begin with https://.")
    return url.rstrip("/")


def _secret(path: Path, where: str) -> str:
    try:
        found = path.read_text().strip()
    except OSError as error:
        raise SignOnError(f"{where}: client_secret_file can't be read: {error}") from error
    if not found:
        raise SignOnError(f"{where}: {path} is empty.")
    return found
