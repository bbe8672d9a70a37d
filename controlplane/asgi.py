"""The ASGI entry: `uvicorn controlplane.asgi:application`."""

import os
from typing import cast

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
os.environ.setdefault("ORCHID_DATABASE_POOL", "1")

from django.core.asgi import get_asgi_application
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.types import ASGIApp

from controlplane.celery import app as celery_app

django_application = get_asgi_application()

# The slim entry reads Django's settings, so it is imported when they are there.
from releases.edge_asgi import create_app  # noqa: E402

__all__ = ["application", "celery_app"]
application = Starlette(
    routes=[Mount("/edge", app=create_app()), Mount("/", app=cast("ASGIApp", django_application))]
)
