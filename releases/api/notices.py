"""Webhooks and what was told, for machines."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.guard import Permission, actor_of, require
from accounts.idempotency import idempotent
from controlplane.rest import listed, taken
from releases.api.parts import one_product
from releases.models import Delivery, Notice, Webhook
from releases.selectors.notices import notices
from releases.services.deliveries import resend
from releases.services.webhooks import create_webhook, end_webhook
from releases.states import NoticeKind


class NewWebhook(serializers.Serializer[Any]):
    url = serializers.CharField(max_length=500)
    kinds = serializers.ListField(child=serializers.ChoiceField(choices=NoticeKind.choices))


class WebhookOut(serializers.ModelSerializer[Webhook]):
    class Meta:
        model = Webhook
        fields = ("id", "url", "kinds", "created_by", "created_at", "ended_at")


class WebhookMade(WebhookOut):
    secret = serializers.CharField(help_text="Shown this once.")

    class Meta(WebhookOut.Meta):
        fields = (*WebhookOut.Meta.fields, "secret")  # type: ignore[assignment]


class DeliveryOut(serializers.ModelSerializer[Delivery]):
    to = serializers.CharField()

    class Meta:
        model = Delivery
        fields = ("id", "to", "state", "tries", "due_at", "status", "words", "ended_at")


class NoticeOut(serializers.ModelSerializer[Notice]):
    deliveries = DeliveryOut(many=True)

    class Meta:
        model = Notice
        fields = ("id", "kind", "title", "text", "path", "at", "made_at", "deliveries")


class Webhooks(APIView):
    @extend_schema(responses=WebhookOut(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The addresses in force; their paths may be secrets, so they are for owners."""
        product = one_product(request, slug)
        require(actor_of(request), Permission.ADMINISTER, slug, reading=True)
        rows = Webhook.objects.filter(product=product, ended_at=None)
        return listed(request, rows, WebhookOut, "created_at")

    @extend_schema(request=NewWebhook, responses={201: WebhookMade})
    def post(self, request: Request, slug: str) -> Response:
        """201 with the secret, this once. It is in no stored answer, so no Idempotency-Key."""
        data = taken(NewWebhook, request)
        product = one_product(request, slug)
        row, secret = create_webhook(actor_of(request), product, data["url"], data["kinds"])
        return Response({**WebhookOut(row).data, "secret": secret}, status=201)


class WebhookEnd(APIView):
    @extend_schema(request=None, responses=WebhookOut)
    @idempotent
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Tell it no more; ended twice is ended."""
        row = end_webhook(actor_of(request), one_product(request, slug), pk)
        return Response(WebhookOut(row).data)


class Notices(APIView):
    @extend_schema(responses=NoticeOut(many=True))
    def get(self, request: Request, slug: str) -> Response:
        return listed(request, notices(one_product(request, slug)), NoticeOut, "made_at")


class Resend(APIView):
    @extend_schema(request=None, responses=DeliveryOut)
    @idempotent
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Begin the tries of a delivery anew."""
        row = resend(actor_of(request), one_product(request, slug), pk)
        return Response(DeliveryOut(row).data)
