"""The supervisor over real small processes: start, restart, stop, and nothing left in any case."""

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from orchid.cli.embedded import lock
from orchid.cli.embedded.logs import Follower
from orchid.cli.embedded.postgres import wait_until
from orchid.cli.embedded.process import Child
from orchid.cli.embedded.supervisor import StartError, StopAsked, Supervisor
from orchid.cli.stop import Stop
from tests.cli.embedded.parent import parent_process

#: On a machine that is short of everything.
PATIENCE_S = 60.0
SLEEPER = "import signal, sys; print('up', flush=True); signal.pause()"


def sleeper(name: str, code: str = SLEEPER, ready: Callable[[], bool] | None = None) -> Child:
    return Child(name, [sys.executable, "-c", code], ready=ready, ready_within_s=PATIENCE_S)


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def is_dead(pid: int) -> bool:
    return not is_alive(pid)


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def supervisor(tmp_path: Path, said: list[str]) -> Iterator[Supervisor]:
    made = Supervisor(tmp_path, said.append, Stop(), "http://127.0.0.1:1")
    yield made
    made.stop_all()


@contextmanager
def watching(supervisor: Supervisor, meanwhile: Callable[[], None]) -> Iterator[None]:
    """Watch in this thread (children live with the thread that forked them) while another acts."""
    failed: list[BaseException] = []

    def act() -> None:
        try:
            meanwhile()
        except BaseException as error:
            failed.append(error)
        finally:
            supervisor.stop.set()

    thread = threading.Thread(target=act)
    thread.start()
    supervisor.watch()
    thread.join()
    if failed:
        raise failed[0]
    yield


def test_children_are_waited_for_and_the_status_file_names_them(
    supervisor: Supervisor, tmp_path: Path
) -> None:
    log = tmp_path / "log" / "one.log"
    supervisor.start(sleeper("one", ready=lambda: "up" in log.read_text()))
    status = json.loads((tmp_path / "run" / "up.json").read_text())
    assert status["pid"] == os.getpid()
    assert status["url"] == "http://127.0.0.1:1"
    [child] = status["children"]
    assert child["name"] == "one"
    assert is_alive(child["pid"])


def test_a_child_that_dies_alone_is_started_again_and_its_sibling_is_left_in_peace(
    supervisor: Supervisor, said: list[str]
) -> None:
    supervisor.start(sleeper("one"), sleeper("two"))
    one, two = supervisor.running
    first, sibling = one.process.pid, two.process.pid

    def kill_and_wait() -> None:
        os.kill(first, signal.SIGKILL)
        wait_until(lambda: one.restarts == 1, PATIENCE_S, "not started again")

    with watching(supervisor, kill_and_wait):
        assert is_alive(one.process.pid)
        assert one.process.pid != first
        assert two.process.pid == sibling
    assert any("one ended (-9)" in line for line in said)


def test_a_child_that_keeps_dying_is_given_longer_and_longer_pauses(
    supervisor: Supervisor, said: list[str]
) -> None:
    supervisor.start(sleeper("bad", "raise SystemExit(3)"))
    [bad] = supervisor.running
    with watching(supervisor, lambda: wait_until(lambda: bad.restarts >= 2, PATIENCE_S, "none")):
        pauses = [line.partition("again in ")[2] for line in said if "bad ended (3)" in line]
    assert [pause.partition(",")[0] for pause in pauses][:2] == ["0.5 s", "1 s"]


def test_a_child_that_runs_once_and_succeeds_is_not_started_again(supervisor: Supervisor) -> None:
    supervisor.start(Child("once", [sys.executable, "-c", ""], once=True), sleeper("other"))
    once, other = supervisor.running
    once.process.wait(PATIENCE_S)
    os.kill(other.process.pid, signal.SIGKILL)  # its restart shows that the loop has looked at both
    with watching(supervisor, lambda: wait_until(lambda: other.restarts == 1, PATIENCE_S, "none")):
        assert once.restarts == 0


def test_all_stop_in_reverse_order_and_a_deaf_one_is_killed(
    supervisor: Supervisor, said: list[str], tmp_path: Path
) -> None:
    log = tmp_path / "log" / "deaf.log"
    deaf = Child(
        "deaf",
        [sys.executable, "-c", "import signal; signal.signal(15, signal.SIG_IGN);" + SLEEPER],
        ready=lambda: "up" in log.read_text(),
        stop_within_s=0.3,
    )
    supervisor.start(sleeper("first"))
    supervisor.start(deaf)
    pids = [one.process.pid for one in supervisor.running]
    supervisor.stop_all()
    assert [line for line in said if "stopping" in line] == ["stopping deaf", "stopping first"]
    assert not any(is_alive(pid) for pid in pids)
    assert not (tmp_path / "run" / "up.json").exists()


def test_what_a_dead_child_leaves_in_its_group_is_swept_away(
    supervisor: Supervisor, tmp_path: Path
) -> None:
    start = f"subprocess.Popen([sys.executable, '-c', {SLEEPER!r}])"
    code = f"import subprocess, sys; print({start}.pid, flush=True); {SLEEPER}"
    log = tmp_path / "log" / "parent.log"
    supervisor.start(sleeper("parent", code, ready=lambda: log.read_text().count("\n") == 3))
    grandchild = int(log.read_text().split()[0])
    assert is_alive(grandchild)
    supervisor.stop_all()
    wait_until(lambda: not is_alive(grandchild), PATIENCE_S, "the grandchild is left")


def test_a_child_that_ends_before_it_is_ready_is_reported_with_the_end_of_its_log(
    supervisor: Supervisor,
) -> None:
    bad = sleeper("bad", "raise SystemExit('no port for me')", ready=lambda: False)
    with pytest.raises(StartError, match=r"(?s)bad ended with exit code 1.*no port for me"):
        supervisor.start(bad)


def test_a_step_that_fails_stops_the_start(supervisor: Supervisor) -> None:
    with pytest.raises(StartError, match=r"(?s)migrate failed with exit code 1.*no such table"):
        supervisor.run_once(sleeper("migrate", "raise SystemExit('no such table')"))


def test_a_stop_asked_for_while_something_starts_is_heard(supervisor: Supervisor) -> None:
    supervisor.stop.set()
    with pytest.raises(StopAsked):
        supervisor.start(sleeper("slow", ready=lambda: False))


PARENT = f"""
import sys
from pathlib import Path
from orchid.cli.embedded import lock
from orchid.cli.embedded.process import Child
from orchid.cli.embedded.supervisor import Supervisor
from orchid.cli.stop import Stop
var = Path(sys.argv[1])
with lock.held(var):
    supervisor = Supervisor(var, lambda line: None, Stop())
    supervisor.start(*(Child(name, [sys.executable, "-c", {SLEEPER!r}]) for name in "ab"))
    print("ready", flush=True)
    supervisor.watch()
"""


def test_killing_the_supervisor_ends_its_children_and_frees_the_folder(tmp_path: Path) -> None:
    with parent_process(PARENT, tmp_path) as (parent, first_line):
        assert first_line == "ready"
        with pytest.raises(lock.AlreadyRunningError, match=f"process {parent.pid}"):
            lock.held(tmp_path).__enter__()
        children = json.loads((tmp_path / "run" / "up.json").read_text())["children"]
    for child in children:
        wait_until(partial(is_dead, child["pid"]), PATIENCE_S, "a child outlives its parent")
    with lock.held(tmp_path):
        pass


def test_verbose_shows_whole_new_lines_with_the_name_of_their_child(tmp_path: Path) -> None:
    log, seen = tmp_path / "web.log", list[str]()
    log.write_text("of an earlier run\n")
    follower = Follower(seen.append)
    follower.follow("web", log)
    with log.open("a") as file:
        file.write("one\ntw")
    follower.print_new()
    with log.open("a") as file:
        file.write("o\n")
    follower.print_new()
    assert [line.strip() for line in seen] == ["web | one", "web | two"]
