"""The story as a table, and its telling: one line a step, with its seconds."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click
from playwright.sync_api import Error as BrowserError

from orchid.cli.demo.check import aftermath, browser, decision, opening, site
from orchid.cli.demo.check.site import StepError
from orchid.cli.demo.check.story import Story

SHOTS = Path("build/screenshots")
VAR = Path("var/demo-check")


@dataclass(frozen=True)
class Step:
    """A step of the story; `play` asserts it and says what was measured."""

    number: str
    what: str
    play: Callable[[Story], str]


STEPS = (
    Step("1", "the edge activates generation 1", opening.edge_activates),
    Step("2", "recordings of a real Triton are ingested", opening.recordings_are_counted),
    Step("3", "traffic and traces come in and join", opening.traffic_is_joined),
    Step("4", "gates judge generation 1", opening.first_is_judged),
    Step("5", "CI proposes generation 2", decision.ci_proposes),
    Step("6a", "the product owner approves in a browser", decision.owner_decides),
    Step("6b", "the SRE approves", decision.second_approves),
    Step("7a", "publishing reaches the edge", decision.edge_follows),
    Step("7b", "gates judge generation 2", decision.second_passes),
    Step("8a", "the SRE rolls back in a browser", aftermath.sre_rolls_back),
    Step("8b", "what had begun ends as it began", aftermath.begun_ends_as_it_began),
    Step("8c", "the audit trail shows every act", aftermath.trail_shows_every_act),
)
NO_CHROMIUM = """FAILED  No Chromium on this machine, and a person's steps need a browser:
  apt-get install --no-install-recommends chromium"""
FAULTS = (StepError, BrowserError, click.ClickException, OSError)


def play(say: Callable[[str], None]) -> bool:
    """Tell the whole story; False at the first step that fails, which is named."""
    chromium = browser.executable()
    if chromium is None:
        say(NO_CHROMIUM)
        return False
    began = time.monotonic()
    with site.started(VAR.resolve()) as place, browser.opened(place, chromium, SHOTS) as windows:
        story = Story(place, windows)
        told = all(_told(step, story, say) for step in STEPS)
        say("stopping")
    say(f"{'the whole story holds' if told else 'FAILED'} ({time.monotonic() - began:.0f} s)")
    say(f"Screenshots: {SHOTS}. Logs: {VAR / 'log'}")
    return told


def _told(step: Step, story: Story, say: Callable[[str], None]) -> bool:
    began = time.monotonic()
    try:
        found = step.play(story)
    except FAULTS as fault:
        message = getattr(fault, "message", str(fault))
        say(f"FAILED  step {step.number}, {step.what}: {message}")
        return False
    say(f"{step.number:<3} {time.monotonic() - began:5.1f} s  {step.what}: {found}")
    return True
