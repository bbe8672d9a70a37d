"""Secrets of one machine: made on the first run, readable by their owner alone, never committed."""

import os
import secrets
from pathlib import Path

DJANGO_KEY = "django-secret-key"


def ensure(var: Path) -> None:
    """Make the folders for secrets and signing keys, and Django's key. What exists is kept."""
    for folder in (var / "secrets", var / "keys"):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    keep(var / "secrets" / DJANGO_KEY, secrets.token_urlsafe(50))


def keep(path: Path, value: str) -> None:
    """Write a secret unless one is there. O_EXCL: of two first runs, one wins and both agree."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return
    with os.fdopen(handle, "w") as file:
        file.write(value)


def read(var: Path, name: str) -> str | None:
    """A secret by name (ci-token, edge-token ...), or None while it has not been issued."""
    path = var / "secrets" / name
    return path.read_text().strip() if path.exists() else None
