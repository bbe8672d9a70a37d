"""The hall keeps one fact of its own: that the worker is alive."""

from django.db import models


class Heartbeat(models.Model):
    """When a process last said that it lives; one row a name. pgmq has no remote control to ask."""

    name = models.CharField(max_length=40, primary_key=True)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.name} at {self.at}"
