"""What people type to let others in, and to ask the audit trail."""

from django import forms
from django.contrib.auth.validators import UnicodeUsernameValidator

from accounts.models import KIND_CHOICES, ROLE_CHOICES_OF_PEOPLE


class InviteForm(forms.Form):
    email = forms.EmailField(label="E-mail")
    role = forms.ChoiceField(choices=ROLE_CHOICES_OF_PEOPLE)


class CredentialForm(forms.Form):
    kind = forms.ChoiceField(choices=KIND_CHOICES, label="For")
    name = forms.RegexField(
        r"^[A-Za-z0-9._-]{1,80}$",
        help_text="Letters, digits, dots, hyphens: frankfurt-1",
        error_messages={"invalid": "Only letters, digits, dots, hyphens and underscores."},
    )


class RevokeForm(forms.Form):
    credential = forms.IntegerField(widget=forms.HiddenInput)
    reason = forms.CharField(max_length=400)


class JoinForm(forms.Form):
    username = forms.CharField(max_length=150, validators=[UnicodeUsernameValidator()])
    display_name = forms.CharField(max_length=120, required=False, label="Your name")
    password = forms.CharField(
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text="At least 10 characters, and not one that everybody knows.",
    )


class Moment(forms.DateTimeInput):
    """The browser's own picker; what it gives is read as UTC."""

    input_type = "datetime-local"


class AuditForm(forms.Form):
    product = forms.CharField(required=False)
    person = forms.CharField(required=False, label="Person")
    generation = forms.RegexField(
        r"^[1-9]\d{0,8}$", required=False, error_messages={"invalid": "A number."}
    )
    segment = forms.CharField(
        required=False, widget=forms.TextInput(attrs={"placeholder": "task=chat"})
    )
    action = forms.CharField(required=False, label="Action begins with")
    since = forms.DateTimeField(required=False, widget=Moment, label="From (UTC)")
    until = forms.DateTimeField(required=False, widget=Moment, label="Before (UTC)")
    text = forms.CharField(required=False, label="Object, digest, request or reason")
