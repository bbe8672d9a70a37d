"""`orchid ingest watch`: a folder of trace files, delivered as they are written."""

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from orchid.cli.client import Api, Json
from orchid.cli.ingest.counting import counts_text, refusals, seen
from orchid.cli.ingest.delivering import send
from orchid.cli.ingest.memory import Memory
from orchid.cli.ingest.origin import Origin, origin_of, origin_options
from orchid.cli.ingest.parts import objects
from orchid.cli.ingest.runs import Followed, folders, follow
from orchid.cli.stop import Stop

#: Deliveries whose outcome is still asked for; a worker that is away shall not fill our memory.
MOST_OPEN = 1000


class Every(click.ParamType[float]):
    """A pause in seconds, as `2` or `2s`."""

    name = "seconds"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        try:
            pause = float(str(value).removesuffix("s"))
        except ValueError:
            pause = 0.0
        if not 0.1 <= pause <= 3600:
            self.fail(f"{value!r} is no pause from 0.1s to 3600s.", param, ctx)
        return pause


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@origin_options
@click.option("--every", type=Every(), default="2s", show_default=True, help="Between two looks.")
@click.option("--once", is_flag=True, help="Deliver what is there, and leave.")
@click.option(
    "--state",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where to note what was delivered. Default: in the user's state folder.",
)
def watch(
    folder: Path, every: float, once: bool, state: Path | None, anchor: str | None, **origin: Any
) -> None:
    """Deliver the trace files of FOLDER, and of each folder in it, as a server writes them.

    Each folder is one run of a server until its files are written over: then it is the next run.
    Stop it with Ctrl-C; started again it goes on where it was.
    """
    stop = Stop()
    api, where = Api(pause=stop.wait), origin_of(anchor_here=anchor, server_run=None, **origin)
    memory = Memory.of(folder, f"{api.url}\n{where.product}", state)
    watcher = Watcher(api, folder, where, memory, stop)
    if once:
        watcher.look()
        watcher.ask()
        raise SystemExit(3 if watcher.failed else 0)
    stop.at(signal.SIGINT, signal.SIGTERM)
    watcher.say(f"Watching {folder}, every {every:g} s. Ctrl-C stops.")
    while not stop.is_set():
        watcher.look()
        watcher.ask()
        stop.wait(every)
    watcher.say(f"Stopped. {watcher.parts} parts delivered, {len(watcher.open)} not counted yet.")


class Watcher:
    """Looks at a folder again and again; what goes wrong is said once and tried again."""

    def __init__(
        self,
        api: Api,
        root: Path,
        origin: Origin,
        memory: Memory,
        stop: Stop,
        say: Callable[[str], None] = lambda line: click.echo(line, err=True),
    ) -> None:
        self.api, self.root, self.origin = api, root, origin
        self.memory, self.stop, self.tell = memory, stop, say
        self.parts = 0
        self.failed = False
        self.open: list[Json] = []
        self._last_trouble = ""

    def say(self, line: str) -> None:
        self.tell(line)

    def look(self) -> None:
        """Deliver whatever whole objects are new since the last look."""
        self.failed = False
        try:
            for folder in folders(self.root):
                for file in follow(self.root, folder, self.memory, self.say):
                    self._deliver(file)
            self._last_trouble = ""
        except click.ClickException as error:
            self._trouble(error.format_message())
        except OSError as error:
            self._trouble(str(error))

    def _deliver(self, file: Followed) -> None:
        origin = Origin(**{**vars(self.origin), "server_run": file.note.run})
        with file.path.open("rb") as opened:
            opened.seek(file.note.sent)
            for part in objects(opened, growing=True):
                if self.stop.is_set():
                    return
                answer = send(self.api, file.path, "triton_trace", origin, part)
                file.note.sent = part.end
                self.memory.save()
                self._sent(file, answer, len(part.content))

    def _sent(self, file: Followed, answer: Json, size: int) -> None:
        self.parts += 1
        self.say(f"{file.note.run} {file.path.name}: {size} bytes delivered")
        if answer["status"] == "received" and len(self.open) < MOST_OPEN:
            self.open.append(answer)

    def ask(self) -> None:
        """Tell what became of what was delivered, as far as workers have come."""
        try:
            answers = [seen(self.api, one, self.origin.product) for one in self.open]
        except click.ClickException as error:
            self._trouble(error.format_message())
            return
        self.open = [one for one in answers if one["status"] == "received"]
        for one in answers:
            if one["status"] != "received":
                self._outcome(one)

    def _outcome(self, one: Json) -> None:
        place = f"{one['file']} from byte {max(0, one['offset'])}"
        if one["status"] == "set_aside":
            self.say(f"{place}: set aside: {one['reason']}")
            return
        self.say(f"{place}: {counts_text(one['counts'])}")
        for line in refusals({**one, "rejected": one.get("rejected") or []}):
            self.say(f"  {line}")

    def _trouble(self, text: str) -> None:
        self.failed = True
        if text != self._last_trouble and not self.stop.is_set():
            self.say(f"{text}\nTrying again.")
        self._last_trouble = text
