"""Front-end files that arrive inside pinned Python packages, so that none is committed here."""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage, Storage


def packaged() -> dict[str, Path]:
    """Static path -> file inside an installed package."""
    htmx = Path(str(files("django_htmx"))) / "static" / "django_htmx"
    plotly = Path(str(files("plotly"))) / "package_data" / "plotly.min.js"
    return {
        "vendor/htmx.min.js": htmx / "htmx-2.min.js",
        "vendor/htmx-sse.min.js": htmx / "ext" / "hx-sse-2.min.js",
        "vendor/plotly.min.js": plotly,
    }


class PackagedFinder(BaseFinder):
    """Finds exactly the files named above; nothing else of those packages is served."""

    def check(self, **kwargs: Any) -> list[Any]:
        return []

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        found = packaged().get(path)
        if find_all:
            return [str(found)] if found else []
        return str(found) if found else []

    def list(self, ignore_patterns: Any) -> Iterator[tuple[str, Storage]]:
        for path, file in packaged().items():
            yield path, _OneFile(file)


class _OneFile(FileSystemStorage):
    """A storage that maps any name to one file, which is what a finder's listing must give."""

    def __init__(self, file: Path) -> None:
        super().__init__(location=str(file.parent))
        self._file = file

    def path(self, name: str) -> str:
        return str(self._file)
