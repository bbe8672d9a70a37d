"""Overrides, the review card and decision records as the API takes and tells them."""

from typing import Any

from rest_framework import serializers

from releases.models import Override
from releases.selectors.card import Answer
from releases.selectors.card.answer import Proof
from releases.selectors.overrides import override_fact
from releases.selectors.record_texts import titles


class NewOverride(serializers.Serializer[Any]):
    """`evaluation` is the judgement that the person looked at."""

    evaluation = serializers.IntegerField(min_value=1)
    reason = serializers.CharField(max_length=5000)


class ConfirmedOverride(serializers.Serializer[Any]):
    """The version that the second person read."""

    expected_version = serializers.IntegerField(min_value=1)


class OverrideOut(serializers.ModelSerializer[Override]):
    asked_by = serializers.CharField(source="asked_by.username")
    confirmed_by = serializers.CharField(source="confirmed_by.username", default=None)
    evaluation = serializers.IntegerField(source="evaluation_id")
    rollout = serializers.IntegerField(source="rollout_id")
    standing = serializers.SerializerMethodField()

    class Meta:
        model = Override
        fields = (
            "id",
            "version",
            "rollout",
            "publication",
            "stage_index",
            "evaluation",
            "asked_by",
            "asked_at",
            "reason",
            "state",
            "confirmed_by",
            "at",
            "standing",
        )

    def get_standing(self, row: Override) -> str:
        return override_fact(row).standing


class Linked(serializers.Serializer[Any]):
    """What names the pages on which it can be checked."""

    links = serializers.SerializerMethodField()

    def get_links(self, row: Answer | Proof) -> list[dict[str, str]]:
        return [{"label": label, "url": url} for label, url in row.links]


class AnswerOut(Linked):
    key = serializers.CharField()
    question = serializers.CharField()
    said = serializers.CharField()
    standing = serializers.CharField()


class ProofOut(Linked):
    name = serializers.CharField()
    what = serializers.CharField(source="label")
    there = serializers.BooleanField()
    is_required = serializers.BooleanField(source="required")
    blocks = serializers.BooleanField()
    said = serializers.CharField()


class CardOut(serializers.Serializer[Any]):
    """`blockers` are the names of what is required and missing: each stops an approval."""

    answers = AnswerOut(many=True)
    proofs = ProofOut(many=True)
    blockers = serializers.ListField(child=serializers.CharField())


class RecordEdit(serializers.Serializer[Any]):
    """Texts by section; what is left out or empty follows the facts."""

    expected_revision = serializers.IntegerField(min_value=0)
    sections = serializers.DictField(child=serializers.CharField(allow_blank=True))

    def validate_sections(self, texts: dict[str, str]) -> dict[str, str]:
        unknown = sorted(set(texts) - set(titles()))
        if unknown:
            raise serializers.ValidationError(f"There is no section {', '.join(unknown)}.")
        return texts
