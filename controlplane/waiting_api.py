"""What waits for whoever asks, for machines: the same list as on the first page."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.guard import actor_of
from controlplane.dashboard import waiting_for


class WaitingOut(serializers.Serializer[Any]):
    product = serializers.CharField(source="product.slug")
    title = serializers.CharField()
    reason = serializers.CharField()
    path = serializers.CharField(source="url")
    urgent = serializers.BooleanField()


class WaitingForMe(APIView):
    @extend_schema(responses=WaitingOut(many=True))
    def get(self, request: Request) -> Response:
        """Everything that the caller may decide or mend, what is urgent first."""
        found = waiting_for(actor_of(request))
        return Response({"items": WaitingOut(found, many=True).data, "next_cursor": ""})
