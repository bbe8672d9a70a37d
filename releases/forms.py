"""What people send: each form says its fields, the services say the rules."""

from typing import Any

from django import forms

from ingest.states import DIFFERING, ShadowMode
from releases.states import Choice, NoticeKind, ShadowNear

#: What a cap may bound, as the page says it.
CAPPED = (
    ("max_teu", "TEU"),
    ("max_output_tokens", "output tokens"),
    ("max_live_token_ms", "live-token milliseconds"),
    ("max_external_calls", "external calls"),
    ("max_usd", "dollars"),
)
WINDOWS = {"10s": "10 s", "1m": "1 min", "15m": "15 min", "1h": "1 h", "1d": "1 d"}


class ProposeForm(forms.Form):
    """Open a proposal for a generation."""

    generation = forms.IntegerField(min_value=1)
    title = forms.CharField(max_length=200)
    rationale = forms.CharField(
        required=False, max_length=5000, widget=forms.Textarea(attrs={"rows": 3})
    )


class VoteForm(forms.Form):
    """A decision with its reason, bound to what was on the page and to nobody else's vote."""

    decision = forms.ChoiceField(choices=Choice.choices)
    reason = forms.CharField(max_length=5000)
    bound_digest = forms.CharField(max_length=80)


class MoveForm(forms.Form):
    """Any other move: the version that was on the page, and a reason where one is given."""

    expected_version = forms.IntegerField(min_value=1)
    reason = forms.CharField(required=False, max_length=5000)


class SegmentForm(MoveForm):
    """A gated segment that is to stay behind or to go ahead, and why."""

    segment = forms.CharField(max_length=80)


class OverrideForm(forms.Form):
    """Why an inconclusive stage may go on, and which judgement the person had on the page."""

    evaluation = forms.IntegerField(min_value=1)
    reason = forms.CharField(max_length=5000)


class RecordForm(forms.Form):
    """A decision record as a person leaves it, and the revision that it was written over."""

    expected_revision = forms.IntegerField(min_value=0)
    decision = forms.CharField(required=False)
    gates = forms.CharField(required=False)
    evidence = forms.CharField(required=False)
    rejected = forms.CharField(required=False)
    failure = forms.CharField(required=False)
    rollback = forms.CharField(required=False)
    revisit = forms.CharField(required=False)


class ReasonForm(forms.Form):
    """A reason for what follows at once."""

    reason = forms.CharField(max_length=5000, widget=forms.Textarea(attrs={"rows": 3}))


class RollbackForm(ReasonForm):
    """A reason, the content that was live on the page of the click, and what to go back to."""

    leaves = forms.CharField(required=False, max_length=80, widget=forms.HiddenInput)
    to = forms.IntegerField(
        required=False, min_value=1, max_value=2**31 - 1, widget=forms.HiddenInput
    )


class ReleaseForm(ReasonForm):
    """Whose pool is let go, and why."""

    digest = forms.CharField(max_length=80, widget=forms.HiddenInput)


class WebhookForm(forms.Form):
    """An address and what it is told of."""

    url = forms.CharField(
        label="Address",
        max_length=500,
        widget=forms.URLInput,
        help_text="Begins with https:// and can be reached from here.",
    )
    kinds = forms.MultipleChoiceField(
        label="It is told of",
        choices=NoticeKind.choices,
        initial=NoticeKind.values,
        widget=forms.CheckboxSelectMultiple,
    )


class FirstForm(forms.Form):
    """The generation that a product begins with, and why."""

    generation = forms.IntegerField(min_value=1)
    reason = forms.CharField(max_length=5000)


class ShadowForm(forms.Form):
    """Which decisions of a candidate are looked at; what is empty asks nothing."""

    publication = forms.IntegerField(required=False, min_value=1, max_value=2**31 - 1)
    mode = forms.ChoiceField(required=False, choices=ShadowMode.choices)
    near = forms.ChoiceField(required=False, choices=ShadowNear.choices)
    difference = forms.ChoiceField(
        required=False, choices=[(one.value, one.label) for one in DIFFERING]
    )


class TimeForm(forms.Form):
    """A time on the wall and its zone; an empty time lifts the one that is set."""

    expected_version = forms.IntegerField(min_value=1)
    local = forms.CharField(required=False, max_length=25)
    zone = forms.CharField(required=False, max_length=64)
    which = forms.ChoiceField(
        required=False, choices=[("", ""), ("first", "first"), ("second", "second")]
    )


class CommentForm(forms.Form):
    """What somebody says about a proposal."""

    text = forms.CharField(max_length=5000)


class EmergencyForm(MoveForm):
    """An open proposal, the text of it that was read, and what the emergency is."""

    proposal = forms.IntegerField(min_value=1)
    digest = forms.CharField(max_length=80)
    leaves = forms.CharField(max_length=80)
    reason = forms.CharField(max_length=5000)


class CapForm(forms.Form):
    """A tighter budget of one tenant, and what the emergency is."""

    tenant = forms.CharField(
        max_length=80,
        widget=forms.TextInput(attrs={"autocapitalize": "none", "autocomplete": "off"}),
    )
    limit = forms.ChoiceField(label="At most", choices=CAPPED)
    amount = forms.DecimalField(
        min_value=0,
        max_digits=18,
        decimal_places=6,
        widget=forms.TextInput(attrs={"inputmode": "decimal"}),
    )
    window = forms.CharField(
        label="In", max_length=12, widget=forms.Select(choices=list(WINDOWS.items()))
    )
    reason = forms.CharField(
        label="What is the emergency?", max_length=5000, widget=forms.Textarea(attrs={"rows": 2})
    )

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        name, amount = data.get("limit"), data.get("amount")
        if name and name != "max_usd" and amount is not None and amount != int(amount):
            label = dict(CAPPED)[str(name)]
            said = f"{label} is a whole number, not {amount}. Only dollars may have a fraction."
            self.add_error("amount", said)
        return data

    def limits(self) -> dict[str, str | int]:
        """The one limit of the form; only money has a fraction."""
        name, amount = self.cleaned_data["limit"], self.cleaned_data["amount"]
        return {name: str(amount) if name == "max_usd" else int(amount)}


class LookForm(MoveForm):
    """What a second look found; it stays with what was done."""

    reason = forms.CharField(max_length=5000)
