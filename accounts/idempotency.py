"""`Idempotency-Key`: the same POST again gets the first answer again and does nothing twice."""

import functools
import hashlib
import json
from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.http.request import RawPostDataException
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.guard import Actor, actor_of
from accounts.models import IdempotentAnswer
from controlplane.errors import BadInput, Invalid

LONGEST_KEY = 128
Handler = Callable[..., Response]


def idempotent(handler: Handler) -> Handler:
    """Wrap an APIView's `post`. Without the header nothing changes.

    The answer is stored in the transaction of the act: both happen or neither. Of two requests at
    once the second waits for the first. A refusal stores nothing, so it may be tried again.
    """

    @functools.wraps(handler)
    def answered(view: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
        key = request.headers.get("Idempotency-Key", "").strip()
        if not key:
            return handler(view, request, *args, **kwargs)
        if len(key) > LONGEST_KEY or not key.isprintable():
            said = f"The key has at most {LONGEST_KEY} characters, all of them visible."
            raise BadInput("bad_idempotency_key", said)
        with transaction.atomic():
            claim, first = _claim(request, key)
            if not first:
                return _replayed(claim)
            return _stored(claim, handler(view, request, *args, **kwargs))

    return answered


def _claim(request: Request, key: str) -> tuple[IdempotentAnswer, bool]:
    """The row of this key, and whether it is ours to fill."""
    digest = _digest(request)
    claim, created = IdempotentAnswer.objects.get_or_create(
        actor=_identity(actor_of(request)), key=key, defaults={"request_digest": digest}
    )
    if not created and claim.request_digest != digest:
        raise Invalid(
            "idempotency_key_reused",
            "This key was used for another request. A new request needs a new key.",
        )
    return claim, created


def _identity(actor: Actor) -> str:
    """Who owns the key. Machines of two products may share a name, and never an answer."""
    return f"{actor.name}#{actor.credential.pk}" if actor.credential else actor.name


def _digest(request: Request) -> str:
    head = f"{request.method} {request.get_full_path()}\n".encode()
    return hashlib.sha256(head + _body(request)).hexdigest()


def _body(request: Request) -> bytes:
    """The bytes as they came; what was read of them where a session's check was there first."""
    try:
        # Read before DRF parses the stream; Django then keeps the bytes for the parser.
        return request._request.body
    except RawPostDataException:
        return json.dumps(request.data, sort_keys=True).encode()


def _stored(claim: IdempotentAnswer, response: Response) -> Response:
    claim.status = response.status_code
    claim.body = json.loads(JSONRenderer().render(response.data) or "null")
    claim.save(update_fields=["status", "body"])
    return response


def _replayed(claim: IdempotentAnswer) -> Response:
    return Response(claim.body, status=claim.status, headers={"Idempotency-Replayed": "true"})
