"""The WSGI entry, for sites that run a synchronous server."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
os.environ.setdefault("ORCHID_DATABASE_POOL", "1")

from django.core.wsgi import get_wsgi_application

from controlplane.celery import app as celery_app

__all__ = ["application", "celery_app"]
application = get_wsgi_application()
