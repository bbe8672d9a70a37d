"""Shapes of the way back, of rehearsals and of what pools still hold."""

from typing import Any

from rest_framework import serializers

from policies.models import Product
from releases.models import PoolRelease
from releases.selectors.drill import DrillFact, DrillLine
from releases.selectors.restore import Restorable

Json = dict[str, Any]


class NewRollback(serializers.Serializer[Any]):
    """`leaves` is the digest that it is meant to take away; else live content is refused."""

    product = serializers.SlugField(required=False)
    reason = serializers.CharField(max_length=5000)
    to = serializers.IntegerField(min_value=1, required=False, default=None)
    leaves = serializers.CharField(max_length=80, required=False, allow_blank=True, default="")


class NewDrill(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=5000, required=False, allow_blank=True, default="")


class NewPoolRelease(serializers.Serializer[Any]):
    digest = serializers.CharField(max_length=80)
    reason = serializers.CharField(max_length=5000)


class DrillAnswerOut(serializers.Serializer[Any]):
    edge = serializers.CharField()
    state = serializers.CharField(help_text="ready, refused or silent")
    reason = serializers.CharField()
    after_ms = serializers.FloatField(allow_null=True)
    fetch_ms = serializers.FloatField(allow_null=True)
    prepare_ms = serializers.FloatField(allow_null=True)
    replicas = serializers.IntegerField(allow_null=True)


class DrillOut(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    product = serializers.CharField()
    publication = serializers.IntegerField()
    digest = serializers.CharField()
    pool = serializers.CharField()
    state = serializers.CharField()
    started_at = serializers.DateTimeField()
    deadline_at = serializers.DateTimeField()
    prepared_ms = serializers.FloatField()
    took_ms = serializers.FloatField(allow_null=True)
    silent = serializers.ListField(child=serializers.CharField())
    answers = DrillAnswerOut(many=True)
    actor = serializers.CharField()
    reason = serializers.CharField()


class CheckOut(serializers.Serializer[Any]):
    name = serializers.CharField()
    state = serializers.CharField(help_text="not_ready, unknown or ready")
    text = serializers.CharField()


class ReadinessOut(serializers.Serializer[Any]):
    product = serializers.CharField()
    readiness = serializers.CharField(allow_null=True)
    why_not = serializers.CharField()
    publication = serializers.IntegerField(allow_null=True)
    leaves = serializers.CharField(allow_null=True)
    restores = serializers.CharField(allow_null=True)
    generation = serializers.IntegerField(allow_null=True)
    pool = serializers.CharField(allow_null=True)
    checks = CheckOut(many=True)
    drill = DrillOut(allow_null=True)


class PoolReleaseOut(serializers.ModelSerializer[PoolRelease]):
    product = serializers.CharField(source="product.slug")

    class Meta:
        model = PoolRelease
        fields = (
            "id",
            "product",
            "digest",
            "pool",
            "publication",
            "released_at",
            "actor",
            "reason",
        )


class HoldingOut(serializers.Serializer[Any]):
    edge = serializers.CharField()
    open_sequences = serializers.IntegerField(source="sequences")
    manifests = serializers.DictField(child=serializers.IntegerField())
    silent = serializers.BooleanField()
    stale = serializers.BooleanField(help_text="It told this too long ago to count.")
    admits = serializers.BooleanField()
    last_seen = serializers.DateTimeField(allow_null=True)
    reported_at = serializers.DateTimeField(allow_null=True)


class AbandonedOut(serializers.Serializer[Any]):
    edge = serializers.CharField()
    sequences = serializers.IntegerField(allow_null=True, help_text="Null is an unknown number.")
    retired_at = serializers.DateTimeField()


class BlockerOut(serializers.Serializer[Any]):
    code = serializers.CharField()
    text = serializers.CharField()


class PoolOut(serializers.Serializer[Any]):
    digest = serializers.CharField()
    generation = serializers.IntegerField(allow_null=True)
    pool = serializers.CharField()
    role = serializers.CharField()
    open_sequences = serializers.IntegerField()
    settled_at = serializers.DateTimeField(allow_null=True)
    edges = HoldingOut(many=True, source="holdings")
    abandoned = AbandonedOut(many=True, help_text="What retired edges may have held.")
    blockers = BlockerOut(many=True)
    may_be_released = serializers.BooleanField()
    shared_with = serializers.ListField(child=serializers.IntegerField())


def drill(fact: DrillFact) -> Json:
    """A rehearsal as it stands."""
    row = fact.drill
    return {
        "id": row.pk,
        "product": row.product.slug,
        "publication": row.publication.number,
        "digest": row.digest,
        "pool": row.pool,
        "state": str(fact.state),
        "started_at": row.started_at,
        "deadline_at": row.deadline_at,
        "prepared_ms": row.prepared_ms,
        "took_ms": fact.took_ms,
        "silent": fact.silent,
        "answers": [_answer(line) for line in fact.lines],
        "actor": row.actor,
        "reason": row.reason,
    }


def _answer(line: DrillLine) -> Json:
    answer = line.answer
    return {
        "edge": line.edge,
        "state": line.label,
        "reason": answer.reason if answer else "",
        "after_ms": line.after_ms,
        "fetch_ms": answer.fetch_ms if answer else None,
        "prepare_ms": answer.prepare_ms if answer else None,
        "replicas": answer.replicas if answer else None,
    }


def readiness(product: Product, facts: Restorable | None, why_not: str) -> Json:
    """The facts of the way back; nulls and the reason where there is none."""
    out: Json = dict.fromkeys(ReadinessOut().fields) | {
        "product": product.slug,
        "why_not": why_not,
        "checks": [],
    }
    if facts is None:
        return out
    return out | {
        "readiness": str(facts.readiness),
        "publication": facts.current.number,
        "leaves": facts.current.target_digest,
        "restores": facts.revision.digest,
        "generation": facts.revision.generation.number,
        "pool": facts.pool,
        "checks": [CheckOut(check).data for check in facts.checks],
        "drill": drill(facts.drill) if facts.drill else None,
    }
