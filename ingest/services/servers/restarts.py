"""Did the server start again, or was one model loaded again? Counters tell, if one asks in time."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from orchid.formats.engine_metrics import EngineFigure

#: Gauges that change at a start alone: of the process, and of each model.
PROCESS, LOADED = "process_start_time_seconds", "nv_model_load_duration_secs"
Key = tuple[str, str, str]  # model, name, labels


@dataclass(frozen=True)
class Restart:
    """`models` are those that were loaded again while the server went on."""

    server: bool = False
    models: Sequence[str] = field(default_factory=tuple)


def restarts(
    before: Mapping[Key, float | None], figures: Iterable[EngineFigure], *, was_away: bool
) -> Restart:
    """What started again since the series stood at `before`.

    Everything falls at once when the server starts again; one model's figures alone when it was
    unloaded and loaded. Where only one model has ever worked the two look the same: then a server
    that was away in between, or has no other model, has started again.
    """
    now = {(one.model, one.name, one.labels): one for one in figures}
    if _changed(before, now, PROCESS):
        return Restart(server=True)
    loaded, of = _changed(before, now, LOADED), _models(before, LOADED)
    if len(of) > 1 and loaded == of:
        return Restart(server=True)
    fell = loaded | {key[0] for key, one in now.items() if _fell(before.get(key), one)}
    if not fell:
        return Restart()
    worked = {key[0] for key, value in before.items() if value and _is_counter(now.get(key))}
    others = {key[0] for key in before if key[0]} - fell
    everything = worked <= fell and (len(worked) > 1 or not others)
    return Restart(server=True) if was_away or everything else Restart(models=sorted(fell))


def _is_counter(one: EngineFigure | None) -> bool:
    return one is not None and one.kind == "counter"


def _fell(before: float | None, one: EngineFigure) -> bool:
    return (
        one.kind == "counter"
        and before is not None
        and one.value is not None
        and one.value < before
    )


def _models(before: Mapping[Key, float | None], name: str) -> set[str]:
    return {key[0] for key in before if key[1] == name}


def _changed(
    before: Mapping[Key, float | None], now: Mapping[Key, EngineFigure], name: str
) -> set[str]:
    """Models (or the process, as an empty name) whose figure of this name is another one."""
    return {
        key[0]
        for key, value in before.items()
        if key[1] == name and key in now and now[key].value != value
    }
