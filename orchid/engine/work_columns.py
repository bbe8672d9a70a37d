"""What the attempts of many requests used and wasted, as columns: the rules of `waste.py`."""

from collections.abc import Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from orchid.engine.known import Floats, Known, Mask, Wholes, by_request, column, known, known_teu
from orchid.engine.rollup import CAUSES
from orchid.engine.waste import CANCELLED, CAUSE_OF_ENDING, ENDING_OF_STATUS, FAILED, LATE, SOUND

_SUMMED = ("queue_ms", "live_token_ms", "transfer_bytes", "preemptions", "external_calls")
_ABANDONED = 4
_CODES = {**CAUSE_OF_ENDING, _ABANDONED: "abandoned_prefill"}


class Tried(NamedTuple):
    """The attempts of some lines, one after another, with what they did."""

    attempts: Sequence[Any]
    sizes: Wholes
    """How many each line has."""
    ms: Known
    teu: Known


def tried_of(attempts: Sequence[tuple[Any, ...]]) -> tuple[Tried, dict[str, Known]]:
    """The attempts of each line, and what they add up to."""
    tried = list(chain.from_iterable(attempts))
    sizes = np.fromiter(map(len, attempts), dtype=np.int64, count=len(attempts))
    each = {name: known(name, column(name, tried)) for name in _SUMMED}
    taken = column("released_ms", tried) - column("cancel_requested_ms", tried)
    each["cancel_to_release_ms"] = known("cancel_to_release_ms", np.maximum(taken, 0.0))
    predicted, observed = known_teu("teu_predicted", tried), known_teu("teu_observed", tried)
    each |= {"teu_predicted": predicted, "teu_observed": observed}
    each["work_teu"] = Known(
        np.where(observed.told, observed.parts, predicted.parts), observed.told | predicted.told
    )
    each["accelerator_ms"] = known("accelerator_ms", _accelerator_ms(tried))
    told = Tried(tried, sizes, each["accelerator_ms"], each["work_teu"])
    used = {name: by_request(figure, sizes) for name, figure in each.items()}
    return told, used | {"attempts": Known(sizes, sizes > 0)}


def wasted_figures(
    tried: Tried, endings: Wholes, late: Mask, output_tokens: Floats
) -> dict[str, Known]:
    """Wasted work of each line by cause; `endings`, `late` and `output_tokens` are the lines'."""
    wasted = {
        name: np.zeros(len(tried.attempts), dtype=one.parts.dtype) for name, one in _all(tried)
    }
    how = _how(tried, endings, late)
    _add_whole(wasted, tried, _abandoned(tried, how, output_tokens))
    _add_parts(wasted, tried, how == SOUND)
    figures = {name: Known(parts, (parts > 0).astype(np.bool_)) for name, parts in wasted.items()}
    return {name: by_request(figure, tried.sizes) for name, figure in figures.items()}


def _all(tried: Tried) -> list[tuple[str, Known]]:
    units = {"ms": tried.ms, "teu": tried.teu}
    return [(f"wasted_{cause}_{unit}", one) for cause in CAUSES for unit, one in units.items()]


def _accelerator_ms(tried: Sequence[Any]) -> Floats:
    whole = column("accelerator_ms", tried)
    phases = column("accelerator_prefill_ms", tried) + column("accelerator_decode_ms", tried)
    return np.where(np.isnan(whole), phases, whole)


def _how(tried: Tried, endings: Wholes, late: Mask) -> Wholes:
    """How each attempt ended: by itself, else as its request did."""
    of_line = np.where(endings == SOUND, np.where(late, LATE, SOUND), endings)
    how = np.repeat(of_line, tried.sizes)
    statuses = list(map(attrgetter("status"), tried.attempts))
    if any(ENDING_OF_STATUS[status] for status in set(statuses)):
        own = np.array([ENDING_OF_STATUS[status] for status in statuses])
        how = np.where(own == SOUND, how, own)
    return how


def _abandoned(tried: Tried, how: Wholes, output_tokens: Floats) -> Wholes:
    """The same, with what ended before its first token told apart."""
    places = np.flatnonzero((how == FAILED) | (how == CANCELLED))
    if not len(places):
        return how
    some = [tried.attempts[place] for place in places.tolist()]
    line = np.repeat(np.arange(len(tried.sizes)), tried.sizes)[places]
    is_last = np.cumsum(tried.sizes)[line] - 1 == places
    told = np.where(is_last, output_tokens[line], np.nan)
    for name in ("interrupted_after_tokens", "useful_tokens"):
        own = column(name, some)
        told = np.where(np.isnan(own), told, own)
    found = how.copy()
    found[places[told == 0]] = _ABANDONED
    return found


def _add_whole(wasted: dict[str, Wholes], tried: Tried, how: Wholes) -> None:
    for code, cause in _CODES.items():
        mask = how == code
        if mask.any():
            wasted[f"wasted_{cause}_ms"][mask] = tried.ms.parts[mask]
            wasted[f"wasted_{cause}_teu"][mask] = tried.teu.parts[mask]


def _add_parts(wasted: dict[str, Wholes], tried: Tried, served: Mask) -> None:
    """Padding and repeated prefill of what served."""
    padded, again = (
        column("padded_tokens", tried.attempts),
        column("kv_blocks_recomputed", tried.attempts),
    )
    places = np.flatnonzero(served & ((padded > 0) | (again > 0)))
    if not len(places):
        return
    some = [tried.attempts[place] for place in places.tolist()]
    padded, useful = _or_zero(padded[places]), column("useful_tokens", some)
    padding = _or_zero(padded / np.where(padded > 0, useful + padded, 1.0))
    again, allocated = _or_zero(again[places]), _or_zero(column("kv_blocks_allocated", some))
    share = np.minimum(1.0, again / np.where(allocated > 0, allocated, 1.0))
    repeated = (1.0 - padding) * np.where(allocated > 0, share, 0.0)
    prefill = known("accelerator_ms", column("accelerator_prefill_ms", some)).parts
    prefill_teu = known_teu("teu_prefill_observed", some).parts
    for cause, ms, teu, part in (
        ("padded", tried.ms.parts[places], tried.teu.parts[places], padding),
        ("preempted", prefill, prefill_teu, repeated),
    ):
        wasted[f"wasted_{cause}_ms"][places] = _portions(ms, part)
        wasted[f"wasted_{cause}_teu"] = _put(
            wasted[f"wasted_{cause}_teu"], places, _portions(teu, part)
        )


def _put(whole: Wholes, places: Wholes, parts: Wholes) -> Wholes:
    """The column with these places set; of Python's own numbers where the parts are."""
    found = whole.astype(object) if parts.dtype == object else whole
    found[places] = parts
    return found


def _portions(parts: Wholes, shares: Floats) -> Wholes:
    """Half to even, as `round` does."""
    if parts.dtype == object:
        pairs = zip(parts.tolist(), shares.tolist(), strict=True)
        return np.array([round(whole * share) for whole, share in pairs], dtype=object)
    return np.rint(parts * shares).astype(np.int64)


def _or_zero(values: Floats) -> Floats:
    return np.where(np.isnan(values), 0.0, values)
