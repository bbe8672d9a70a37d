"""What a person fills in to bring a trial or recorded traffic, and to declare facts of it."""

from typing import Any

from django import forms

from ingest.services import SourceKey
from ingest.services.encoding import MAX_FILE
from ingest.states import SourceKind
from orchid.engine.trial_evidence import ANSWERS, DECLARABLE, LONGEST, Fact


class TrialForm(forms.Form):
    """A result of a load generator or recorded traffic, with what is declared of it."""

    file = forms.FileField(
        label="File",
        help_text=f"Up to {MAX_FILE // 1024**2} MiB, plain or gzip. Its format is recognised.",
    )
    kind = forms.ChoiceField(
        label="What it is",
        choices=[(one.value, one.label) for one in (SourceKind.TRIAL, SourceKind.ARRIVALS)],
    )
    source = forms.CharField(
        label="Source", max_length=128, help_text="Where it was run, or who recorded it."
    )
    server_run = forms.CharField(
        label="Run",
        max_length=128,
        required=False,
        help_text="Files of one run under one name are shown side by side.",
    )
    title = forms.CharField(label="Title", max_length=128, required=False)
    warm_up_s = forms.FloatField(
        label="Warm-up, seconds",
        min_value=0,
        max_value=86_400,
        required=False,
        help_text="Arrivals before it are kept and left out of every figure.",
    )

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > MAX_FILE:
            raise forms.ValidationError(
                f"This file has {file.size:,} bytes and a browser may bring {MAX_FILE:,}. "
                "Compress it with gzip, or bring it in parts."
            )
        return file

    def source_key(self) -> SourceKey:
        data = self.cleaned_data
        return SourceKey(data["kind"], data["source"], data["server_run"])

    def given(self) -> dict[str, Any]:
        """What is declared; the file's own name is its title where none is given."""
        title = self.cleaned_data["title"] or self.cleaned_data["file"].name
        return {**self.cleaned_data, "title": title}


class DeclareForm(forms.Form):
    """Facts of a trial that only whoever ran it knows."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for fact in DECLARABLE:
            self.fields[fact.value] = _fact_field(fact)


def _fact_field(fact: Fact) -> forms.Field:
    answers = ANSWERS.get(fact)
    if answers:
        choices = [("", "Not declared"), *((one, one.capitalize()) for one in answers)]
        return forms.ChoiceField(label=fact.label, choices=choices, required=False)
    return forms.CharField(label=fact.label, max_length=LONGEST, required=False)
