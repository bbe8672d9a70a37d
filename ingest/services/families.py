"""Who called whom in one run of a server, and what that changes: time of its own, and endings.

A child may come in another part than its parent, before or after it. So the family of whatever a
part touches is looked up, and parents are computed again when a child comes.
"""

from collections import defaultdict
from collections.abc import Iterable

from ingest.models import EngineAttempt, EngineModel, Source
from ingest.services.executions import Execution, rows_by
from orchid.formats.triton_epochs import near


class _Family:
    """Executions by their number and by the number of their caller."""

    def __init__(self) -> None:
        self.by_number: dict[int, list[Execution]] = defaultdict(list)
        self.by_caller: dict[int, list[Execution]] = defaultdict(list)
        self.rows: set[int] = set()

    def add(self, executions: Iterable[Execution]) -> None:
        for one in executions:
            self.by_number[one.number].append(one)
            if one.trace.parent_id is not None:
                self.by_caller[one.trace.parent_id].append(one)
            if one.row is not None:
                self.rows.add(one.row.pk)

    def stored(self, rows: Iterable[EngineAttempt]) -> list[Execution]:
        """Take in rows that are not in it yet."""
        fresh = [Execution.stored(row) for row in rows if row.pk not in self.rows]
        self.add(fresh)
        return fresh

    def caller(self, one: Execution) -> Execution | None:
        found = self.by_number.get(one.trace.parent_id or 0, ())
        return next((other for other in found if near(one.extent, other.extent)), None)

    def called(self, one: Execution) -> list[Execution]:
        found = self.by_caller.get(one.number, ())
        return [other for other in found if near(one.extent, other.extent)]


def settled(source: Source, executions: list[Execution]) -> list[Execution]:
    """Compute the rows of these and of whoever they change; those that differ from their row."""
    family = _Family()
    family.add(executions)
    callers = {one.trace.parent_id for one in executions if one.trace.parent_id is not None}
    unknown = callers - family.by_number.keys()
    parents = family.stored(rows_by(source, "engine_id", unknown))
    judged = executions + parents
    numbers = {one.number for one in judged}
    children = family.stored(rows_by(source, "parent_engine_id", numbers))
    models = _Models(source, judged, family)
    judged += _others(source, models.turned, family)
    for one in judged:
        called = family.called(one)
        composite = bool(called) or one.trace.model in models.ensembles
        one.settle(source, family.caller(one), called, composite)
    return [one for one in judged if one.changed] + _renamed(children, judged, family)


def _others(source: Source, models: Iterable[str], family: _Family) -> list[Execution]:
    """Stored executions without compute time, of models that turned out to be something else."""
    rows = EngineAttempt.objects.filter(
        source=source, model__in=list(models), compute_ms__isnull=True
    )
    others = family.stored(rows.exclude(pk__in=family.rows)) if models else []
    family.stored(rows_by(source, "parent_engine_id", {one.number for one in others}))
    return others


def _renamed(
    children: Iterable[Execution], judged: Iterable[Execution], family: _Family
) -> list[Execution]:
    """Children that were stored before their parent, or whose parent has another key by now."""
    seen = {id(one) for one in judged}
    found = []
    for child in children:
        caller = family.caller(child)
        if id(child) in seen or caller is None or child.row is None:
            continue
        if child.row.parent_key != caller.key:
            child.call_caller(caller.key)
            found.append(child)
    return found


class _Models:
    """What the run has shown of each model by now; of those that `turned` we thought otherwise."""

    def __init__(self, source: Source, judged: Iterable[Execution], family: _Family) -> None:
        shown = _shown(judged, family)
        stored = {
            one.model: one
            for one in EngineModel.objects.filter(source=source, model__in=list(shown))
        }
        self.ensembles: set[str] = set()
        self.turned: set[str] = set()
        for model, (calls, computes) in shown.items():
            known = stored.get(model) or EngineModel(source=source, model=model)
            before = _is_ensemble(known)
            if (calls and not known.calls_others) or (computes and not known.computes):
                known.calls_others |= calls
                known.computes |= computes
                known.save()
            if _is_ensemble(known):
                self.ensembles.add(model)
            if _is_ensemble(known) != before:
                self.turned.add(model)


def _is_ensemble(model: EngineModel) -> bool:
    return model.calls_others and not model.computes


def _shown(judged: Iterable[Execution], family: _Family) -> dict[str, tuple[bool, bool]]:
    shown: dict[str, tuple[bool, bool]] = {}
    for one in judged:
        if model := one.trace.model:
            calls, computes = shown.get(model, (False, False))
            calls = calls or bool(family.called(one))
            shown[model] = calls, computes or one.trace.computed
    return shown
