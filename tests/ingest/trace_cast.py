"""Parts of trace files, brought in and counted, for the tests of what becomes of them."""

import itertools
import json
from typing import Any

from ingest.models import Batch, EngineAttempt
from ingest.services import SourceKey, accept, process
from policies.models import Product

#: Columns that tell when and under which number a row was stored, and not what it says.
OF_STORAGE = ("id", "source_id", "received_at")


class Bringer:
    """Brings files of server runs to one product's inbox, and counts each at once."""

    def __init__(self, product: Product) -> None:
        self.product = product
        self.numbers = itertools.count(1)

    def bring(self, body: bytes, run: str = "run") -> Batch:
        batch = self.stored(body, run)
        process(batch.pk)
        batch.refresh_from_db()
        return batch

    def stored(self, body: bytes, run: str = "run") -> Batch:
        """Only take it in; a worker is to come."""
        key = SourceKey("triton_trace", "triton", run)
        name = f"part-{next(self.numbers)}"
        return accept(self.product, key, name, "triton_trace", body)[0]

    def rows(self, run: str = "run") -> list[dict[str, Any]]:
        found = EngineAttempt.objects.filter(source__server_run=run).order_by("key").values()
        return [{k: v for k, v in row.items() if k not in OF_STORAGE} for row in found]

    def attempt(self, number: int, run: str = "run") -> EngineAttempt:
        return EngineAttempt.objects.get(source__server_run=run, engine_id=number)


def written(*objects: dict[str, Any]) -> bytes:
    return json.dumps(list(objects), separators=(",", ":"), ensure_ascii=False).encode()


def header(number: int, model: str = "m", **more: Any) -> dict[str, Any]:
    return {"id": number, "model_name": model, "model_version": 1, **more}


def stamp(number: int, name: str, ns: int) -> dict[str, Any]:
    return {"id": number, "timestamps": [{"name": name, "ns": ns}]}


def stamps(number: int, **times: int) -> list[dict[str, Any]]:
    return [stamp(number, name.upper(), ns) for name, ns in times.items()]


def execution(number: int, start: int, model: str = "m", **more: Any) -> list[dict[str, Any]]:
    """One that waited 10, computed 40 and took 60 in all."""
    return [
        stamp(number, "HTTP_RECV_START", start - 5),
        header(number, model, **more),
        *stamps(
            number,
            request_start=start,
            queue_start=start,
            compute_start=start + 10,
            compute_end=start + 50,
            infer_response_complete=start + 50,
            request_end=start + 60,
        ),
    ]
