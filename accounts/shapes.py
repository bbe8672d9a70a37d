"""Shapes that several doors for programs take."""

from typing import Any

from rest_framework import serializers


class Why(serializers.Serializer[Any]):
    """A reason, which stays in the trail."""

    reason = serializers.CharField(max_length=400)
