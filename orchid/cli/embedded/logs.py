"""Log files of the children: kept short, quoted in errors, followed on the console."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path


def rotate(log: Path) -> None:
    """Each run of the product has its own log; that of the run before is kept beside it."""
    if log.exists():
        log.replace(log.with_suffix(".log.1"))


def last_lines(log: Path, count: int = 15) -> str:
    if not log.exists():
        return "(empty)"
    return "\n".join(log.read_text(errors="replace").splitlines()[-count:])


@dataclass
class Follower:
    """Prints what is added to the logs, each line after the name of its child."""

    say: Callable[[str], None]
    offsets: dict[tuple[str, Path], int] = field(default_factory=dict)

    def follow(self, name: str, log: Path) -> None:
        """From here on; a child that starts again is followed already."""
        self.offsets.setdefault((name, log), log.stat().st_size if log.exists() else 0)

    def print_new(self) -> None:
        for (name, log), offset in self.offsets.items():
            if log.exists():
                self.offsets[name, log] = offset + self._print_from(name, log, offset)

    def _print_from(self, name: str, log: Path, offset: int) -> int:
        """Print the whole lines beyond the offset; returns how many bytes they were."""
        with log.open("rb") as file:
            file.seek(offset)
            whole, newline, _ = file.read().rpartition(b"\n")
        for line in whole.decode(errors="replace").splitlines() if newline else ():
            self.say(f"{name:>9} | {line}")
        return len(whole) + len(newline)
