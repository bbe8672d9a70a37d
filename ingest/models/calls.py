"""What a client logged of its own calls."""

from django.db import models

from ingest.models.inbox import Batch
from ingest.models.sources import Source
from policies.models import Product


class ClientCall(models.Model):
    """One call as its client logged it: only this tells a model's error from an answer."""

    product = models.ForeignKey(Product, models.PROTECT, related_name="+")
    source = models.ForeignKey(Source, models.PROTECT, related_name="+")
    batch = models.ForeignKey(Batch, models.PROTECT, related_name="+")
    request_id = models.CharField(max_length=256)
    model = models.CharField(max_length=256)
    protocol = models.CharField(max_length=16)
    outcome = models.CharField(max_length=32)
    failure = models.CharField(max_length=32)
    sent_at = models.DateTimeField()
    sent_steady_ns = models.BigIntegerField()
    elapsed_ms = models.FloatField(null=True)
    first_response_ms = models.FloatField(null=True)
    input_tokens = models.IntegerField(null=True)
    output_tokens = models.IntegerField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["source", "request_id", "sent_steady_ns"], name="client_call_once"
            ),
        ]
        indexes = [
            # Joining engine attempts.
            models.Index(fields=["product", "request_id"], name="client_call_by_request"),
        ]
