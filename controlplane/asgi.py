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

from controlplane.bodies import BoundedBodies
from controlplane.celery import app as celery_app

django_application = get_asgi_application()

# The slim entry reads Django's settings, so it is imported when they are there.
from releases.edge_asgi import create_app  # noqa: E402

__all__ = ["application", "celery_app"]
edges = create_app()


@asynccontextmanager
async def lifespan(_: Starlette) -> AsyncIterator[None]:
    """The edges' entry holds connections of its own, which end with the process in good order."""
    yield
    await edges.state.hub.close()


application = Starlette(
    routes=[Mount("/edge", app=edges), Mount("/", app=cast("ASGIApp", django_application))],
    middleware=[Middleware(BoundedBodies)],
    lifespan=lifespan,
)
