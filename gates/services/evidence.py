"""Quality evidence comes in: `orchid.evidence/v1`, checked, addressed by its content, immutable."""

import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Literal

import rfc8785
from django.db import transaction
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from accounts.guard import Actor, Permission, require
from accounts.services import record
from controlplane.errors import BadInput
from gates.models import Evidence, Window
from gates.states import EvidenceKind
from orchid.engine.document.canonical import manifest_digest
from orchid.engine.segments import where_key
from policies.models import Product
from policies.selectors import document_of, revision_by_digest

Name = Annotated[str, Field(min_length=1, max_length=120, pattern=r"^[\w.:+/ -]+$")]
Version = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[\w.:+/ -]+$")]
Route = Annotated[str, Field(min_length=1, max_length=80, pattern=r"^[\w.:+/ -]+$")]
LONGEST_KEY = 400  # of a segment, with its names and values
Note = Annotated[str, Field(max_length=400)]
Unit = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class EvidenceItem(BaseModel):
    """One cell. Unknown keys are refused, so that no prompt or answer can ride along."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    schema_: Literal["orchid.evidence/v1"] = Field("orchid.evidence/v1", alias="schema")
    kind: EvidenceKind
    suite: Name
    suite_version: Version
    index_version: Name | None = None
    prompt_version: Name | None = None
    route: Route
    manifest: Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")] | None = None
    digest: Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")] | None = None
    where: dict[Name, Name | list[Name]] = Field(default_factory=dict)
    load_state: Name | None = None
    n: Annotated[int, Field(ge=1, le=10**12)]
    mean: Unit
    spread: Annotated[float, Field(ge=0, le=0.5, allow_inf_nan=False)]
    interval: tuple[Unit, Unit] | None = None
    violations: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0
    rubric: Note | None = None
    rater_population: Note | None = None
    disagreement: Unit | None = None
    store: dict[Name, JsonValue] | None = None


@transaction.atomic
def push_evidence(
    actor: Actor, product: Product, payload: Mapping[str, Any]
) -> tuple[Evidence, bool]:
    """Store one cell of evidence; the same content again is the same row.

    Raises BadInput naming every wrong field, Forbidden without the permission.
    """
    require(actor, Permission.EVIDENCE_PUSH, product.slug)
    item = _parsed(payload)
    manifest = item.manifest or _manifest_of(product, item)
    content = item.model_dump(mode="json", by_alias=True, exclude_unset=True)
    content["manifest"] = manifest
    digest = f"sha256:{hashlib.sha256(_canonical(content)).hexdigest()}"
    evidence, created = Evidence.objects.get_or_create(
        product=product, digest=digest, defaults=_columns(item, manifest, content, actor)
    )
    if created:
        record(
            actor,
            "evidence.pushed",
            product=product.slug,
            obj=("evidence", evidence.pk),
            after=digest,
            data={"suite": item.suite, "route": item.route, "where": item.where},
        )
        _judge_again(product)
    return evidence, created


@transaction.atomic
def push_evidence_set(
    actor: Actor, product: Product, payload: Mapping[str, Any]
) -> list[tuple[Evidence, bool]]:
    """Store a set (`items` or `evidence`: a list) or a single cell; all of it or nothing."""
    cells = payload.get("items", payload.get("evidence"))
    if cells is None:
        return [push_evidence(actor, product, payload)]
    if not isinstance(cells, Sequence) or isinstance(cells, str) or not cells:
        raise BadInput("empty_evidence", "`items` has to be a list of at least one cell.")
    return [push_evidence(actor, product, cell) for cell in cells]


def _key(where: Mapping[str, str | list[str]]) -> str:
    plain = {name: v if isinstance(v, str) else tuple(v) for name, v in where.items()}
    key = where_key(plain)
    if len(key) > LONGEST_KEY:
        pointed = [{"pointer": "/where", "text": f"at most {LONGEST_KEY} characters in all"}]
        raise BadInput("invalid_evidence", "The segment is too long.", errors=pointed)
    return key


def _parsed(payload: object) -> EvidenceItem:
    try:
        return EvidenceItem.model_validate(payload)
    except ValidationError as error:
        errors = [
            {"pointer": "/" + "/".join(map(str, found["loc"])), "text": found["msg"]}
            for found in error.errors(include_url=False, include_input=False)
        ]
        raise BadInput(
            "invalid_evidence", "This is not orchid.evidence/v1.", errors=errors
        ) from error


def _canonical(content: dict[str, Any]) -> bytes:
    """RFC 8785 bytes; BadInput for a number that other readers of JSON could not keep exactly."""
    try:
        return rfc8785.dumps(content)
    except (rfc8785.CanonicalizationError, RecursionError) as error:
        pointed = [{"pointer": "/store", "text": str(error)}]
        raise BadInput(
            "invalid_evidence", "A value has no canonical form.", errors=pointed
        ) from error


def _manifest_of(product: Product, item: EvidenceItem) -> str:
    """The manifest of the named generation's route, for senders that know only the generation."""
    if item.digest is None:
        raise BadInput("manifest_missing", "Evidence names a manifest, or a generation's digest.")
    revision = revision_by_digest(product, item.digest)
    model = document_of(revision.digest).models.get(item.route)
    if model is None:
        raise BadInput("unknown_route", f"That generation has no route {item.route}.")
    return manifest_digest(model)


def _columns(
    item: EvidenceItem, manifest: str, content: dict[str, Any], actor: Actor
) -> dict[str, Any]:
    return {
        "kind": item.kind,
        "suite": item.suite,
        "suite_version": item.suite_version,
        "route": item.route,
        "manifest": manifest,
        "where": item.where,
        "key": _key(item.where),
        "n": item.n,
        "mean": item.mean,
        "spread": item.spread,
        "violations": item.violations,
        "content": content,
        "pushed_by": actor.name,
    }


def _judge_again(product: Product) -> None:
    """New evidence can change a verdict although no request came in."""
    from gates.tasks import evaluate_window

    for pk in Window.objects.filter(product=product, closes_at=None).values_list("pk", flat=True):
        transaction.on_commit(partial(evaluate_window.delay, pk))
