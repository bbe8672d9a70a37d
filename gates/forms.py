"""What a person fills in to push one cell of evidence."""

import json
from typing import Any

from django import forms

from gates.states import EvidenceKind


class EvidenceForm(forms.Form):
    kind = forms.ChoiceField(label="Kind", choices=EvidenceKind.choices)
    suite = forms.CharField(label="Suite", max_length=120)
    suite_version = forms.CharField(label="Suite version", max_length=64)
    route = forms.CharField(label="Route", max_length=80, help_text="As the document names it.")
    manifest = forms.RegexField(
        label="Manifest",
        regex=r"^sha256:[0-9a-f]{64}$",
        help_text="The digest of the model's manifest, from the generation's page.",
    )
    where = forms.CharField(
        label="Segment",
        required=False,
        help_text='Dimensions as JSON, such as {"task": "assistant"}; empty covers everything.',
    )
    n = forms.IntegerField(label="Items", min_value=1)
    mean = forms.FloatField(label="Mean score", min_value=0, max_value=1)
    spread = forms.FloatField(
        label="Spread",
        min_value=0,
        max_value=0.5,
        help_text="Standard deviation of the item scores.",
    )
    violations = forms.IntegerField(label="Violations", min_value=0, initial=0)

    def clean_where(self) -> dict[str, Any]:
        try:
            where = json.loads(self.cleaned_data["where"] or "{}")
        except (ValueError, RecursionError) as error:
            raise forms.ValidationError(f"This is not JSON: {error}.") from error
        if not isinstance(where, dict):
            raise forms.ValidationError("A segment is an object of dimensions and values.")
        return where
