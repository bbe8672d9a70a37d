"""Results of load generators to trials, and recorded traffic to arrival traces."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.db import transaction

from accounts.guard import Actor, Permission, require
from accounts.services import record
from controlplane.errors import BadInput
from ingest.models import ArrivalTrace, Batch, Trial
from ingest.services.stored import Stored, lost_pieces
from ingest.states import SourceKind
from orchid.engine.trial_evidence import FactError, declared_facts
from orchid.formats.arrivals import compact, registry, statistics
from orchid.formats.arrivals.shape import Trace
from orchid.formats.numbers import BadFigureError, figure
from orchid.formats.trials import registry as trial_registry
from orchid.formats.trials.shape import Trial as TrialRead

#: A day: no warm-up is longer.
MOST_WARM_UP_S = 86_400.0
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f]")
_FORMATS = {
    SourceKind.TRIAL: [one.name for one in trial_registry.FORMATS],
    SourceKind.ARRIVALS: [one.name for one in registry.FORMATS],
}


def declared_of(kind: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """What a sender says of a file of these two kinds, checked; empty for another kind.

    `title`, `format` (else it is recognised), `warm_up_s`, and the facts of a trial by name.
    Raises BadInput.
    """
    if kind not in _FORMATS:
        return {}
    declared: dict[str, Any] = {"title": _title(given.get("title", ""))}
    wanted = str(given.get("format", "")).strip()
    if wanted and wanted not in _FORMATS[SourceKind(kind)]:
        known = ", ".join(_FORMATS[SourceKind(kind)])
        raise BadInput("bad_format", f"format is one of {known}.")
    declared["format"] = wanted
    try:
        declared["warm_up_s"] = figure(
            given.get("warm_up_s") or 0, "warm_up_s", high=MOST_WARM_UP_S
        )
        declared["facts"] = declared_facts(given) if kind == SourceKind.TRIAL else {}
    except (FactError, BadFigureError) as error:
        raise BadInput("bad_declaration", f"{error}.") from error
    return {name: value for name, value in declared.items() if value}


def store_trial(batch: Batch, body: bytes) -> Stored:
    """Store a trial once; the same content again adds only what is declared of it anew."""
    said = batch.declared
    title = str(said.get("title", ""))
    name, read = trial_registry.read(body, title, str(said.get("format", "")))
    trial, created = Trial.objects.get_or_create(
        product_id=batch.product_id,
        sha256=hashlib.sha256(body).hexdigest(),
        defaults={
            "source_id": batch.source_id,
            "batch": batch,
            "format": name,
            "title": title or read.tool,
            "declared": said.get("facts", {}),
            **_columns(read),
        },
    )
    if not created and said.get("facts"):
        _declare(trial, said["facts"])
    counts = {"points": len(read.points), "inserted": int(created), "duplicates": int(not created)}
    return Stored(counts | {"unused_columns": read.unused}, lost_pieces(read.lost))


def store_arrivals(batch: Batch, body: bytes) -> Stored:
    """Store a trace of traffic once, with its figures after the declared warm-up."""
    said = batch.declared
    title = str(said.get("title", ""))
    name, read = registry.read(body, title, str(said.get("format", "")))
    _, created = ArrivalTrace.objects.get_or_create(
        product_id=batch.product_id,
        sha256=hashlib.sha256(body).hexdigest(),
        defaults={
            "source_id": batch.source_id,
            "batch": batch,
            "format": name,
            "title": title or read.title,
            **_traffic(read, float(said.get("warm_up_s", 0))),
        },
    )
    counts = {"rows": read.rows, "inserted": int(created), "duplicates": int(not created)}
    return Stored(counts | {"unused_columns": read.unused}, lost_pieces(read.lost))


def declare(actor: Actor, trial: Trial, given: Mapping[str, Any]) -> None:
    """Declare facts of a trial beside its file; a later declaration of a fact replaces it."""
    require(actor, Permission.INGEST, trial.product.slug)
    try:
        facts = declared_facts(given)
    except FactError as error:
        raise BadInput("bad_declaration", f"{error}.") from error
    with transaction.atomic():
        _declare(trial, facts)
        record(
            actor,
            "trial.declared",
            product=trial.product.slug,
            obj=("trial", trial.pk),
            data=dict(facts),
        )


def _declare(trial: Trial, facts: Mapping[str, str]) -> None:
    locked = Trial.objects.select_for_update().get(pk=trial.pk)
    locked.declared = locked.declared | dict(facts)
    locked.save(update_fields=["declared"])


def _columns(read: TrialRead) -> dict[str, Any]:
    return {
        "tool": read.tool,
        "model": _UNPRINTABLE.sub("", read.model)[:128],
        "loop": read.loop.value,
        "simulated": read.simulated,
        "whole": read.whole and not read.lost,
        "points": [asdict(point) for point in read.points],
        "told": read.told,
        "notes": read.notes,
        "unused": read.unused,
    }


def _traffic(read: Trace, warm_up_s: float) -> dict[str, Any]:
    kept = statistics.after_warm_up(read.arrivals, read.warm_up, warm_up_s)
    if read.arrivals and not kept:
        raise BadInput("all_warm_up", "Nothing is left after the warm-up.")
    has_times = read.holds == "arrivals"
    return {
        "holds": read.holds.value,
        "rows": read.rows,
        "statistics": statistics.statistics(read, kept),
        "rates": statistics.rate_windows(kept) if has_times else {},
        "units": list(read.units),
        "warm_up_requests": read.warm_up,
        "warm_up_s": warm_up_s,
        "notes": read.notes,
        "unused": read.unused,
        "content": compact.encode(read.arrivals, read.windows),
    }


def _title(given: Any) -> str:
    return _UNPRINTABLE.sub(" ", str(given)).strip()[:128]
