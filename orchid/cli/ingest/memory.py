"""What a watcher has delivered, kept between its starts. Losing it costs work and no correctness:
what is delivered again is known by its content, and a run is named by its own first stamp."""

import hashlib
import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass
class Note:
    """One file: the run it belongs to, its first bytes, and how far it was delivered."""

    run: str
    head: str
    head_bytes: int
    sent: int = 0


@dataclass
class Run:
    """The run that a folder's files belong to by now, and the highest number among them."""

    name: str
    begins_ns: int
    begun_at: float
    reached: int


@dataclass
class Memory:
    path: Path
    files: dict[str, Note] = field(default_factory=dict)
    runs: dict[str, Run] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path, receiver: str, path: Path | None) -> "Memory":
        """What was noted of this folder and this receiver; nothing where the note can't be read."""
        memory = cls(path or _usual_place(folder, receiver))
        try:
            noted = json.loads(memory.path.read_text(encoding="utf-8"))
            memory.files = {name: Note(**note) for name, note in noted["files"].items()}
            memory.runs = {name: Run(**run) for name, run in noted["runs"].items()}
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            memory.files, memory.runs = {}, {}
        return memory

    def save(self) -> None:
        """In one go, so that a watcher that is killed leaves the old note or the new one."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        noted = {
            "files": {name: asdict(note) for name, note in self.files.items()},
            "runs": {name: asdict(run) for name, run in self.runs.items()},
        }
        fresh = self.path.with_name(f"{self.path.name}.new")
        fresh.write_text(json.dumps(noted, indent=1) + "\n", encoding="utf-8")
        fresh.replace(self.path)


def _usual_place(folder: Path, receiver: str) -> Path:
    home = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    name = hashlib.sha256(f"{folder.resolve()}\n{receiver}".encode()).hexdigest()[:16]
    return Path(home) / "orchid" / f"watch-{name}.json"
