"""The diagrams of the flows say what the tables of moves say, no more and no less."""

import re
from pathlib import Path

import pytest
from django.db.models import TextChoices

from releases import states
from releases.lifecycle import MOVES, AnyRow, name_of

FLOWS = (Path(__file__).parents[2] / "docs/flows.md").read_text()
DIAGRAM = re.compile(r"<!-- moves: (\w+) -->\n```mermaid\nstateDiagram-v2\n(.*?)```", re.DOTALL)
ARROW = re.compile(r"^ +(\w+) --> (\w+): (.+)$", re.MULTILINE)


def drawn(name: str) -> set[tuple[str, str, str]]:
    """Every (state, move, state) of a diagram."""
    bodies = [body for found, body in DIAGRAM.findall(FLOWS) if found == name]
    assert len(bodies) == 1, f"one diagram for {name}"
    return {
        (state, move.strip(), to)
        for state, to, moves in ARROW.findall(bodies[0])
        for move in moves.split(",")
    }


@pytest.mark.parametrize("kind", MOVES, ids=name_of)
def test_each_diagram_has_the_arrows_of_its_table(kind: type[AnyRow]) -> None:
    table = {
        (state.value, move.value, rule.to.value) for (state, move), rule in MOVES[kind].items()
    }
    assert drawn(name_of(kind)) == table


def test_no_diagram_is_of_a_machine_that_there_is_not() -> None:
    assert {name for name, _ in DIAGRAM.findall(FLOWS)} == {name_of(kind) for kind in MOVES}


STATES = re.compile(r"<!-- states: (\w+) -->\n```mermaid\nstateDiagram-v2\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize("kind", [states.DrillState, states.PoolRole])
def test_a_diagram_of_computed_states_names_each_of_them(kind: type[TextChoices]) -> None:
    [body] = [body for found, body in STATES.findall(FLOWS) if found == kind.__name__]
    words = {word for arrow in ARROW.findall(body) for word in arrow[:2]}
    begins = set(re.findall(r"\[\*\] --> (\w+):", body))
    assert words | begins == set(kind.values)
