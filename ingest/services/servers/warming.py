"""One inference of zeros a model before its manifest counts as ready.

READY says that a model was loaded. It does not say that an inference runs: a backend whose process
dies at the first one is READY too. So a model is tried once for each run of its server and each
configuration, and again while it fails.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from math import prod
from typing import Any

from ingest.models import TritonServer
from ingest.services.servers.clients import Client, NoAnswerError, RefusedError
from ingest.services.servers.observing import Observation, SeenModel
from ingest.states import WarmUp

#: Values in all inputs of a probe; a larger one would be work and not a question.
MOST_VALUES = 65_536
#: Probes in one check; the others come in the next ones.
MOST_AT_ONCE = 8
AGAIN_AFTER = timedelta(seconds=60)
Probe = dict[str, Any]


def why_not(server: TritonServer, model: SeenModel, seen: Observation) -> str:
    """Why a model is not tried; empty where it is."""
    config = model.config
    if config is None or not model.inputs:
        return "its inputs are not told"
    if config.sequence:
        return "it keeps state from request to request"
    if config.decoupled:
        return "it answers with a stream"
    if server.warm_up != WarmUp.ALL and _generates(model, seen.models):
        return "an answer of a language model costs money; allow it for this server"
    values = sum(prod(max(length, 1) for length in one.shape) for one in model.inputs)
    return "" if values <= MOST_VALUES else f"its smallest input has {values} values"


def _generates(model: SeenModel, models: Iterable[SeenModel]) -> bool:
    """Whether the model, or a step of it, runs on a language model backend."""
    steps = {model.name, *(model.config.steps if model.config else ())}
    return any(one.config.is_language_backend for one in models if one.name in steps and one.config)


def probe(
    client: Client,
    server: TritonServer,
    seen: Observation,
    wanted: Sequence[SeenModel],
    now: datetime,
) -> dict[str, Probe]:
    """What is known of each wanted model after this check, the new probes included."""
    if server.warm_up == WarmUp.OFF:
        return {}
    found: dict[str, Probe] = {}
    due: list[SeenModel] = []
    for model in wanted:
        known = server.probes.get(model.key)
        if reason := why_not(server, model, seen):
            found[model.key] = _told("left_out", reason, server.server_run, model, now)
        elif known and _holds(known, server.server_run, model, now):
            found[model.key] = known
        else:
            due.append(model)
    for model in due[:MOST_AT_ONCE]:
        outcome, text = _tried(client, model)
        found[model.key] = _told(outcome, text, server.server_run, model, now)
    return found


def _holds(known: Mapping[str, Any], run: str, model: SeenModel, now: datetime) -> bool:
    if (known["run"], known["config"]) != (run, _digest(model)):
        return False
    fresh = now - datetime.fromisoformat(known["at"]) < AGAIN_AFTER
    # One that did not answer in time may only have been slow to begin: it is tried at each check.
    return known["outcome"] in ("answered", "refused") or (known["outcome"] == "failed" and fresh)


def _tried(client: Client, model: SeenModel) -> tuple[str, str]:
    inputs = [one for one in model.inputs if one.name not in _optional(model)]
    try:
        client.infer_zeros(model.name, model.version, inputs)
    except NoAnswerError as missing:
        return "unanswered", str(missing)
    except RefusedError as refused:
        # Zeros that a model won't take prove nothing about it.
        outcome = "refused" if refused.is_of_the_caller else "failed"
        return outcome, str(refused)[:200]
    except (KeyError, TypeError, ValueError) as unknown:
        return "left_out", f"its inputs can't be made of zeros ({type(unknown).__name__})"
    return "answered", ""


def _optional(model: SeenModel) -> tuple[str, ...]:
    return model.config.optional_inputs if model.config else ()


def _digest(model: SeenModel) -> str:
    return model.config.digest if model.config else ""


def _told(outcome: str, text: str, run: str, model: SeenModel, now: datetime) -> Probe:
    return {
        "outcome": outcome,
        "text": text,
        "run": run,
        "config": _digest(model),
        "at": now.isoformat(),
    }
