"""Front-end files that arrive inside pinned Python packages, so that none is committed here."""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage, Storage
from django.http import HttpRequest, HttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import StaticFile


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


class StaticFiles(WhiteNoiseMiddleware):  # type: ignore[misc]
    """WhiteNoise, answering with whole bodies.

    Its own file responses are synchronous iterators, which an ASGI server must drain first, with
    a warning each. Ours are small, but for Plotly's bundle.
    """

    @staticmethod
    def serve(static_file: StaticFile, request: HttpRequest) -> HttpResponse:
        found = static_file.get_response(request.method, request.META)
        body = found.file.read() if found.file else b""
        response = HttpResponse(body, status=int(found.status))
        del response["content-type"]
        for name, value in found.headers:
            response[name] = value
        if found.file:
            found.file.close()
        return response
