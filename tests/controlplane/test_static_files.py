"""Front-end files come from our own folder or from pinned packages, and are never committed."""

import subprocess

import pytest
from django.contrib.staticfiles import finders
from django.test import Client

from controlplane.env import ROOT
from controlplane.staticfiles import packaged


@pytest.mark.parametrize("path", packaged())
def test_a_packaged_file_is_found_and_served(path: str) -> None:
    found = finders.find(path)
    assert isinstance(found, str)
    answer = Client().get(f"/static/{path}")
    assert answer.status_code == 200
    assert len(answer.content) == len((ROOT / found).read_bytes())


def test_our_own_files_are_served_and_revalidated() -> None:
    first = Client().get("/static/css/tokens.css")
    assert first["Content-Type"].startswith("text/css")
    again = Client().get("/static/css/tokens.css", headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("path", ["vendor/axe.min.js", "../manage.py", "vendor/plotly.js"])
def test_nothing_else_of_a_package_is_served(path: str) -> None:
    assert Client().get(f"/static/{path}").status_code == 404


def test_no_front_end_file_of_others_is_committed() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "static"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split()
    assert not [path for path in listed if ".min." in path or "vendor" in path]
    assert all((ROOT / path).stat().st_size < 20_000 for path in listed if (ROOT / path).exists())
