"""What a delivery over HTTP says about itself: product, body, sequence, source.

A request is Django's or Starlette's: both have `headers` and `query_params`.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.utils import timezone

from accounts.guard import Actor, Permission, actor_of, may, require
from controlplane.errors import BadInput, NotFound, TooLarge
from controlplane.web import whole_number
from ingest.services.encoding import BY_TERMINAL, MAX_FILE
from ingest.services.storing import BatchMeta, SourceKey
from ingest.states import FILE_KINDS, EngineKind
from policies import selectors as policies
from policies.models import Product


@dataclass(frozen=True)
class Sender:
    """Who delivers, and for which product."""

    actor: Actor
    product: Product

    @property
    def name(self) -> str:
        credential = self.actor.credential
        return credential.name if credential else self.actor.name


def sender_of(request: Any, permission: Permission = Permission.INGEST) -> Sender:
    """A credential speaks for its own product; a person, or one for all, names it by ?product=."""
    return sender_for(actor_of(request), request, permission)


def sender_for(actor: Actor, request: Any, permission: Permission) -> Sender:
    slug = named_product(request, actor)
    require(actor, permission, slug)
    return Sender(actor, policies.product(slug))


def reader_of(request: Any) -> Product:
    """The product that is asked about; senders may read what became of their deliveries."""
    actor = actor_of(request)
    slug = named_product(request, actor)
    if not any(may(actor, one, slug) for one in (Permission.VIEW, Permission.INGEST)):
        raise NotFound("not_found", "No product of that name is open to you.")
    return policies.product(slug)


def named_product(request: Any, actor: Actor) -> str:
    own = actor.credential.product_slug if actor.credential else "*"
    slug = request.query_params.get("product", "" if own == "*" else own)
    if not slug:
        raise BadInput("product_missing", "Name the product with ?product=.")
    if "\x00" in slug:
        raise BadInput("bad_address", "An address holds no NUL character.")
    return str(slug)


def body_of(request: Any, limit: int) -> bytes:
    """The body as it came, up to the limit; raises TooLarge before reading a declared excess."""
    refuse_over(limit, whole_number(request.headers.get("Content-Length", "")) or 0)
    body: bytes = request.body
    refuse_over(limit, len(body))
    return body


def refuse_over(limit: int, size: int) -> None:
    if size > limit:
        then = BY_TERMINAL if limit == MAX_FILE else "Split it."
        raise TooLarge("too_large", f"A delivery may have {limit:,} bytes. {then}")


def encoding_of(request: Any) -> str:
    return str(request.headers.get("Content-Encoding", "")).strip().lower()


def batch_id_of(request: Any) -> str:
    batch_id = request.headers.get("Batch-Id", "")
    if not batch_id:
        raise BadInput(
            "batch_id_missing", "Send a Batch-Id header, the same again when you send again."
        )
    return str(batch_id)


def meta_of(request: Any) -> BatchMeta:
    """Boot-Id, First-Seq, Last-Seq and Watermark; each may be absent."""
    first, last = _sequence(request, "First-Seq"), _sequence(request, "Last-Seq")
    return BatchMeta(
        boot_id=request.headers.get("Boot-Id", "").replace("\x00", "")[:64],
        # An empty batch names the sequence it stands at and holds no record of it.
        first_seq=first if last is not None and first is not None and first <= last else None,
        last_seq=last if first is not None and last is not None and first <= last else None,
        watermark=_past(_moment(request, "Watermark")),
    )


def _past(moment: datetime | None) -> datetime | None:
    """A sender whose clock runs ahead can't say that what is yet to come is counted."""
    return None if moment is None else min(moment, timezone.now())


def _sequence(request: Any, header: str) -> int | None:
    written = request.headers.get(header, "")
    if not written:
        return None
    number = whole_number(written)
    if number is None:
        raise BadInput("bad_header", f"{header} is a whole number from 0.")
    return number


def _moment(request: Any, header: str) -> datetime | None:
    written = request.headers.get(header, "")
    if not written:
        return None
    try:
        moment = datetime.fromisoformat(written)
        if moment.tzinfo is not None:
            return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise BadInput("bad_header", f"{header} is an RFC 3339 time with its offset.")


def file_source_of(params: Any, default_name: str) -> SourceKey:
    """The source that a file's query names; an anchor is one moment on both clocks of its host."""
    kind = params.get("kind", "")
    if kind not in FILE_KINDS:
        raise BadInput("bad_kind", f"kind is one of {', '.join(FILE_KINDS)}.")
    engine = params.get("engine_kind", "")
    if engine not in EngineKind.values:
        raise BadInput("bad_engine_kind", "engine_kind is triton or stand-in.")
    steady, unix = _anchor(params, "anchor_monotonic_ns"), _anchor(params, "anchor_unix_ns")
    if (steady is None) != (unix is None):
        raise BadInput("half_an_anchor", "An anchor needs both of its clocks.")
    name = _short(params, "source") or default_name
    run = _short(params, "server_run")
    return SourceKey(kind, name, run, engine, steady, unix)


def _anchor(params: Any, name: str) -> int | None:
    written = params.get(name, "")
    if not written:
        return None
    number = whole_number(written)
    if number is None:
        raise BadInput("bad_anchor", f"{name} is a whole number of nanoseconds.")
    return number


def _short(params: Any, name: str) -> str:
    written = str(params.get(name, "")).strip()
    if len(written) > 128 or "\x00" in written:
        raise BadInput("bad_name", f"{name} takes up to 128 characters.")
    return written
