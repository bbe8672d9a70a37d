"""The room's shapes on the wire: what comes in apart from what goes out."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers


@extend_schema_field({"oneOf": [{"type": "object"}, {"type": "string"}]})
class DocumentField(serializers.Field):  # type: ignore[type-arg]
    """A policy document: a JSON object, or its YAML as one string."""

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, dict | str):
            raise serializers.ValidationError("a JSON object, or YAML as a string")
        return data

    def to_representation(self, value: Any) -> Any:
        return value


class NewProduct(serializers.Serializer):  # type: ignore[type-arg]
    slug = serializers.CharField(max_length=63)
    name = serializers.CharField(max_length=120)
    description = serializers.CharField(required=False, allow_blank=True, default="")
    template = serializers.CharField(required=False)
    document = DocumentField(required=False)


class NewGeneration(serializers.Serializer):  # type: ignore[type-arg]
    title = serializers.CharField(max_length=200)
    document = DocumentField()
    base = serializers.IntegerField(required=False, help_text="Number of the generation it changes")


class NewRevision(serializers.Serializer):  # type: ignore[type-arg]
    document = DocumentField()
    expected_revision = serializers.IntegerField()


class ProductOut(serializers.Serializer):  # type: ignore[type-arg]
    slug = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField()
    created_at = serializers.DateTimeField()


class GenerationOut(serializers.Serializer):  # type: ignore[type-arg]
    product = serializers.CharField(source="product.slug")
    number = serializers.IntegerField()
    title = serializers.CharField()
    revision = serializers.IntegerField(source="latest_number")
    digest = serializers.CharField(source="latest_digest")
    created_by = serializers.CharField()
    created_at = serializers.DateTimeField()


class FindingOut(serializers.Serializer):  # type: ignore[type-arg]
    code = serializers.CharField()
    severity = serializers.CharField()
    pointer = serializers.CharField()
    text = serializers.CharField()


class RevisionOut(serializers.Serializer):  # type: ignore[type-arg]
    product = serializers.CharField(source="generation.product.slug")
    generation = serializers.IntegerField(source="generation.number")
    title = serializers.CharField(source="generation.title")
    revision = serializers.IntegerField(source="number")
    digest = serializers.CharField()
    created_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    document = DocumentField()
    findings = serializers.SerializerMethodField()

    @extend_schema_field(FindingOut(many=True))
    def get_findings(self, revision: Any) -> Any:
        from policies.selectors import findings

        return FindingOut(findings(revision), many=True).data


class ChangeOut(serializers.Serializer):  # type: ignore[type-arg]
    pointer = serializers.CharField()
    category = serializers.CharField()
    words = serializers.CharField()
    before = serializers.JSONField()
    after = serializers.JSONField()


class DifferenceOut(serializers.Serializer):  # type: ignore[type-arg]
    base_digest = serializers.CharField()
    digest = serializers.CharField()
    required_approvals = serializers.DictField(child=serializers.IntegerField())
    changes = ChangeOut(many=True)
