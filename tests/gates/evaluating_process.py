"""A worker that evaluates one window: `python -m tests.gates.evaluating_process WINDOW [WHERE]`.

It says `ready`, waits for a line and runs the task. With WHERE, the name of a step, it says
`reached` there and goes no further, so that it can be killed at that very line.
"""

import signal
import sys
from collections.abc import Callable
from typing import Any

import django

django.setup()

from gates import tasks  # noqa: E402 -- models need Django
from gates.models import Watch  # noqa: E402
from gates.services import evaluation  # noqa: E402

#: The steps of an evaluation in their order, each with what runs right after it.
STEPS: dict[str, tuple[Any, str]] = {
    "message heard": (tasks, "evaluate"),
    "lease taken": (evaluation, "gather"),
    "case gathered": (evaluation, "judge_case"),
    "case judged": (evaluation, "_store"),
    "evaluation stored": (evaluation, "store_verdicts"),
    "verdicts stored": (evaluation, "store_case"),
    "case stored": (Watch, "save"),
}


def stop_before(owner: Any, name: str) -> None:
    def reached(*_args: object, **_named: object) -> None:
        print("reached", flush=True)
        signal.pause()

    stop: Callable[..., None] = reached
    setattr(owner, name, stop)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        stop_before(*STEPS[sys.argv[2]])
    print("ready", flush=True)
    sys.stdin.readline()
    tasks.evaluate_window(int(sys.argv[1]))
    print("done", flush=True)
