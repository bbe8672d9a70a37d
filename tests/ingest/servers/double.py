"""A Triton that answers from recordings, over HTTP or gRPC, and does as a test tells it."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import unquote

import grpc
from google.protobuf.json_format import ParseDict
from tritonclient.grpc import service_pb2, service_pb2_grpc

ROOT = Path(__file__).parents[3]
RUN1 = ROOT / "tests/data/triton/run1"
RECORDED = ROOT / "examples/recordings/run1"
MODELS = ("chain", "compact", "full", "full_stream", "premium", "router_bls")
TRACE = {"trace_level": ["TIMESTAMPS"], "trace_rate": "1", "trace_mode": "triton"}


def read(path: Path) -> Any:
    return json.loads(path.read_text())


@dataclass
class Triton:
    """What it says; a test changes any of it between two checks."""

    ready: bool = True
    index: list[dict[str, str]] = field(
        default_factory=lambda: read(RUN1 / "repository-index.json")
    )
    metadata: dict[str, Any] = field(
        default_factory=lambda: {m: read(RUN1 / f"metadata-{m}.json") for m in MODELS}
    )
    configs: dict[str, Any] = field(
        default_factory=lambda: {m: read(RUN1 / f"config-{m}.json") for m in MODELS}
    )
    statistics: dict[str, Any] = field(
        default_factory=lambda: read(RECORDED / "statistics-before.http.json")
    )
    metrics: bytes = b""
    trace: dict[str, Any] = field(default_factory=lambda: dict(TRACE))
    heeds_trace: bool = True
    #: By model: the error that its inferences end with.
    failing: dict[str, str] = field(default_factory=dict)
    #: Seconds that every answer takes.
    takes_s: float = 0.0
    inferences: list[str] = field(default_factory=list)
    trace_updates: list[Any] = field(default_factory=list)

    def update_trace(self, changes: dict[str, Any]) -> dict[str, Any]:
        self.trace_updates.append(changes)
        if self.heeds_trace:
            self.trace |= changes
        return self.trace

    def state_of(self, model: str) -> dict[str, Any]:
        return next(one for one in self.statistics["model_stats"] if one["name"] == model)

    def ended(self, model: str, success: int = 0, failed: int = 0) -> None:
        """Have so many more requests of the model ended."""
        stats = self.state_of(model)
        stats["inference_count"] += success
        stats["execution_count"] += success
        stats["inference_stats"]["success"]["count"] += success
        stats["inference_stats"]["fail"]["count"] += failed


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer(None)

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers.get("Content-Length") or 0)))

    def _answer(self, body: bytes | None) -> None:
        told: Triton = self.server.told  # type: ignore[attr-defined]
        time.sleep(told.takes_s)
        status, answer = http_answer(told, unquote(self.path), body)
        content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Silent."""


def http_answer(told: Triton, path: str, body: bytes | None) -> tuple[int, Any]:
    plain = {
        "/v2": read(RUN1 / "server-metadata.json"),
        "/v2/repository/index": told.index,
        "/v2/models/stats": told.statistics,
        "/metrics": told.metrics,
    }
    if path in ("/v2/health/live", "/v2/health/ready"):
        return (200 if path.endswith("live") or told.ready else 400), b""
    if path == "/v2/trace/setting":
        return 200, told.update_trace(json.loads(body)) if body else told.trace
    if path in plain:
        return 200, plain[path]
    model, *rest = path.removeprefix("/v2/models/").split("/")
    what = rest[-1] if rest else ""
    if what == "infer":
        return infer(told, model)
    if model not in told.metadata:
        return 400, {"error": f"Request for unknown model: '{model}' is not found"}
    return 200, told.configs[model] if what == "config" else told.metadata[model]


def infer(told: Triton, model: str) -> tuple[int, Any]:
    told.inferences.append(model)
    if model in told.failing:
        told.ended(model, failed=1)
        return 500, {"error": told.failing[model]}
    told.ended(model, success=1)
    return 200, {"model_name": model, "model_version": "1", "outputs": []}


@contextmanager
def over_http(told: Triton) -> Iterator[str]:
    """Its address while the block runs."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.told = told  # type: ignore[attr-defined]
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Servicer(service_pb2_grpc.GRPCInferenceServiceServicer):  # type: ignore[misc]
    """The same over gRPC, where numbers are text and defaults are left away."""

    def __init__(self, told: Triton) -> None:
        self.told = told

    def ServerLive(self, request: Any, context: Any) -> Any:
        return service_pb2.ServerLiveResponse(live=True)

    def ServerReady(self, request: Any, context: Any) -> Any:
        return service_pb2.ServerReadyResponse(ready=self.told.ready)

    def ServerMetadata(self, request: Any, context: Any) -> Any:
        return ParseDict(read(RUN1 / "server-metadata.json"), service_pb2.ServerMetadataResponse())

    def RepositoryIndex(self, request: Any, context: Any) -> Any:
        return ParseDict({"models": self.told.index}, service_pb2.RepositoryIndexResponse())

    def ModelMetadata(self, request: Any, context: Any) -> Any:
        return ParseDict(self.told.metadata[request.name], service_pb2.ModelMetadataResponse())

    def ModelConfig(self, request: Any, context: Any) -> Any:
        given = {"config": self.told.configs[request.name]}
        return ParseDict(given, service_pb2.ModelConfigResponse())

    def ModelStatistics(self, request: Any, context: Any) -> Any:
        return ParseDict(self.told.statistics, service_pb2.ModelStatisticsResponse())

    def TraceSetting(self, request: Any, context: Any) -> Any:
        if request.settings:
            level = {n: list(v.value) for n, v in request.settings.items()}
            flat = {n: v if n == "trace_level" else v[0] for n, v in level.items()}
            self.told.update_trace(flat)
        told = {n: {"value": v if isinstance(v, list) else [v]} for n, v in self.told.trace.items()}
        return ParseDict({"settings": told}, service_pb2.TraceSettingResponse())

    def ModelInfer(self, request: Any, context: Any) -> Any:
        status, answer = infer(self.told, request.model_name)
        if status != 200:
            context.abort(grpc.StatusCode.INTERNAL, answer["error"])
        return service_pb2.ModelInferResponse(model_name=request.model_name)


@contextmanager
def over_grpc(told: Triton) -> Iterator[str]:
    """Its address while the block runs."""
    with ThreadPoolExecutor(max_workers=4) as threads:
        server = grpc.server(threads)
        service_pb2_grpc.add_GRPCInferenceServiceServicer_to_server(Servicer(told), server)
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        try:
            yield f"grpc://127.0.0.1:{port}"
        finally:
            server.stop(0).wait()
