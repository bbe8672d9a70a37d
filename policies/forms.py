"""What people type: a product, a document."""

from django import forms

from policies.starters import STARTERS


class ProductForm(forms.Form):
    name = forms.CharField(max_length=120, help_text="As people say it: Support answers")
    slug = forms.SlugField(
        max_length=63,
        label="Short name",
        error_messages={
            "invalid": "Letters, digits, hyphens and underscores only, such as support-answers."
        },
        help_text="In addresses and documents; it stays: support-answers",
    )
    description = forms.CharField(
        required=False, widget=forms.Textarea(attrs={"rows": 2}), help_text="Whom it answers."
    )
    template = forms.ChoiceField(
        label="Begin from",
        choices=[(starter.name, starter.label) for starter in STARTERS.values()],
        help_text="Becomes the document of generation 1, which you then edit.",
    )


class DocumentForm(forms.Form):
    title = forms.CharField(max_length=200, help_text="What changes, in one line.")
    document = forms.CharField(
        label="Policy document (YAML or JSON)",
        strip=False,  # a fault is told by its line in the text as it was sent
        widget=forms.Textarea,
    )


class RevisionForm(DocumentForm):
    """The next text of a generation: its title stays, and it says which text it began from."""

    title = None  # type: ignore[assignment]
    expected_revision = forms.IntegerField(widget=forms.HiddenInput)
