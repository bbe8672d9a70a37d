"""What stands below the gates of `orchid check`: the incumbent, and how the figures came about."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from orchid.cli.gate_words import gate_name
from orchid.cli.output import folded
from orchid.engine.verdict.wording import AGAINST_INCUMBENT


def notes(answer: Mapping[str, Any], gates: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A paragraph each, where there is something to say."""
    figures = (answer["evaluation"] or {}).get("figures") or {}
    for said in (*_beside(figures), *_method(answer, gates), *_taken(figures)):
        yield folded(said, 2)


def _beside(figures: Mapping[str, Any]) -> Iterator[str]:
    """A canary beside the incumbent: what gates nothing is in no row of the table."""
    for share in figures.get("against_incumbent") or ():
        name = gate_name(share["metric"].removesuffix(AGAINST_INCUMBENT))
        yield f"{name} beside the incumbent: {share['message']}."


def _method(answer: Mapping[str, Any], gates: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """How the percentiles came about, where there are any."""
    said = answer.get("percentile_method")
    if said and any("_p95_" in gate["metric"] and gate["value"] is not None for gate in gates):
        yield f"Percentiles: {said}. What is judged is the share within the bound."


def _taken(figures: Mapping[str, Any]) -> Iterator[str]:
    """What many gates at once take, and a declared design effect that the window contradicts."""
    if several := figures.get("multiplicity"):
        yield f"Multiplicity: {several['said']}."
    neighbours = figures.get("design_effect") or {}
    due = neighbours.get("to_declare")
    if due is not None and due > neighbours["declared"]:
        yield (
            f"Neighbours: the {neighbours['blocks']:,} blocks of this window suggest a design "
            f"effect of {due:.1f} where the document declares {neighbours['declared']:g}; with "
            "that little a pass may rest on too few (gates.design_effect_prior)."
        )
