"""What a person fills in to bring a file, and to say which route a model stands for."""

from typing import Any, Self, get_args
from urllib.parse import urlencode

from django import forms

from ingest.models.servers import POLL_EVERY_S, TritonServer
from ingest.selectors.explorer import Sought
from ingest.services import SourceKey
from ingest.services.encoding import MAX_FILE
from ingest.states import FILE_KINDS, EngineKind, ServerProtocol, SourceKind, WarmUp
from orchid.engine.trial_evidence import ANSWERS, DECLARABLE, LONGEST, Fact
from orchid.engine.wire.fields import Outcome

UPLOAD_KINDS = (*FILE_KINDS, SourceKind.OTLP)


class UploadForm(forms.Form):
    file = forms.FileField(
        label="File", help_text=f"Up to {MAX_FILE // 1024**2} MiB, plain, gzip or zstd."
    )
    kind = forms.ChoiceField(
        label="What it is", choices=[(kind.value, kind.label) for kind in UPLOAD_KINDS]
    )
    source = forms.CharField(
        label="Source", max_length=128, help_text="The server or driver that wrote it."
    )
    server_run = forms.CharField(
        label="Server run",
        max_length=128,
        required=False,
        help_text="A name for one run of the server: after a restart its trace ids begin again.",
    )
    engine_kind = forms.ChoiceField(label="Engine", choices=EngineKind.choices, required=False)
    anchor_monotonic_ns = forms.IntegerField(
        label="Anchor, steady clock (ns)",
        min_value=0,
        max_value=2**63 - 1,
        required=False,
        help_text="One moment on the steady clock of the server's host. Without an anchor the "
        "stamps of a trace file give durations and no times of day.",
    )
    anchor_unix_ns = forms.IntegerField(
        label="Anchor, Unix time (ns)",
        min_value=0,
        max_value=2**63 - 1,
        required=False,
        help_text="The same moment in nanoseconds of Unix time.",
    )

    def __init__(self, *args: Any, slug: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.slug = slug

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        given = [
            cleaned.get(name) is not None for name in ("anchor_monotonic_ns", "anchor_unix_ns")
        ]
        if any(given) and not all(given):
            raise forms.ValidationError("An anchor needs both of its clocks, or neither.")
        return cleaned

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > MAX_FILE:
            raise forms.ValidationError(
                f"This file has {file.size:,} bytes and a browser may bring {MAX_FILE:,}. "
                f"A terminal brings any size: orchid ingest --product {self.slug} {file.name}"
            )
        return file

    def source_key(self) -> SourceKey:
        data = self.cleaned_data
        return SourceKey(
            data["kind"],
            data["source"],
            data["server_run"],
            data["engine_kind"],
            data["anchor_monotonic_ns"],
            data["anchor_unix_ns"],
        )


class MappingForm(forms.Form):
    """A model and its route; `version` is of the mapping that the page showed, if it showed one."""

    model = forms.CharField(max_length=256)
    route = forms.CharField(max_length=80)
    source = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1)
    version = forms.IntegerField(required=False, min_value=1, max_value=2**31 - 1)


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
            raise forms.ValidationError(f"This file has {file.size} bytes; split it.")
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
