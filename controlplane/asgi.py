"""The ASGI entry: `uvicorn controlplane.asgi:application`."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
os.environ.setdefault("ORCHID_DATABASE_POOL", "1")

from django.core.asgi import get_asgi_application

from controlplane.celery import app as celery_app

__all__ = ["application", "celery_app"]
application = get_asgi_application()
