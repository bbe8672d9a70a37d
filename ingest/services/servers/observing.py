"""One look at a server: everything that it says of itself, and nothing of ours.

No database and no judgement here. What a server does not tell is a line of `untold`, so that a
part that fails costs nothing but itself.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx
import msgspec

from ingest.models import TritonServer
from ingest.services.servers.clients import (
    ANSWER_S,
    CONNECT_S,
    Client,
    Deadline,
    NoAnswerError,
    RefusedError,
    client_of,
)
from ingest.states import ServerKind
from orchid.formats import engine_metrics, prometheus, triton_config, triton_statistics
from orchid.formats.engine_metrics import EngineFigure
from orchid.formats.reading import UnreadableError
from orchid.formats.triton_config import ModelConfig, Tensor

#: Seconds that all questions of one check may take together.
CHECK_S = 8.0
#: Models whose configuration is asked for; a server with more is told so.
MOST_MODELS = 64
MOST_METRICS_BYTES = 4 * 1024 * 1024
Answer = TypeVar("Answer")


class SeenModel(msgspec.Struct, frozen=True):
    """One version of a model as the server tells it. `config` is None where it tells none."""

    name: str
    version: str
    state: str
    reason: str = ""
    shapes: str = ""
    inputs: tuple[Tensor, ...] = ()
    config: ModelConfig | None = None

    @property
    def key(self) -> str:
        return f"{self.name}:{self.version}"

    @property
    def ready(self) -> bool:
        return self.state == "READY"


@dataclass
class Observation:
    """What one look found. `no_answer` says why there is nothing, empty where there is."""

    live: bool = False
    ready: bool = False
    no_answer: str = ""
    answered_in_ms: float | None = None
    about: str = ""
    models: list[SeenModel] = field(default_factory=list)
    #: Whether the server told which models it has; without that nothing is missing.
    told_models: bool = False
    figures: list[EngineFigure] = field(default_factory=list)
    trace: dict[str, Any] = field(default_factory=dict)
    untold: list[str] = field(default_factory=list)
    #: Some answer took longer than any may.
    overdue: bool = False

    def try_to(self, what: str, ask: Callable[[], Answer]) -> Answer | None:
        """The answer, or None with a line that says what is missing and why."""
        try:
            return ask()
        except NoAnswerError as missing:
            self.overdue = True
            self.untold.append(f"{what}: {missing}")
        except (RefusedError, UnreadableError) as refused:
            self.untold.append(f"{what}: {str(refused)[:200]}")
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as garbled:
            self.untold.append(f"{what}: an answer of another shape ({type(garbled).__name__})")
        return None


def observe(server: TritonServer, client: Client | None, deadline: Deadline) -> Observation:
    """Ask a server everything; `client` is None where only its metrics have an address."""
    seen = Observation()
    if client is not None:
        _ask_health(seen, client)
        if seen.no_answer:
            return seen
        if seen.live:
            _ask_models(seen, client)
            found = seen.try_to("statistics", lambda: _statistics(client))
            seen.figures += found or []
            seen.trace = seen.try_to("trace settings", client.trace_settings) or {}
    if server.metrics_url:
        _ask_metrics(seen, server, deadline)
    return seen


def opened(server: TritonServer, deadline: Deadline) -> Client | None:
    """A client for the server; None for one that only shows its metrics."""
    return None if server.kind == ServerKind.VLLM else client_of(server, deadline)


def _ask_health(seen: Observation, client: Client) -> None:
    begun = time.perf_counter()
    try:
        seen.live = client.live()
        seen.answered_in_ms = round((time.perf_counter() - begun) * 1e3, 3)
        seen.ready = client.ready()
    except (NoAnswerError, RefusedError) as missing:
        seen.no_answer = str(missing)[:200]
        return
    about = seen.try_to("its name and version", client.about)
    if isinstance(about, Mapping):
        seen.about = f"{about.get('name', '')} {about.get('version', '')}".strip()[:128]


def _ask_models(seen: Observation, client: Client) -> None:
    index = seen.try_to("repository index", client.index)
    seen.told_models = index is not None
    index = index or []
    if len(index) > MOST_MODELS:
        seen.untold.append(f"{len(index) - MOST_MODELS} models beyond the first {MOST_MODELS}")
    for row in index[:MOST_MODELS]:
        name, version = str(row["name"])[:200], str(row.get("version", ""))[:50]
        state = str(row.get("state", "UNAVAILABLE"))[:40]
        model = SeenModel(name, version, state, str(row.get("reason", ""))[:200])
        seen.models.append(_described(seen, client, model) if model.ready else model)


def _described(seen: Observation, client: Client, model: SeenModel) -> SeenModel:
    """The model with its metadata and configuration, as far as they are told."""
    name, version = model.name, model.version

    def metadata() -> triton_config.ModelMetadata:
        return triton_config.read_metadata(client.metadata(name, version))

    def config() -> ModelConfig:
        return triton_config.read_config(client.config(name, version))

    known = seen.try_to(f"metadata of {name}", metadata)
    configured = seen.try_to(f"configuration of {name}", config)
    if known is not None:
        model = msgspec.structs.replace(model, shapes=known.shapes[:2000], inputs=known.inputs)
    return msgspec.structs.replace(model, config=configured)


def _statistics(client: Client) -> list[EngineFigure]:
    found = triton_statistics.read(msgspec.json.encode(client.statistics()))
    return engine_metrics.of_statistics(found.records)


def _ask_metrics(seen: Observation, server: TritonServer, deadline: Deadline) -> None:
    begun = time.perf_counter()
    text = seen.try_to("metrics", lambda: fetched(server.metrics_url, deadline))
    if server.kind == ServerKind.VLLM:
        # All it shows is its metrics, so that they are its health too.
        seen.live = seen.ready = text is not None
        seen.no_answer = "" if text is not None else seen.untold[-1].removeprefix("metrics: ")
        seen.answered_in_ms = round((time.perf_counter() - begun) * 1e3, 3)
    if text is not None:
        reading = prometheus.read(text)
        seen.figures += engine_metrics.of_samples(reading.records)
        if reading.lost:
            lines = f"{len(reading.lost)} lines are no exposition, the first is line"
            seen.untold.append(f"metrics: {lines} {reading.lost[0].line}")


def fetched(url: str, deadline: Deadline) -> bytes:
    """The body of a scrape, up to a bound; redirects are not followed."""
    timeout = httpx.Timeout(deadline.left(ANSWER_S), connect=deadline.left(CONNECT_S))
    body = bytearray()
    try:
        with httpx.stream("GET", url, timeout=timeout, trust_env=False) as answer:
            if answer.status_code != 200:
                raise RefusedError(str(answer.status_code), f"answers {answer.status_code}")
            for piece in answer.iter_bytes():
                deadline.left(ANSWER_S)
                body += piece
                if len(body) > MOST_METRICS_BYTES:
                    raise RefusedError("too_large", f"has over {MOST_METRICS_BYTES} bytes")
    except httpx.TimeoutException:
        raise NoAnswerError(f"no answer within {ANSWER_S:g} s") from None
    except httpx.ConnectError:
        raise NoAnswerError("nobody listens at its address") from None
    except httpx.HTTPError as failed:
        raise NoAnswerError(type(failed).__name__) from failed
    return bytes(body)
