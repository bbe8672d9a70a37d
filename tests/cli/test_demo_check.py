"""The check of the demo reads pages as a browser does, and says which step failed."""

from pathlib import Path
from typing import Any, cast

import pytest

from orchid.cli.demo.check import browser, steps
from orchid.cli.demo.check.doors import hidden_fields, words
from orchid.cli.demo.check.site import Site, StepError, free_ports
from orchid.cli.demo.check.steps import Step
from orchid.cli.demo.check.story import Story, expect

NOTHING = cast("Story", None)


def test_a_form_is_sent_with_what_its_page_hides() -> None:
    page = '<form><input type="hidden" name="version" value="3"><input name="reason"></form>'
    assert hidden_fields(page) == {"version": "3"}


def test_tags_and_line_breaks_are_no_words() -> None:
    assert words("<p>one\n <b>act</b></p>") == "one act"


def test_ports_are_all_different() -> None:
    assert len(set(free_ports(3))) == 3


def test_a_failed_step_is_named_with_what_was_found() -> None:
    said: list[str] = []

    def play(story: Story) -> str:
        expect(False, "cost is pass")
        return "never"

    assert not steps._told(Step("4", "gates judge", play), NOTHING, said.append)
    assert said == ["FAILED  step 4, gates judge: cost is pass"]


def test_without_chromium_nothing_starts_and_the_package_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(browser, "executable", lambda: None)
    said: list[str] = []
    assert not steps.play(said.append)
    assert "apt-get install" in said[0]


def test_waiting_ends_at_once_with_the_product(tmp_path: Path) -> None:
    class Ended:
        def poll(self) -> int:
            return 3

    log = tmp_path / "up.log"
    log.write_text("postgres did not come up\n")
    site = Site(tmp_path, "", "", log, cast("Any", Ended()))
    with pytest.raises(StepError, match="postgres did not come up"):
        site.until("an edge", 60, lambda: None)
