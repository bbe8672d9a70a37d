"""The demo's second generation under judgement: standard tenants fall back to the compact route."""

from collections import Counter
from decimal import Decimal
from typing import Any

from accounts.guard import SYSTEM_ACTOR
from gates.services import push_evidence
from ingest.services.rollups import append_deltas
from orchid.engine.document.canonical import manifest_digest
from orchid.engine.document.parse import parse
from orchid.engine.histogram import bucket_of
from orchid.engine.rollup import Figure, RollupKey, Sums
from policies.selectors import document_of
from tests.gates.gates_cast import EXAMPLES, STEP, Judged, given

ROUTES = ("full", "compact")


def with_fallback(**gates: Any) -> dict[str, Any]:
    """Generation 2 of the demo, judged as `given` judges generation 1; every task falls back."""
    document: dict[str, Any] = parse((EXAMPLES / "generation-2.yaml").read_bytes(), "yaml")
    first = given(**gates)
    document["segments"] = {
        "dimensions": first["segments"]["dimensions"],
        "floors": [{"where": {}, "min_utility": 0.8}],
    }
    document["gates"] = first["gates"] | {"segments": []}
    # So cheap that no gate fails by its cost alone.
    document["fleet"] |= {"device_usd_per_h": "0.001", "overhead_usd_per_h": "0"}
    document["fallback"] = [{"from": "full", "to": "compact", "where": {}}]
    return document


class Falling(Judged):
    """A product whose requests are served by two routes."""

    def __init__(self, document: dict[str, Any] | None = None, **changes: Any) -> None:
        super().__init__(document or with_fallback(), evidence=False, **changes)
        models = document_of(self.digest).models
        self.manifests = {route: manifest_digest(models[route]) for route in ROUTES}
        for route, mean in zip(ROUTES, (0.93, 0.9), strict=True):
            cell = self.cell(route=route, manifest=self.manifests[route], mean=mean)
            push_evidence(SYSTEM_ACTOR, self.product, cell)

    def served(
        self,
        n: int,
        *,
        route: str = "full",
        task: str = "assistant",
        minute: int = -1,
        failed: int = 0,
        figures: dict[str, Figure] | None = None,
        **counters: int,
    ) -> None:
        """`n` requests of a task in one minute by one route, `failed` of them without an answer."""
        dims = {"task": task, "tenant_class": "standard"}
        key = RollupKey(
            self.now + minute * STEP,
            1,
            self.digest,
            "incumbent",
            tuple(sorted(dims.items())),
            route,
            self.manifests[route],
        )
        good = n - failed
        known = {
            **dict.fromkeys(("offered", "eligible", "admitted", "latency_counted"), n),
            **dict.fromkeys(("completed", "technical_success"), good),
            "failed": failed,
            "fallback": n if route == "compact" else 0,
        }
        sums = Sums(
            Counter(known | counters),
            histogram=Counter({bucket_of(400.0): good}),
            within=Counter({"completion<=1500": good}),
            judged=Counter({"completion<=1500": n}),
            figures=figures or {},
            teu=Decimal(n),
            records=n,
        )
        append_deltas(self.product, self.batch(), {key: sums}, {})
