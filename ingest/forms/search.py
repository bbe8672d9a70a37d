"""What is looked for among requests."""

from typing import get_args
from urllib.parse import urlencode

from django import forms

from ingest.selectors.explorer import Sought
from orchid.engine.wire.fields import Outcome


class SearchForm(forms.Form):
    """A search among requests; each field that is empty asks nothing."""

    request_id = forms.CharField(label="Request id", max_length=256, required=False)
    attempt_id = forms.CharField(label="Attempt id", max_length=256, required=False)
    route = forms.CharField(max_length=80, required=False)
    outcome = forms.ChoiceField(
        choices=[("", "any"), *((name, name.replace("_", " ")) for name in get_args(Outcome))],
        required=False,
    )
    reason = forms.CharField(max_length=80, required=False)
    tenant_class = forms.CharField(label="Tenant class", max_length=80, required=False)
    segment = forms.CharField(
        max_length=160, required=False, help_text="A dimension and its value: task=assistant"
    )

    def clean_segment(self) -> str:
        text = str(self.cleaned_data["segment"]).strip()
        if text and not all(part.strip() for part in text.partition("=")):
            raise forms.ValidationError("Write a dimension and its value, like task=assistant.")
        return text

    def sought(self) -> Sought:
        given = dict(self.cleaned_data)
        dimension, _, value = given.pop("segment").partition("=")
        return Sought(**given, dimension=dimension.strip(), value=value.strip())

    def query(self) -> str:
        """The search as the next page's address carries it."""
        if not self.is_valid():
            return ""
        asked = {name: text for name, text in self.cleaned_data.items() if text}
        return f"{urlencode(asked)}&" if asked else ""
