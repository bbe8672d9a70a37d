"""The JSON Schema of a policy document, where editors and other checkers fetch it."""

import hashlib
import json
from functools import cache

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import condition, require_safe

from orchid.engine.document.schema import json_schema

MEDIA_TYPE = "application/schema+json"
HOUR_S = 3600


@cache
def content() -> bytes:
    return json.dumps(json_schema(), indent=2).encode()


def etag(request: HttpRequest) -> str:
    return f'"{hashlib.sha256(content()).hexdigest()}"'


@require_safe
@condition(etag_func=etag)
def schema(request: HttpRequest) -> HttpResponse:
    """Public and the same for everyone: it describes the language, and nobody's document."""
    response = HttpResponse(content(), content_type=MEDIA_TYPE)
    response.headers["Cache-Control"] = f"public, max-age={HOUR_S}"
    # Editors that run in a browser fetch it from a page of their own.
    response.headers["Access-Control-Allow-Origin"] = "*"
    return response
