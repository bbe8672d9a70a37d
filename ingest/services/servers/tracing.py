"""The trace settings that are wanted of a server, and what came of asking for them.

Triton takes some settings with a 200 and changes nothing, so that only reading them back tells.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ingest.models import TritonServer
from ingest.services.servers.clients import Client, NoAnswerError, RefusedError
from ingest.services.servers.findings import Finding
from ingest.services.servers.manifest import Expected
from ingest.services.servers.observing import Observation

LEVEL = ["TIMESTAMPS"]


def wanted_rate(server: TritonServer, expected: Sequence[Expected]) -> int | None:
    """Every how many-th request is to be traced now; None leaves the server alone."""
    candidate = any(one.role == "candidate" for one in expected)
    if candidate and server.candidate_trace_rate is not None:
        return server.candidate_trace_rate
    return server.trace_rate


def bring_about(client: Client, seen: Observation, rate: int | None) -> list[Finding]:
    """Ask for the wanted settings where they differ; `seen.trace` is then what was read back."""
    if not seen.trace:
        return []
    if rate is not None and _missed(seen.trace, rate):
        try:
            client.trace_settings({"trace_rate": str(rate), "trace_level": LEVEL})
            seen.trace = client.trace_settings()
        except (NoAnswerError, RefusedError) as failed:
            seen.untold.append(f"trace settings: {str(failed)[:200]}")
    return list(_findings(seen.trace, rate))


def _missed(settings: Mapping[str, Any], rate: int) -> bool:
    return settings.get("trace_rate") != str(rate) or settings.get("trace_level") != LEVEL


def _findings(settings: Mapping[str, Any], rate: int | None) -> list[Finding]:
    found = []
    if rate is not None and _missed(settings, rate):
        found.append(
            Finding(
                "trace_ignored",
                "The server took the trace settings without an error and kept its own.",
                "Set them where the server is started (--trace-config).",
                expected=f"rate {rate}, level {', '.join(LEVEL)}",
                found=f"rate {settings.get('trace_rate')}, level {settings.get('trace_level')}",
            )
        )
    if "TENSORS" in settings.get("trace_level", []):
        found.append(
            Finding(
                "trace_holds_tensors",
                "The server writes tensors into its traces, and with them what people asked.",
                "Give the server a wanted trace rate here, which sets the level to TIMESTAMPS.",
                expected="TIMESTAMPS",
                found="TENSORS",
            )
        )
    if settings.get("trace_mode") == "opentelemetry" and rate is not None:
        found.append(
            Finding(
                "trace_rate_unproven",
                "In opentelemetry mode the server answers with the new rate; whether it follows it "
                "is not documented, and a request that brings a trace context is traced always.",
                "Compare the spans that arrive with what the server counts.",
                expected=f"rate {rate}",
                found=f"rate {settings.get('trace_rate')}, mode opentelemetry",
            )
        )
    return found


def flush(client: Client) -> dict[str, Any]:
    """Have the server write the traces it holds: any update does, also one that changes nothing."""
    settings = client.trace_settings()
    return client.trace_settings({"trace_rate": settings.get("trace_rate", "1")})
