"""Where files are put: a folder, or a bucket of an S3-like store."""

import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol
from urllib.parse import quote, urlsplit

import click
import httpx

from orchid.cli.output import written
from orchid.cli.publish.sigv4 import Credentials, signed_headers

TRIES, PAUSE_S, TIMEOUT_S = 3, 0.5, 30.0
#: What a store says when it is busy or in trouble, and may take the same again.
PASSING = (429, 500, 502, 503, 504)


@dataclass(frozen=True)
class File:
    """One file: its bytes, and what whoever serves it should say of it."""

    path: str
    data: bytes
    content_type: str
    lasting: bool = False  # its name says its content, so a cache may keep it for ever

    @property
    def cache_control(self) -> str:
        return "public, max-age=31536000, immutable" if self.lasting else "no-cache"


class Sink(Protocol):
    """A place for files. A write is whole or not at all."""

    def read(self, path: str) -> bytes | None:
        """What lies there; None when nothing does. Raises click.ClickException."""

    def write(self, file: File) -> None:
        """Put the file there, over what lies there. Raises click.ClickException."""


class Folder:
    """A folder that a web server serves; tags and caching are that server's to set."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, path: str) -> bytes | None:
        try:
            return (self.folder / path).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unusable(error) from error

    def write(self, file: File) -> None:
        place = self.folder / file.path
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._unusable(error) from error
        written(file.data, place)

    def _unusable(self, error: OSError) -> click.ClickException:
        return click.ClickException(f"{self.folder} can't be used: {error.strerror}.")


class Bucket:
    """A bucket, or a part of one, of S3 or of a store that speaks its language."""

    def __init__(
        self,
        base: str,
        credentials: Credentials,
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        self.base, self.credentials, self.pause = base, credentials, pause

    def read(self, path: str) -> bytes | None:
        answer = self._sent("GET", path, {}, b"")
        if answer.status_code == 404:
            return None
        return self._good(answer).content

    def write(self, file: File) -> None:
        headers = {"content-type": file.content_type, "cache-control": file.cache_control}
        self._good(self._sent("PUT", file.path, headers, file.data))

    def _sent(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> httpx.Response:
        url = f"{self.base}/{quote(path)}"
        for left in reversed(range(TRIES)):
            now = datetime.now(UTC)
            signed = signed_headers(method, url, headers, body, self.credentials, now)
            try:
                answer = httpx.request(
                    method, url, headers=signed, content=body or None, timeout=TIMEOUT_S
                )
            except httpx.TransportError as error:
                if not left:
                    raise click.ClickException(f"{self.base} does not answer: {error}") from error
            else:
                if answer.status_code not in PASSING or not left:
                    return answer
            self.pause(PAUSE_S)
        raise AssertionError("unreachable: the last try returns or raises")

    def _good(self, answer: httpx.Response) -> httpx.Response:
        if answer.is_success:
            return answer
        said = re.findall(r"<(?:Code|Message)>([^<]{1,300})", answer.text)
        raise click.ClickException(
            f"{answer.request.method} {answer.request.url}: {answer.status_code}"
            f" {': '.join(said) or answer.reason_phrase}"
        )


def sink_of(target: str, environment: Mapping[str, str] = os.environ) -> Sink:
    """The place that `--to` names: a folder, or s3://bucket/prefix.

    Credentials, region and the address of a store that isn't AWS's come from the variables that
    every such tool reads: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION,
    AWS_ENDPOINT_URL.
    """
    if not target.startswith("s3://"):
        return Folder(Path(target))
    place = urlsplit(target)
    credentials = _credentials(environment)
    endpoint = environment.get("AWS_ENDPOINT_URL_S3") or environment.get("AWS_ENDPOINT_URL", "")
    host = f"https://{place.netloc}.s3.{credentials.region}.amazonaws.com"
    base = f"{endpoint.rstrip('/')}/{place.netloc}" if endpoint else host
    prefix = quote(place.path.strip("/"))
    return Bucket(f"{base}/{prefix}".rstrip("/"), credentials)


def _credentials(environment: Mapping[str, str]) -> Credentials:
    missing = [
        name for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY") if not environment.get(name)
    ]
    if missing:
        raise click.ClickException(f"{' and '.join(missing)} must be set to write to a bucket.")
    region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION") or "us-east-1"
    return Credentials(
        environment["AWS_ACCESS_KEY_ID"],
        environment["AWS_SECRET_ACCESS_KEY"],
        region,
        environment.get("AWS_SESSION_TOKEN", ""),
    )
