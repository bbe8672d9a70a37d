"""Where a server is set otherwise than the document says, as far as its configuration shows it.

The table of keys is docs/reference/settings.md. Only keys that the document gives are compared: a
default is nobody's decision.
"""

from collections.abc import Iterator

from ingest.services.servers.findings import Finding
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.scheduling import RouteScheduling
from orchid.formats.triton_config import ModelConfig

ALIGN = (
    "Set the server as the document says and load the model again, or publish what it runs with."
)
Told = tuple[str, str, str, str]  # key, setting, what the document says, what the server says


def drift(document: PolicyDocument, route: str, config: ModelConfig) -> list[Finding]:
    """Every setting of the route's server that the document contradicts."""
    scheduling = document.scheduling.routes.get(route)
    told = [
        *(_scheduling(route, scheduling, config) if scheduling else ()),
        *_queue(document, config),
        *_model(document, route, config),
    ]
    return [
        Finding(
            code="drift",
            model=config.name,
            text=f"{key} is {expected} and {setting} is {found}.",
            next=ALIGN,
            expected=expected,
            found=found,
        )
        for key, setting, expected, found in told
    ]


def _scheduling(route: str, wanted: RouteScheduling, config: ModelConfig) -> Iterator[Told]:
    key = f"scheduling.routes.{route}"
    given = wanted.model_fields_set
    if "mode" in given and (found := mode_of(config)) != wanted.mode:
        yield f"{key}.mode", "its batching", wanted.mode, found
    # A batch of 0 is one request at a time, which is a batch of 1.
    if wanted.max_batch is not None and wanted.max_batch != max(config.max_batch_size, 1):
        size = str(config.max_batch_size)
        yield f"{key}.max_batch", "max_batch_size", str(wanted.max_batch), size
    if wanted.max_delay_ms is not None and wanted.max_delay_ms * 1000 != config.max_delay_us:
        setting, found = "max_queue_delay_microseconds", str(config.max_delay_us)
        yield f"{key}.max_delay", setting, f"{wanted.max_delay_ms} ms", found


def mode_of(config: ModelConfig) -> str:
    """How the server batches: by itself where the backend schedules tokens."""
    if config.is_language_backend:
        return "continuous"
    return "dynamic" if config.dynamic_batching else "static"


def _queue(document: PolicyDocument, config: ModelConfig) -> Iterator[Told]:
    queue = document.admission.queue
    if "weights" in queue.model_fields_set and config.priority_levels:
        # Strict priority by one number is no weighted order.
        levels = f"{config.priority_levels} levels"
        yield "admission.queue.weights", "priority_levels", "a weighted order", levels
    age_ms = queue.age_bound_ms
    if age_ms and config.queue_timeout_us and config.queue_timeout_us < age_ms * 1000:
        # The server would drop what the edge lets go first.
        setting = "default_timeout_microseconds"
        yield "admission.queue.age_bound", setting, f"{age_ms} ms", str(config.queue_timeout_us)


def _model(document: PolicyDocument, route: str, config: ModelConfig) -> Iterator[Told]:
    model = document.models[route]
    key = f"models.{route}"
    if model.streaming == "incremental" and not config.decoupled:
        yield f"{key}.streaming", "decoupled", "incremental", "false"
    if model.cacheable is None and config.response_cache:
        # Its cache is keyed by the inputs alone: tenants would share answers.
        yield f"{key}.cacheable", "response_cache", "not given, so no answer is kept", "on"
    at_once = config.instances * max(config.max_batch_size, 1)
    if model.max_sequences is not None and at_once > model.max_sequences:
        setting = "instance_group x max_batch_size"
        yield f"{key}.max_sequences", setting, str(model.max_sequences), str(at_once)
