"""Shapes of edges."""

from typing import Any

from rest_framework import serializers

from accounts.models import Credential
from accounts.services.rotation import LONGEST_OVERLAP
from accounts.shapes import Why
from releases.models import Activation, Alarm, Edge
from releases.selectors.edges import EdgeFact
from releases.selectors.fleet import OneEdge

LONGEST_S = int(LONGEST_OVERLAP.total_seconds())


class EdgeOut(serializers.Serializer[EdgeFact]):
    """`share` is a part of the traffic, from 0 to 1; `declared_share` a weight."""

    name = serializers.CharField()
    credential = serializers.IntegerField(help_text="The one that `rotate` replaces.")
    share = serializers.FloatField()
    share_is_measured = serializers.BooleanField()
    declared_share = serializers.FloatField()
    wanted = serializers.IntegerField(allow_null=True)
    downloaded = serializers.IntegerField(allow_null=True)
    active = serializers.IntegerField(allow_null=True)
    standing = serializers.CharField()
    reason = serializers.CharField()
    activated_at = serializers.DateTimeField(allow_null=True)
    last_seen = serializers.DateTimeField(allow_null=True)
    clock_skew_ms = serializers.FloatField(allow_null=True)
    open_sequences = serializers.DictField(child=serializers.IntegerField())
    reported_at = serializers.DateTimeField(allow_null=True)
    told = serializers.BooleanField(help_text="Whether it told its open sequences of late.")


class EdgeAnswerOut(serializers.ModelSerializer[Activation]):
    """What it said of a publication; `at` is when it first said so."""

    publication = serializers.IntegerField(source="publication.number")

    class Meta:
        model = Activation
        fields = ("publication", "state", "reason", "at", "reported_at", "clock_skew_ms")


class ShownOut(serializers.ModelSerializer[Credential]):
    """By what it is known: never the token, only how it begins."""

    class Meta:
        model = Credential
        fields = (
            "id",
            "name",
            "prefix",
            "created_at",
            "expires_at",
            "superseded_at",
            "revoked_at",
        )


class EdgeDetailOut(serializers.Serializer[OneEdge]):
    """`stands` is null for an edge that is retired; the keys are those that it pinned first."""

    product = serializers.CharField(source="edge.product.slug")
    name = serializers.CharField(source="edge.name")
    registered_at = serializers.DateTimeField(source="edge.registered_at")
    retired_at = serializers.DateTimeField(source="edge.retired_at", allow_null=True)
    pinned_keys = serializers.ListField(source="edge.pinned_kids", child=serializers.CharField())
    stands = EdgeOut(source="fact", allow_null=True)
    answers = EdgeAnswerOut(many=True, help_text="The last ones, newest first.")
    credentials = ShownOut(many=True)


class AlarmOut(serializers.ModelSerializer[Alarm]):
    product = serializers.CharField(source="product.slug")

    class Meta:
        model = Alarm
        fields = ("product", "kind", "since", "until", "text")


class NewEdge(serializers.Serializer[Any]):
    name = serializers.RegexField(r"^[A-Za-z0-9._-]{1,80}$")
    certificate = serializers.CharField(
        max_length=8000, required=False, default="", allow_blank=True
    )


class Rotation(serializers.Serializer[Any]):
    """`credential` is the one to replace: a repeated request is refused and replaces nothing.

    With `certificate`, whole or as its SHA-256, the edge is known by that and no token is made.
    """

    credential = serializers.IntegerField(min_value=1)
    overlap_s = serializers.IntegerField(
        min_value=0, max_value=LONGEST_S, required=False, default=86_400
    )
    certificate = serializers.CharField(
        max_length=8000, required=False, default="", allow_blank=True
    )
    reason = serializers.CharField(max_length=400)


class Retirement(Why):
    """`abandon` retires an edge that holds sequences, or may; they are noted as abandoned."""

    abandon = serializers.BooleanField(required=False, default=False)


class RetiredOut(serializers.ModelSerializer[Edge]):
    """`abandoned` has what it may have held, by digest; null is an unknown number."""

    product = serializers.CharField(source="product.slug")

    class Meta:
        model = Edge
        fields = ("product", "name", "retired_at", "abandoned")


class DeclaredShare(serializers.Serializer[Any]):
    share = serializers.FloatField(min_value=0.0)
    reason = serializers.CharField(max_length=400)


class IssuedOut(serializers.Serializer[Any]):
    """The token is in this one answer and nowhere else; null for a certificate."""

    credential = serializers.IntegerField()
    name = serializers.CharField()
    prefix = serializers.CharField()
    expires_at = serializers.DateTimeField(allow_null=True)
    token = serializers.CharField(allow_null=True)


def issued(credential: Credential, token: str) -> dict[str, Any]:
    """What is told of a new credential."""
    told = {
        "credential": credential.pk,
        "name": credential.name,
        "prefix": credential.prefix,
        "expires_at": credential.expires_at,
        "token": token or None,
    }
    return dict(IssuedOut(told).data)
