"""Gateways, and what each says about what it runs."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from releases.models.publications import Publication
from releases.states import (
    ActivationState,
    AlarmKind,
)


class Edge(models.Model):
    """A gateway that enforces what is published, known by its own credential."""

    product = models.ForeignKey("policies.Product", models.PROTECT, related_name="edges")
    name = models.CharField(max_length=100)
    credential = models.OneToOneField("accounts.Credential", models.PROTECT, related_name="+")
    # Lives on beside the newer one, until it expires, while an edge is given its new token.
    former_credential = models.OneToOneField(
        "accounts.Credential", models.PROTECT, null=True, related_name="+"
    )
    share = models.FloatField(default=1.0)
    registered_at = models.DateTimeField()
    pinned_kids = models.JSONField(default=list)
    retired_at = models.DateTimeField(null=True)
    # What it may have held when it was retired, by digest; null is an unknown number.
    abandoned = models.JSONField(default=dict, db_default=models.Value({}, models.JSONField()))

    class Meta:
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [
            models.UniqueConstraint(name="releases_edge_name", fields=["product", "name"]),
            models.CheckConstraint(name="releases_edge_share", condition=Q(share__gte=0.0)),
        ]

    def __str__(self) -> str:
        return self.name


class Activation(models.Model):
    """What one edge answered to one publication; `at` is when it first said so."""

    edge = models.ForeignKey(Edge, models.CASCADE, related_name="activations")
    publication = models.ForeignKey(Publication, models.PROTECT, related_name="activations")
    state = models.CharField(max_length=8, choices=ActivationState.choices)
    reason = models.TextField(blank=True, default="")
    at = models.DateTimeField()
    reported_at = models.DateTimeField()
    open_sequences = models.JSONField(default=dict)
    clock_skew_ms = models.FloatField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="releases_one_activation", fields=["edge", "publication", "state"]
            ),
            models.CheckConstraint(
                name="releases_activation_state", condition=Q(state__in=ActivationState.values)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.edge_id}: {self.publication_id} {self.state}"


class EdgeSeen(models.Model):
    """The last thing heard from an edge: when, what it runs, what it still owes."""

    edge = models.OneToOneField(Edge, models.CASCADE, related_name="seen", primary_key=True)
    at = models.DateTimeField()
    # When it last told its sequences: an edge may be heard for hours while its reports fail.
    reported_at = models.DateTimeField(null=True)
    active_publication = models.PositiveIntegerField(null=True)
    # The newest whose bytes were handed to it whole, whatever it made of them.
    downloaded_publication = models.PositiveIntegerField(null=True)
    open_sequences = models.JSONField(default=dict)
    # The attempts among them by manifest: {digest: {manifest: count}}.
    open_manifests = models.JSONField(default=dict, db_default=models.Value({}, models.JSONField()))
    clock_skew_ms = models.FloatField(null=True)

    def __str__(self) -> str:
        return f"{self.edge_id} at {self.at}"


class Alarm(models.Model):
    """Something about a product's edges that somebody must look at, from when until when.

    Rows are kept: they are what other rooms read to tell people, and the history of the page.
    """

    product = models.ForeignKey("policies.Product", models.PROTECT, related_name="alarms")
    kind = models.CharField(max_length=16, choices=AlarmKind.choices)
    since = models.DateTimeField()
    until = models.DateTimeField(null=True)
    text = models.TextField()

    class Meta:
        ordering: ClassVar = ["-since"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="releases_one_open_alarm",
                fields=["product", "kind"],
                condition=Q(until__isnull=True),
            ),
            models.CheckConstraint(
                name="releases_alarm_kind", condition=Q(kind__in=AlarmKind.values)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} since {self.since}"
