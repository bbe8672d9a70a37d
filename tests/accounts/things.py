"""One of each kind that an address can name, so that a refusal is never a thing that isn't there.

Where a kind has states, the row is in the one that most of its moves are made from.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils import timezone

from accounts.guard import SYSTEM_ACTOR
from accounts.invitations import invite
from accounts.models import Grant, User
from accounts.services import issue_credential
from gates.models import DecisionDiff, Evaluation, Evidence, RevisitItem, Window
from gates.services import evaluate
from ingest.models import Batch, EngineRoute, Source, Trial, TritonServer
from policies.models import Product
from policies.services import create_product, draft_generation
from releases.models import (
    Delivery,
    Notice,
    Override,
    Rollout,
    SecondLook,
    Webhook,
)
from releases.services.binding import bound_digest
from releases.services.drill import start_drill
from releases.services.issue import latest
from releases.services.propose import submit
from releases.services.webhooks import create_webhook
from tests.releases.releases_cast import (
    SLUG,
    actor,
    approve,
    cast,
    document,
    drafted,
    edge,
    live_product,
    published,
    says,
)
from tests.small_policy import small_document

OTHER = "orchid-small"
DIGEST = "sha256:" + "0" * 64
STAGES = [{"canary": 0.1, "hold": "1h"}, {"canary": 1.0, "hold": "1h"}]
NOW = timezone.now


@dataclass(frozen=True)
class Things:
    """Values of parameters by the address before them, and of the fields that name a thing."""

    by_address: dict[str, str]
    fields: dict[str, Any]
    of_moves: dict[str, dict[str, Any]]

    def fields_of(self, route: str) -> dict[str, Any]:
        """With those that say which state of the thing was looked at, where moves ask for it."""
        named = [self._kind(kind, route) for kind in route.split("/") if kind]
        found = (self.of_moves[name] for name in named if name in self.of_moves)
        return {**self.fields, **next(found, {})}

    def path(self, route: str) -> str:
        """The address of what is there; raises KeyError for a parameter of no known kind."""
        parts: list[str] = []
        for part in route.replace("<slug:slug>", SLUG).split("/"):
            parts.append(self._named(parts, route) if part.startswith("<") else part)
        return "/" + "/".join(parts)

    def _named(self, before: list[str], route: str) -> str:
        return self.by_address[self._kind(before[-1], route)]

    def _kind(self, kind: str, route: str) -> str:
        """A thing of its own for one move, or for pages, before the one of all addresses."""
        move = route.rsplit(">", 1)[-1].strip("/")
        of_page = "" if route.startswith("api/") else f"page:{kind}"
        names = (f"{kind}/{move}", of_page)
        return next((name for name in names if name in self.by_address), kind)


def things() -> Things:
    """A live product with a rollout under way, and everything else; beside it another product."""
    cast()
    product = live_product()
    gateway = edge(product, "edge-1")
    says(gateway, latest(product), at=NOW() + timedelta(hours=1))  # heard, however slow we are
    create_webhook(actor("ben"), product, "https://example.org/told", ["breach"])
    draft, voting, approved = (drafted(product) for _ in range(3))
    for one in (voting, approved):
        submit(actor("ana"), one)
    for name in ("ben", "dee"):
        approve(name, approved)
    for one in (voting, approved):
        one.refresh_from_db()
    rollout = published(product, stages=STAGES)
    drill, _ = start_drill(actor("dee"), product, "practice")
    spare = draft_generation(actor("ana"), product, document(2), "Another")
    create_product(SYSTEM_ACTOR, OTHER, "Other", document=small_document())
    evaluation = _evaluation(rollout)
    rows = {
        **_of_releases(product, rollout, evaluation),
        **_of_access(),
        **_of_ingest(product),
        **_of_gates(product, evaluation),
        "drills": drill.pk,
        "edges": gateway.name,
        "proposals": draft.pk,
        "proposals/vote": voting.pk,
        "proposals/publish": approved.pk,
        "proposals/emergency": approved.pk,
        "generations": 1,
        "diff": 1,
        # Nothing of theirs is a row: any word leads as far as the guard.
        "providers": "corp",
        "sign-on": "corp",
        "keys": 1,
        "password-reset": "MQ",
        "MQ": "x-y",
        "history": "completion_p95_ms",
    }
    fields = {
        "bound_digest": bound_digest(voting),
        "evaluation": evaluation.pk,
        "credential": gateway.credential_id,
        "invitation": rows["invitations"],
        "grant": rows["roles"],
        "username": "eve",
        "generation": spare.generation.number,
        "digest": rollout.candidate_digest,
        "segment": "assistant-standard",
        "share": 2,
    }
    of_moves: dict[str, dict[str, Any]] = {
        "proposals/vote": {"expected_version": voting.version},
        "proposals/emergency": {
            "expected_version": approved.version,
            "digest": approved.revision_digest,
        },
    }
    return Things({name: str(value) for name, value in rows.items()}, fields, of_moves)


def _of_releases(product: Product, rollout: Rollout, evaluation: Evaluation) -> dict[str, Any]:
    look = SecondLook.objects.create(
        product=product,
        kind="emergency_publish",
        publication=rollout.publication,
        actor="kim",
        asked_of=["product_owner", "sre"],
        reason="at night",
        opened_at=NOW(),
        due_at=NOW() + timedelta(days=1),
    )
    override = Override.objects.create(
        product=product,
        rollout=rollout,
        stage_index=0,
        publication=rollout.publication.number,
        evaluation=evaluation,
        asked_by=User.objects.get(username="cho"),
        asked_at=NOW(),
        reason="the night is quiet",
    )
    hook = Webhook.objects.get()
    notice = Notice.objects.create(
        product=product, kind="breach", key="k", title="t", path="/", at=NOW(), made_at=NOW()
    )
    delivery = Delivery.objects.create(notice=notice, webhook=hook, due_at=NOW())
    return {
        "rollouts": rollout.pk,
        "rollout": rollout.pk,
        "second-looks": look.pk,
        "overrides": override.pk,
        "webhooks": hook.pk,
        "deliveries": delivery.pk,
    }


def _evaluation(rollout: Rollout) -> Evaluation:
    window = Window.objects.create(
        product=rollout.product,
        digest=rollout.candidate_digest,
        publication=rollout.publication.number,
        cohort="candidate",
        opens_at=NOW(),
        exposure=0.1,
    )
    return evaluate(window.pk, NOW())


def _of_access() -> dict[str, Any]:
    ben = User.objects.get(username="ben")
    invited, secret = invite(actor("ben"), email="kim@example.org", role="sre", product_slug=SLUG)
    token, _ = issue_credential(SYSTEM_ACTOR, kind="ci", name="t", product_slug=SLUG, owner=ben)
    held = Grant.objects.create(
        user=User.objects.get(username="eve"), role="engineer", product_slug=SLUG
    )
    return {
        "invitations": invited.pk,
        "page:invitations": secret,
        "people": "eve",
        "roles": held.pk,
        "tokens": token.pk,
    }


def _of_ingest(product: Product) -> dict[str, Any]:
    source = Source.objects.create(product=product, kind="triton_trace", name="s")
    batch = Batch.objects.create(
        product=product,
        source=source,
        batch_id="b0",
        kind="triton_trace",
        size=0,
        sha256="0" * 64,
        body=b"",
    )
    server = TritonServer.objects.create(
        product=product, name="s1", source=source, http_url="http://127.0.0.1:9"
    )
    told = {"product": product, "source": source, "sha256": "0" * 64, "title": "t"}
    trial = Trial.objects.create(format="perf_analyzer", tool="perf_analyzer", **told)
    mapped = EngineRoute.objects.create(product=product, source=source, model="m", route="full")
    return {
        "batches": batch.batch_id,
        "page:batches": batch.pk,
        "servers": server.name,
        "trials": trial.pk,
        "arrivals": 1,
        "routes": mapped.pk,
        "sources": source.pk,
        "requests": "2026-01-01",
        "2026-01-01": 1,
    }


def _of_gates(product: Product, evaluation: Evaluation) -> dict[str, Any]:
    piece = Evidence.objects.create(
        product=product,
        digest=DIGEST,
        kind="quality",
        suite="s",
        suite_version="1",
        route="full",
        manifest=DIGEST,
        n=1,
        mean=0.5,
        spread=0.1,
        content={},
        pushed_by="ci:m",
    )
    diff = DecisionDiff.objects.create(
        product=product, base_digest=DIGEST, digest=DIGEST, asked_by="ana", asked_at=NOW()
    )
    item = RevisitItem.objects.create(
        product=product,
        digest=DIGEST,
        publication=1,
        trigger="upstream_unpinned",
        owner="product_owner",
        opened_at=NOW(),
        seen_at=NOW(),
        evidence={},
    )
    return {
        "evidence": piece.pk,
        "pieces": piece.pk,
        "decision-diffs": diff.pk,
        "evaluations": evaluation.pk,
        "revisits": item.pk,
    }
