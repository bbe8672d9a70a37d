"""What a person fills in to register a model server."""

from typing import Any, Self

from django import forms

from ingest.models.servers import POLL_EVERY_S, TritonServer
from ingest.states import ServerProtocol, WarmUp


class ServerForm(forms.Form):
    """A model server's addresses and what is wanted of it."""

    name = forms.CharField(label="Name", max_length=64, help_text="Letters, digits and . _ -")
    http_url = forms.CharField(
        label="HTTP address",
        max_length=200,
        required=False,
        help_text="http://host:8000",
    )
    grpc_url = forms.CharField(
        label="gRPC address",
        max_length=200,
        required=False,
        help_text="grpc://host:8001",
    )
    metrics_url = forms.CharField(
        label="Metrics address",
        max_length=200,
        required=False,
        help_text="http://host:8002/metrics. Given alone, it is a vLLM server's.",
    )
    protocol = forms.ChoiceField(
        label="Asked over", choices=ServerProtocol.choices, initial=ServerProtocol.HTTP
    )
    pool = forms.CharField(
        label="Pool",
        max_length=80,
        required=False,
        help_text="The fleet.pool of the generations that it serves. Empty: of every one.",
    )
    poll_every_s = forms.IntegerField(
        label="Checked every (s)", min_value=5, max_value=300, initial=POLL_EVERY_S
    )
    warm_up = forms.ChoiceField(
        label="Try models with zeros",
        choices=WarmUp.choices,
        initial=WarmUp.CHEAP,
        help_text="One inference of each model in each run, since READY alone proves nothing.",
    )
    trace_rate = forms.IntegerField(
        label="Trace every n-th request",
        min_value=0,
        max_value=1_000_000_000,
        required=False,
        help_text="Empty leaves the server's own trace settings alone.",
    )
    candidate_trace_rate = forms.IntegerField(
        label="The same for a candidate",
        min_value=0,
        max_value=1_000_000_000,
        required=False,
        help_text="While its pool serves a candidate generation.",
    )

    def wish(self) -> dict[str, Any]:
        """Everything but the name, which a server keeps."""
        return {name: value for name, value in self.cleaned_data.items() if name != "name"}

    @classmethod
    def of(cls, server: TritonServer) -> Self:
        """Filled with what is registered."""
        form = cls(initial={name: getattr(server, name) for name in cls.base_fields})
        form.fields["name"].disabled = True
        return form
