"""What people type to let others in, and to ask the audit trail."""

from django import forms
from django.contrib.auth.forms import UsernameField
from django.contrib.auth.validators import UnicodeUsernameValidator

from accounts.models import KIND_CHOICES, ROLE_CHOICES_OF_PEOPLE
from accounts.roles import PERMISSIONS, Role

CI_SCOPES = sorted(PERMISSIONS[Role.CI])


class InviteForm(forms.Form):
    email = forms.EmailField(label="E-mail", max_length=254)
    role = forms.ChoiceField(choices=ROLE_CHOICES_OF_PEOPLE)


class CredentialForm(forms.Form):
    kind = forms.ChoiceField(choices=KIND_CHOICES, label="For")
    name = forms.RegexField(
        r"^[A-Za-z0-9._-]{1,80}$",
        help_text="Letters, digits, dots, hyphens: frankfurt-1",
        error_messages={"invalid": "Only letters, digits, dots, hyphens and underscores."},
    )

    lifetime = forms.TypedChoiceField(
        choices=[("30", "30 days"), ("90", "90 days"), ("365", "A year"), ("", "Until revoked")],
        initial="90",
        required=False,
        coerce=int,
        empty_value=None,
        label="Ends after",
    )
    scopes = forms.MultipleChoiceField(
        choices=[(one.value, one.value.replace("_", " ").capitalize()) for one in CI_SCOPES],
        widget=forms.CheckboxSelectMultiple,
        required=False,
        label="Of a CI token: only these",
        help_text="With none of them it may do all that its kind may.",
    )


class ReasonForm(forms.Form):
    """A reason for what follows at once."""

    reason = forms.CharField(max_length=400)


class RevokeForm(forms.Form):
    credential = forms.IntegerField(widget=forms.HiddenInput)
    reason = forms.CharField(max_length=400)


class RotateForm(RevokeForm):
    """How long the old token still counts, so that both can be in use while it is replaced."""

    overlap = forms.TypedChoiceField(
        choices=[("0", "not at all"), ("1", "an hour"), ("24", "a day"), ("168", "a week")],
        coerce=int,
    )


class RoleForm(forms.Form):
    username = UsernameField(max_length=150, label="Name of the account")
    role = forms.ChoiceField(choices=[("", "Choose one"), *ROLE_CHOICES_OF_PEOPLE])


class TakeRoleForm(forms.Form):
    grant = forms.IntegerField(widget=forms.HiddenInput)
    reason = forms.CharField(max_length=400)


class WithdrawForm(forms.Form):
    invitation = forms.IntegerField(widget=forms.HiddenInput, min_value=1, max_value=2**31 - 1)


class EndAccountForm(ReasonForm):
    """Tokens that machines use meanwhile fall only by saying so."""

    tokens_fall = forms.BooleanField(
        required=False, label="The tokens that this person answers for are revoked"
    )


class JoinForm(forms.Form):
    username = UsernameField(max_length=150, validators=[UnicodeUsernameValidator()])
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
