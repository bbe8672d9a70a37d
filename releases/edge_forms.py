"""What people send about edges."""

from datetime import timedelta

from django import forms

from accounts.forms import ReasonForm

OVERLAPS = [
    ("3600", "for another hour"),
    ("86400", "for another day"),
    ("604800", "for another week"),
    ("0", "not at all"),
]


class RegisterEdgeForm(forms.Form):
    """A new edge, known by a token or by a client certificate."""

    name = forms.RegexField(
        r"^[A-Za-z0-9._-]{1,80}$",
        help_text="Letters, digits, dots, hyphens: frankfurt-1",
        error_messages={"invalid": "Only letters, digits, dots, hyphens and underscores."},
    )
    certificate = forms.CharField(
        required=False,
        max_length=8000,
        label="Client certificate",
        help_text="Its SHA-256, where a proxy verifies it. Left empty, a token is made.",
    )


class RotateEdgeForm(forms.Form):
    """A new token or certificate; the credential's number keeps a second click from counting."""

    credential = forms.IntegerField(widget=forms.HiddenInput)
    overlap_s = forms.ChoiceField(
        choices=OVERLAPS, initial="86400", label="What it shows now is still good"
    )
    certificate = forms.CharField(
        required=False,
        max_length=8000,
        label="Next client certificate",
        help_text="Its SHA-256, where a proxy verifies it. Left empty, a token is made.",
    )
    reason = forms.CharField(max_length=400)

    @property
    def overlap(self) -> timedelta:
        return timedelta(seconds=int(self.cleaned_data["overlap_s"]))


class RetireEdgeForm(ReasonForm):
    """What an edge holds, or may hold, is let go by saying so."""

    abandon = forms.BooleanField(
        required=False,
        label="To retire it: abandon its open sequences",
        help_text="Nobody will know how they ended; the pool is let go of without them.",
    )


class DeclareShareForm(forms.Form):
    """The weight of an edge's traffic where none was measured."""

    share = forms.FloatField(
        min_value=0.0, label="Declared weight", help_text="Counts beside the other edges' weights."
    )
    reason = forms.CharField(max_length=400)
