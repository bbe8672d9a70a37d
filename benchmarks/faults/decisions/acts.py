"""What people do in a round: whatever the state of the product lets them do, picked by the dice."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.faults.decisions.judgement import pass_now
from benchmarks.faults.decisions.people import SHARES, SLUG, Answered, People, content

STAGE_WITHIN_S = 60.0
OPEN = ("running", "paused")


@dataclass(frozen=True)
class Act:
    """One decision that is prepared up to its last click."""

    name: str
    click: Callable[[], Answered]


class Story:
    """Prepares act after act. What it prepares may itself be hit; only the click is under fire."""

    def __init__(self, people: People, dice: random.Random) -> None:
        self._people, self._dice = people, dice
        self._contents = 0

    def next(self) -> Act:
        rollout = self._open_rollout()
        if rollout is None:
            may_go_back = self._live()["kind"] == "publish" and self._live()["number"] > 1
            return self._roll_back() if may_go_back and self._rarely(0.3) else self._publish()
        if rollout["state"] == "paused":
            return self._move(rollout, "resume") if self._rarely(0.7) else self._roll_back()
        is_last = rollout["stage_index"] == len(SHARES) - 1  # which completes by itself
        picked = self._dice.choice(["pause", "rollback"] + ["advance"] * (0 if is_last else 2))
        if picked == "advance":
            return self._advance(rollout)
        return self._move(rollout, "pause") if picked == "pause" else self._roll_back()

    def _publish(self) -> Act:
        """Draft, propose, submit and let everybody vote; the click publishes."""
        self._contents += 1
        document = content(2, f"{1000 + self._contents}ms")
        drafted = self._sure("ana", f"products/{SLUG}/generations", document=document, title="Next")
        asked = {"generation": drafted["generation"], "title": "Serve cheaper"}
        proposal = self._sure("ana", f"products/{SLUG}/proposals", **asked)
        path = f"proposals/{proposal['id']}"
        version = proposal["version"]
        proposal = self._sure("ana", f"{path}/submit", expected_version=version)
        for voter, role in (("ben", "product_owner"), ("dee", "sre")):
            if role in proposal["required"]:
                bound = self._people.look(voter, path)["bound_digest"]
                words = {"decision": "approve", "reason": "measured", "bound_digest": bound}
                self._sure(voter, f"{path}/vote", **words)
        seen = {"expected_version": self._people.look("dee", path)["version"]}
        return Act("publish", lambda: self._people.act("dee", f"{path}/publish", **seen))

    def _advance(self, rollout: dict[str, Any]) -> Act:
        """Wait for the stage's hold to end; then the worker and a person ask for the next one."""
        path = f"rollouts/{rollout['id']}"
        deadline = time.monotonic() + STAGE_WITHIN_S
        while time.monotonic() < deadline:
            seen = self._people.look("dee", path)
            if seen["state"] != "running" or (seen["stage_opened_at"] and not _held(seen)):
                break
            time.sleep(0.1)
        pass_now(rollout["id"])
        asked = {"expected_version": self._people.look("dee", path)["version"]}
        return Act("advance", lambda: self._people.act("dee", f"{path}/advance", **asked))

    def _move(self, rollout: dict[str, Any], move: str) -> Act:
        path = f"rollouts/{rollout['id']}/{move}"
        words = {"reason": f"to {move} under fire", "expected_version": rollout["version"]}
        return Act(move, lambda: self._people.act("dee", path, **words))

    def _roll_back(self) -> Act:
        path = f"products/{SLUG}/rollbacks"
        return Act("rollback", lambda: self._people.act("dee", path, reason="under fire"))

    def _open_rollout(self) -> dict[str, Any] | None:
        found = self._people.look("dee", f"rollouts?product={SLUG}")["items"]
        return next((rollout for rollout in found if rollout["state"] in OPEN), None)

    def _live(self) -> dict[str, Any]:
        newest: dict[str, Any] = self._people.look("dee", f"products/{SLUG}/publications")["items"][
            0
        ]
        return newest

    def _sure(self, name: str, path: str, **body: Any) -> dict[str, Any]:
        answer = self._people.act(name, path, **body)
        if not answer.done:
            raise RuntimeError(f"{name} could not prepare {path}: {answer.body}")
        return answer.body

    def _rarely(self, share: float) -> bool:
        return self._dice.random() < share


def _held(rollout: dict[str, Any]) -> bool:
    return any("hold" in blocker for blocker in rollout["blockers"])
