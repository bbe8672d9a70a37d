"""Where Triton can't run, the reason says what is missing and what to do about it."""

import platform
import sysconfig
from pathlib import Path

import pytest

from orchid.cli.triton import environment
from orchid.cli.triton.environment import TritonUnavailableError, built, probe


def test_another_processor_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    with pytest.raises(TritonUnavailableError, match="aarch64"):
        probe()


def test_an_old_or_foreign_c_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(platform, "libc_ver", lambda: ("glibc", "2.31"))
    with pytest.raises(TritonUnavailableError, match=r"glibc 2\.35 or newer; this is glibc 2\.31"):
        probe()
    monkeypatch.setattr(platform, "libc_ver", lambda: ("", ""))
    with pytest.raises(TritonUnavailableError, match="needs glibc"):
        probe()


def test_a_missing_libpython_shows_the_apt_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(platform, "libc_ver", lambda: ("glibc", "2.36"))
    monkeypatch.setattr(environment, "library_folders", lambda: [tmp_path])
    with pytest.raises(TritonUnavailableError) as refused:
        probe()
    assert f"apt-get install -y libpython{sysconfig.get_python_version()}" in str(refused.value)


def test_an_environment_that_was_never_built_says_how_to_build_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(environment, "probe", lambda: None)
    with pytest.raises(TritonUnavailableError, match="make triton"):
        built(tmp_path)
