"""A form's data, or a problem that names every wrong field."""

from typing import Any

from django.forms import Form

from controlplane.errors import BadInput


def checked(form: Form) -> dict[str, Any]:
    """The cleaned data. Raises 400 with a pointer for each field that needs another value."""
    if form.is_valid():
        return form.cleaned_data
    errors = [
        {"pointer": f"/{field}", "text": " ".join(map(str, texts))}
        for field, texts in form.errors.items()
    ]
    raise BadInput("invalid_input", "Some fields need another value.", errors=errors)
