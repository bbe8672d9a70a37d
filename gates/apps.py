"""The gates room: is it good enough?"""

from django.apps import AppConfig


class GatesConfig(AppConfig):
    """Registers the room under the label `gates`."""

    name = "gates"
    verbose_name = "Gates"
