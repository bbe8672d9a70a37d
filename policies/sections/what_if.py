"""A scenario in words, as the page asks and answers it."""

from dataclasses import dataclass

from controlplane import figures
from controlplane.web import Column, Table
from orchid.engine.capacity import ClassChange, WhatIf, examine
from orchid.engine.document.model import PolicyDocument
from orchid.engine.pricing import UnpricedModelError
from orchid.engine.relief import Relief
from orchid.engine.scenario import EXAMPLES, ScenarioError, parse_scenario
from policies.sections.capacity import load_table

#: Longer words than any scenario needs are not even read.
MOST_WORDS = 400
_COLUMNS = (
    Column("Class"),
    *(Column(label, numeric=True) for label in ("Requests/s", "then", "TEU/s", "then", "Change")),
)


@dataclass(frozen=True)
class Asked:
    """The words, and what they come to or why they say no scenario."""

    words: str
    problem: str = ""
    found: WhatIf | None = None

    @property
    def examples(self) -> tuple[str, ...]:
        return EXAMPLES

    @property
    def classes(self) -> Table | None:
        if self.found is None:
            return None
        rows = [_row(name, change) for name, change in self.found.classes.items()]
        return Table("Demand by class, before and then", _COLUMNS, rows)

    @property
    def loads(self) -> Table | None:
        if self.found is None:
            return None
        loads = [("As declared", self.found.before), ("Then", self.found.load)]
        return load_table("The fleet, TEU/s", loads)

    @property
    def ways_out(self) -> list[tuple[str, tuple[Relief, ...]]]:
        if self.found is None:
            return []
        lists = [
            ("The policy allows already", self.found.allowed),
            ("To renegotiate", self.found.renegotiate),
        ]
        return [(heading, reliefs) for heading, reliefs in lists if reliefs]


def asked(document: PolicyDocument, words: str) -> Asked:
    """Read the words and examine the scenario; empty words ask nothing."""
    words = words.strip()
    if not words:
        return Asked("")
    if len(words) > MOST_WORDS:
        return Asked(words[:MOST_WORDS], f"a scenario has at most {MOST_WORDS} characters")
    try:
        return Asked(words, found=examine(document, parse_scenario(words, document)))
    except (ScenarioError, UnpricedModelError) as error:
        return Asked(words, str(error))


def _row(name: str, change: ClassChange) -> tuple[str, ...]:
    return (
        name,
        figures.shortest(change.requests_per_s_before),
        figures.shortest(change.requests_per_s),
        figures.shortest(change.teu_per_s_before),
        figures.shortest(change.teu_per_s),
        figures.signed(figures.shortest(change.added_teu_per_s)),
    )
