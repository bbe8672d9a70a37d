"""What a person fills in to push evidence: one cell, or the file that CI would push."""

import json
from typing import Any

from django import forms

from gates.states import EvidenceKind

MAX_FILE = 8 << 20
STORED = ("reference", "retention", "access")


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
    measured_at = forms.DateTimeField(
        label="Measured at",
        required=False,
        help_text="UTC. Its age counts from here, or else from now.",
    )
    load_state = forms.CharField(
        label="Load state",
        max_length=120,
        required=False,
        help_text="An overload rung, where it was measured under one; it speaks for that alone.",
    )
    prompt_version = forms.CharField(label="Prompt version", max_length=120, required=False)
    index_version = forms.CharField(label="Index version", max_length=120, required=False)
    rubric = forms.CharField(label="Rubric", max_length=400, required=False)
    rater_population = forms.CharField(label="Raters", max_length=400, required=False)
    disagreement = forms.FloatField(label="Disagreement", min_value=0, max_value=1, required=False)
    reference = forms.CharField(
        label="Store", max_length=400, required=False, help_text="Where the items are kept."
    )
    retention = forms.CharField(label="Kept for", max_length=120, required=False)
    access = forms.CharField(label="Who may see them", max_length=400, required=False)

    def clean_where(self) -> dict[str, Any]:
        try:
            where = json.loads(self.cleaned_data["where"] or "{}")
        except (ValueError, RecursionError) as error:
            raise forms.ValidationError(f"This is not JSON: {error}.") from error
        if not isinstance(where, dict):
            raise forms.ValidationError("A segment is an object of dimensions and values.")
        return where

    def payload(self) -> dict[str, Any]:
        """What was filled in, as `orchid.evidence/v1`."""
        given = {k: v for k, v in self.cleaned_data.items() if v not in (None, "")}
        store = {name: given.pop(name) for name in STORED if name in given}
        if at := given.get("measured_at"):
            given["measured_at"] = at.isoformat()
        return given | ({"store": store} if store else {})


class EvidenceFileForm(forms.Form):
    file = forms.FileField(
        label="File",
        help_text="One piece or a set of orchid.evidence/v1 as JSON, up to 8 MiB.",
    )

    def clean_file(self) -> dict[str, Any]:
        """The JSON object in the file."""
        file = self.cleaned_data["file"]
        if file.size > MAX_FILE:
            raise forms.ValidationError(f"This file has {file.size:,} bytes; split the set.")
        try:
            found = json.loads(file.read().decode("utf-8-sig"), parse_constant=_not_finite)
        except (ValueError, RecursionError) as error:
            raise forms.ValidationError(f"This is not JSON: {error}.") from error
        if not isinstance(found, dict):
            raise forms.ValidationError("Evidence is a JSON object.")
        return found


class EvidenceFilter(forms.Form):
    route = forms.CharField(label="Route", max_length=80, required=False)
    suite = forms.CharField(label="Suite", max_length=120, required=False)
    kind = forms.ChoiceField(
        label="Kind", choices=[("", "Any"), *EvidenceKind.choices], required=False
    )


def _not_finite(word: str) -> Any:
    raise ValueError(f"{word} is no number")
