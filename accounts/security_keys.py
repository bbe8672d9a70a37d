"""What a browser says in the name of a security key, read within bounds.

The field of the forms we build on knows one way in which JSON is wrong; numbers without end and
nesting without end are others, and have to be told as an error too.
"""

import json
from typing import Any

from allauth.mfa.webauthn.forms import (
    AddWebAuthnForm,
    AuthenticateWebAuthnForm,
    ReauthenticateWebAuthnForm,
)
from django import forms


class BoundedJSON(json.JSONDecoder):
    """Python's own reader, whose other refusals are told as the one that forms expect."""

    def decode(self, text: str, *where: Any) -> Any:
        try:
            return super().decode(text, *where)
        except json.JSONDecodeError:
            raise
        except (ValueError, RecursionError) as error:
            raise json.JSONDecodeError("out of bounds", text[:80], 0) from error


class _Bounded(forms.Form):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        credential = self.fields["credential"]
        assert isinstance(credential, forms.JSONField)
        credential.decoder = BoundedJSON


class AddKeyForm(_Bounded, AddWebAuthnForm):  # type: ignore[misc]
    """A new security key."""


class KeyForm(_Bounded, AuthenticateWebAuthnForm):  # type: ignore[misc]
    """A security key beside a password."""


class ConfirmKeyForm(_Bounded, ReauthenticateWebAuthnForm):  # type: ignore[misc]
    """A security key of somebody who is signed in."""
