"""What a person fills in to bring a file."""

from typing import Any

from django import forms

from ingest.services import SourceKey
from ingest.services.encoding import MAX_FILE
from ingest.states import FILE_KINDS, EngineKind, SourceKind

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
