"""One face for Triton's two clients: the same questions, the same answers, the same two errors.

Every question has what is left of one deadline, so that a server that drips its answers costs a
worker no more than one that is dead. The HTTP client runs on gevent without patching anything: its
event loop begins at the first question, in the worker's own process, and is left idle between.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol
from urllib.parse import urlsplit

import numpy
from tritonclient.utils import InferenceServerException, triton_to_np_dtype

from ingest.models import TritonServer
from ingest.states import ServerProtocol
from orchid.formats.triton_config import Tensor

#: Seconds until a connection is given up, any one answer, and the first inference of a model, which
#: has more to do than the later ones.
CONNECT_S, ANSWER_S, WARM_UP_S = 1.0, 2.0, 5.0
#: The request id under which our own inferences stand in a server's traces.
WARM_UP_ID = "orchid-warm-up"
Json = Any


class NoAnswerError(Exception):
    """Nothing came back: refused, cut off, or not in time. The text says which."""


class RefusedError(Exception):
    """The server answered that it would not. `status` is HTTP's number or gRPC's word."""

    def __init__(self, status: str, text: str) -> None:
        super().__init__(text)
        self.status = status

    @property
    def is_of_the_caller(self) -> bool:
        """Whether the question was wrong: the model may be sound all the same."""
        return self.status in ("400", "404", "StatusCode.INVALID_ARGUMENT", "StatusCode.NOT_FOUND")


class Deadline:
    """What is left of the time that one check may take."""

    def __init__(self, seconds: float) -> None:
        self.ends = time.monotonic() + seconds

    def left(self, most: float) -> float:
        """Seconds for the next question; raises NoAnswerError when there are none."""
        left = min(self.ends - time.monotonic(), most)
        if left <= 0:
            raise NoAnswerError("its answers took longer than a check may take")
        return left


class Client(Protocol):
    """What a check asks. Settings are a mapping of names to text or lists of text."""

    def live(self) -> bool: ...

    def ready(self) -> bool: ...

    def about(self) -> Json: ...

    def index(self) -> list[dict[str, str]]: ...

    def metadata(self, model: str, version: str) -> Json: ...

    def config(self, model: str, version: str) -> Json: ...

    def statistics(self) -> Json: ...

    def trace_settings(self, changes: dict[str, Any] | None = None) -> dict[str, Any]: ...

    def infer_zeros(self, model: str, version: str, inputs: Sequence[Tensor]) -> None: ...

    def close(self) -> None: ...


def client_of(server: TritonServer, deadline: Deadline) -> Client:
    """The client of the server's own protocol."""
    if server.protocol == ServerProtocol.GRPC:
        return GrpcClient(server.grpc_url, deadline)
    return HttpClient(server.http_url, deadline)


def zeros(tensor: Tensor) -> numpy.ndarray[Any, Any]:
    """A tensor of nothing: any length becomes 1, text becomes an empty one."""
    shape = [1 if length < 0 else length for length in tensor.shape]
    if tensor.datatype == "BYTES":
        return numpy.full(shape, b"", dtype=numpy.object_)
    return numpy.zeros(shape, dtype=triton_to_np_dtype(tensor.datatype))


class HttpClient:
    """Triton's HTTP client, whose exceptions are those of whatever failed below it."""

    def __init__(self, url: str, deadline: Deadline) -> None:
        # gevent takes a tenth of a second to import, and only a worker that polls needs it.
        import gevent
        import gevent.ssl
        from tritonclient import http

        parts = urlsplit(url)
        self._http, self._timeout, self._deadline = http, gevent.Timeout, deadline
        self._client = http.InferenceServerClient(
            parts.netloc + parts.path.rstrip("/"),
            connection_timeout=CONNECT_S,
            network_timeout=WARM_UP_S,
            ssl=parts.scheme == "https",
            ssl_context_factory=gevent.ssl.create_default_context,
        )

    def _ask(
        self, question: Callable[..., Json], *given: Any, most: float | None = None, **named: Any
    ) -> Json:
        seconds = self._deadline.left(most or ANSWER_S)
        late = NoAnswerError(f"no answer within {most or ANSWER_S:g} s")
        try:
            with self._timeout(seconds, late):
                return question(*given, **named)
        except InferenceServerException as refused:
            raise RefusedError(str(refused.status()), refused.message()) from None
        except NoAnswerError:
            raise
        except Exception as failed:
            # The client lets through what sockets, its parser and its JSON reader raise.
            raise NoAnswerError(_in_words(failed)) from failed

    def live(self) -> bool:
        return bool(self._ask(self._client.is_server_live))

    def ready(self) -> bool:
        return bool(self._ask(self._client.is_server_ready))

    def about(self) -> Json:
        return self._ask(self._client.get_server_metadata)

    def index(self) -> list[dict[str, str]]:
        return _listed(self._ask(self._client.get_model_repository_index))

    def metadata(self, model: str, version: str) -> Json:
        return self._ask(self._client.get_model_metadata, model, version)

    def config(self, model: str, version: str) -> Json:
        return self._ask(self._client.get_model_config, model, version)

    def statistics(self) -> Json:
        return self._ask(self._client.get_inference_statistics)

    def trace_settings(self, changes: dict[str, Any] | None = None) -> dict[str, Any]:
        if changes is None:
            return dict(self._ask(self._client.get_trace_settings))
        return dict(self._ask(self._client.update_trace_settings, settings=changes))

    def infer_zeros(self, model: str, version: str, inputs: Sequence[Tensor]) -> None:
        filled = _filled(self._http, inputs)
        ask, infer = self._ask, self._client.infer
        ask(infer, model, filled, version, request_id=WARM_UP_ID, most=WARM_UP_S)

    def close(self) -> None:
        self._client.close()


class GrpcClient:
    """Triton's gRPC client; a decoupled model answers on a stream, which only this one has."""

    def __init__(self, address: str, deadline: Deadline) -> None:
        from tritonclient import grpc

        self._grpc, self._deadline = grpc, deadline
        secure = address.startswith("grpcs://")
        host = address.removeprefix("grpcs://").removeprefix("grpc://")
        self._client = grpc.InferenceServerClient(host, ssl=secure)

    def _ask(
        self, question: Callable[..., Json], *given: Any, most: float | None = None, **named: Any
    ) -> Json:
        seconds = self._deadline.left(most or ANSWER_S)
        try:
            return question(*given, client_timeout=seconds, **named)
        except InferenceServerException as failed:
            status, text = str(failed.status()), failed.message() or ""
            if status in ("StatusCode.UNAVAILABLE", "StatusCode.DEADLINE_EXCEEDED"):
                raise NoAnswerError(_grpc_words(status, text)) from None
            raise RefusedError(status, text) from None

    def live(self) -> bool:
        return bool(self._ask(self._client.is_server_live))

    def ready(self) -> bool:
        return bool(self._ask(self._client.is_server_ready))

    def about(self) -> Json:
        return self._ask(self._client.get_server_metadata, as_json=True)

    def index(self) -> list[dict[str, str]]:
        found = self._ask(self._client.get_model_repository_index, as_json=True)
        return _listed(found.get("models", []))

    def metadata(self, model: str, version: str) -> Json:
        return self._ask(self._client.get_model_metadata, model, version, as_json=True)

    def config(self, model: str, version: str) -> Json:
        return self._ask(self._client.get_model_config, model, version, as_json=True)

    def statistics(self) -> Json:
        return self._ask(self._client.get_inference_statistics, as_json=True)

    def trace_settings(self, changes: dict[str, Any] | None = None) -> dict[str, Any]:
        question = self._client.get_trace_settings
        given: dict[str, Any] = {}
        if changes is not None:
            question, given = self._client.update_trace_settings, {"settings": changes}
        found = self._ask(question, as_json=True, **given).get("settings", {})
        return {name: _flat(name, one.get("value", [])) for name, one in found.items()}

    def infer_zeros(self, model: str, version: str, inputs: Sequence[Tensor]) -> None:
        filled = _filled(self._grpc, inputs)
        ask, infer = self._ask, self._client.infer
        ask(infer, model, filled, version, request_id=WARM_UP_ID, most=WARM_UP_S)

    def close(self) -> None:
        self._client.close()


def _filled(library: Any, inputs: Sequence[Tensor]) -> list[Any]:
    filled = []
    for tensor in inputs:
        values = zeros(tensor)
        asked = library.InferInput(tensor.name, list(values.shape), tensor.datatype)
        asked.set_data_from_numpy(values)
        filled.append(asked)
    return filled


def _listed(found: Any) -> list[dict[str, str]]:
    return [dict(one) for one in found if isinstance(one, dict) and "name" in one]


def _flat(name: str, values: list[str]) -> Any:
    """As HTTP answers: only the level is a list."""
    return values if name == "trace_level" else ",".join(values)


def _in_words(failed: Exception) -> str:
    kind = type(failed).__name__
    if isinstance(failed, ConnectionRefusedError):
        return "nobody listens at its address"
    if isinstance(failed, TimeoutError):
        return "no answer in time"
    return f"{kind}: {str(failed)[:160]}" if str(failed) else kind


def _grpc_words(status: str, text: str) -> str:
    if "DEADLINE" in status:
        return "no answer in time"
    refused = "Connection refused" in text
    return "nobody listens at its address" if refused else f"unavailable: {text[:160]}"
