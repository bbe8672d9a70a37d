"""The ASGI entry: `uvicorn controlplane.asgi:application`."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
os.environ.setdefault("ORCHID_DATABASE_POOL", "1")

from django.core.asgi import get_asgi_application
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount
from starlette.types import ASGIApp

from controlplane.celery import app as celery_app

django_application = get_asgi_application()

# These read Django's settings, so they are imported when those are there.
from controlplane.bodies import BoundedBodies, Utf8Text  # noqa: E402
from ingest.edge_asgi import TelemetryEntry  # noqa: E402
from releases.edge_asgi import create_app  # noqa: E402
from releases.edge_store import conninfo  # noqa: E402

__all__ = ["application", "celery_app"]
django = cast("ASGIApp", django_application)
edges = create_app()
telemetry = TelemetryEntry(django, conninfo())


@asynccontextmanager
async def lifespan(_: Starlette) -> AsyncIterator[None]:
    """The edges' entries hold connections of their own, which end with the process."""
    yield
    await telemetry.close()
    await edges.state.hub.close()


application = Starlette(
    routes=[Mount("/edge", app=edges), *telemetry.routes(), Mount("/", app=django)],
    middleware=[Middleware(BoundedBodies), Middleware(Utf8Text)],
    lifespan=lifespan,
)
